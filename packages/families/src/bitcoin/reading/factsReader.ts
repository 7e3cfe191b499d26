import {
  ConfigurationError,
  type Evidence,
  type FinalBlocks,
  type Hex,
  type PaymentQuestion,
  type WithdrawalFacts,
  type WithdrawRequestQuestion,
} from '@causeway/core'
import {
  type BitcoinNetwork,
  bitcoinNetworkOf,
  createBitcoinCodec,
  InvalidWithdrawalError,
  InvalidWithdrawRequestError,
} from '@causeway/core/encodings'
import type { QuorumClient } from '@causeway/rpc'
import {
  createFactsReader,
  type FamilyReader,
  type FoundDeposits,
  type FoundPayment,
  type WithdrawalReading,
} from '../../shared/createFactsReader.ts'
import type { RegisteredChain } from '../../shared/registeredChain.ts'
import { bitcoinFamily } from '../rules/family.ts'
import { outputScript } from '../rules/script.ts'
import { allocatorUtxos } from '../rules/withdrawRequest.ts'
import { BitcoinWithdrawalError } from './bitcoinErrors.ts'
import type { BitcoinView } from './bitcoinView.ts'
import { type BitcoinRules, findDeposits } from './deposits.ts'
import { type Confirmations, confirmationsOf, describeFinality } from './finality.ts'
import {
  type BitcoinReaderLimits,
  type BitcoinTransactions,
  bitcoinFinalBlocks,
  createBitcoinTransactions,
} from './finalTransactions.ts'
import { referencesOrder, sumTransfers } from './payments.ts'
import { type FinalWithdrawal, withdrawalQuestion } from './readFinalWithdrawal.ts'
import type { FindSpenders } from './spenderLookup.ts'
import { readWithdrawalTerms, type WithdrawalTerms } from './withdrawals.ts'

export type BitcoinFactsReaderOptions = {
  readonly chain: Pick<
    RegisteredChain,
    'id' | 'vmType' | 'network' | 'depository' | 'finality' | 'additionalData'
  > & { readonly additionalDepositories?: readonly string[] | undefined }
  readonly quorum: QuorumClient<BitcoinView>
  /** Finds the spender of an output where the endpoints cannot name it. */
  readonly findSpenders: FindSpenders
  readonly limits?: Partial<BitcoinReaderLimits>
}

/** The block that proves a fact: Bitcoin's evidence always names it. */
type KnownBlock = Required<Pick<Evidence, 'blockHash' | 'blockNumber'>>

export interface BitcoinFactsReader extends FamilyReader<KnownBlock> {
  readonly finalBlocks: FinalBlocks
}

type Reading = {
  readonly rules: BitcoinRules
  readonly confirmations: Confirmations
  readonly quorum: QuorumClient<BitcoinView>
  readonly findSpenders: FindSpenders
  readonly transactions: BitcoinTransactions
}

/**
 * Reads the facts of a `bitcoin-vm` chain that oracles attest. Ids, values and scripts are recomputed from raw bytes.
 * A quorum must agree only on the block that holds a transaction, and on its witnesses. Final transactions are cached.
 * @throws ConfigurationError for a depository that is no address of the network, or another finality
 * @source rule F-132
 */
export function createBitcoinFactsReader(options: BitcoinFactsReaderOptions): BitcoinFactsReader {
  const { chain, quorum, findSpenders, limits = {} } = options
  const network = bitcoinNetworkOf(chain.network)
  const confirmations = confirmationsOf(chain)
  const rules = { network, depositories: depositoriesOf(chain, network) }
  const transactions = createBitcoinTransactions({ quorum, confirmations, limits })
  const reading: Reading = { rules, confirmations, quorum, findSpenders, transactions }
  const reader = createFactsReader({
    chainId: chain.id,
    // The chain's family and network, which decide how ids and accounts are spelled.
    network: chain,
    finalityRule: describeFinality(confirmations),
    forget: transactions.forget,
    readDeposits: (transactionId, { signal }) => readDeposits(reading, transactionId, signal),
    readPayment: (question, { signal }) => readPayment(reading, question, signal),
    prepareWithdrawal: (withdrawal) => prepareWithdrawal(reading, withdrawal),
    withdrawRequest: bitcoinFamily.withdrawRequest,
    proveWithdrawRequest: (question, { signal }) => proveOutputs(reading, question, signal),
  })
  return { ...reader, finalBlocks: bitcoinFinalBlocks(quorum, confirmations) }
}

async function readDeposits(
  { rules, transactions }: Reading,
  transactionId: string,
  signal: AbortSignal,
): Promise<FoundDeposits<KnownBlock>> {
  const { final, evidence } = await transactions.read({ transactionId, wantsSpent: true }, signal)
  const { transaction, spent, block } = final
  if (spent === undefined) throw new Error('a deposit was read without what it spends')
  const deposits = findDeposits({ transactionId, transaction, spent }, rules)
  return { blockTimestampSeconds: block.timeSeconds, deposits, evidence }
}

async function readPayment(
  { rules, transactions }: Reading,
  { transactionId, orderId, payments }: PaymentQuestion,
  signal: AbortSignal,
): Promise<FoundPayment<KnownBlock>> {
  const { final, evidence } = await transactions.read({ transactionId, wantsSpent: true }, signal)
  const { transaction, spent, block } = final
  if (spent === undefined) throw new Error('a payment was read without what it spends')
  return {
    blockTimestampSeconds: block.timeSeconds,
    referencesOrder: referencesOrder(transaction, orderId),
    transfers: sumTransfers({ transaction, spent }, payments, rules),
    evidence,
  }
}

function prepareWithdrawal(reading: Reading, withdrawal: Hex): WithdrawalReading<FinalWithdrawal> {
  const { rules, confirmations, quorum, findSpenders } = reading
  const { threshold } = quorum
  const terms = readWithdrawalTerms(withdrawal, rules)
  const { withdrawalId, payingDepositories, currency, amount, recipient } = terms
  return {
    withdrawalId,
    async read(transactionId, signal) {
      const namedIds = transactionId === undefined ? [] : [transactionId]
      const candidates = [...new Set([...namedIds, ...(await findSpenders(terms.psbt.inputs, signal))])]
      return quorum.read({ ...withdrawalQuestion({ terms, candidates, confirmations, threshold }), signal })
    },
    describe: (withdrawalFacts) => ({
      depository: primaryOf(rules),
      payingDepositories,
      status: statusOf(withdrawalFacts, terms),
      currency,
      amount,
      recipient,
      ...(withdrawalFacts.transactionId !== undefined && {
        executingTransactionId: withdrawalFacts.transactionId,
      }),
      shownIn: { blockHash: withdrawalFacts.finalBlock.hash, blockNumber: withdrawalFacts.finalBlock.height },
    }),
  }
}

/**
 * Each output that the request names must be final, pay the depository and hold the value that the request
 * claims. One that is spent already does no harm: a transaction that spends it again is never mined.
 */
async function proveOutputs(
  { rules, transactions }: Reading,
  question: WithdrawRequestQuestion,
  signal: AbortSignal,
): Promise<Evidence | undefined> {
  const script = outputScript(question.depository, rules.network)
  const knownTransactions = await Promise.all(
    allocatorUtxos(question).map(async ({ txid, vout, value }) => {
      const knownTransaction = await transactions.read({ transactionId: txid, wantsSpent: false }, signal)
      const output = knownTransaction.final.transaction.outputs[vout]
      const isAsClaimed = output?.value === value && Buffer.compare(output.script, script) === 0
      if (isAsClaimed) return knownTransaction
      throw new InvalidWithdrawRequestError(
        'an output does not hold that value for the depository',
        'allocatorUtxos',
      )
    }),
  )
  // An attestation names one block: that of the first output.
  return knownTransactions[0]?.evidence
}

/** @throws InvalidWithdrawalError, BitcoinWithdrawalError */
function statusOf({ status }: FinalWithdrawal, { withdrawalId }: WithdrawalTerms): WithdrawalFacts['status'] {
  switch (status) {
    case 'contradicted':
      throw new InvalidWithdrawalError('an input spends another output than it says')
    case 'unresolved':
      throw new BitcoinWithdrawalError(withdrawalId)
    default:
      return status
  }
}

/** Each counts in deposits and withdrawals; the first, the chain's own, is the one that facts name. */
function depositoriesOf(
  { id, depository, additionalDepositories = [] }: BitcoinFactsReaderOptions['chain'],
  network: BitcoinNetwork,
): readonly string[] {
  const codec = createBitcoinCodec(network)
  if (depository === undefined) throw new ConfigurationError(`chain ${id} has no depository`)
  return [depository, ...additionalDepositories].map((address) => {
    if (codec.isAddress(address)) return codec.canonicalAddress(address)
    throw new ConfigurationError(`chains: ${id}: a depository is no address of its network`)
  })
}

function primaryOf({ depositories }: BitcoinRules): string {
  const [primary] = depositories
  if (primary === undefined) throw new Error('a chain without a depository was opened')
  return primary
}
