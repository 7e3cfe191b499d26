import {
  allocatorUtxos,
  type BitcoinNetwork,
  bitcoinNetworkOf,
  ConfigurationError,
  createBitcoinCodec,
  type FactsReader,
  type FinalBlocks,
  InvalidWithdrawalError,
  InvalidWithdrawRequestError,
  normaliseWithdrawRequest,
  outputScript,
  type WithdrawalFacts,
  type WithdrawalQuestion,
  type WithdrawRequestFacts,
  type WithdrawRequestQuestion,
} from '@causeway/core'
import type { RegisteredChain } from '../config/chainRegistry.ts'
import { OneFlight } from '../rpc/oneFlight.ts'
import type { AgreedFacts, QuorumClient } from '../rpc/quorumClient.ts'
import { runAsOne } from '../rpc/runAsOne.ts'
import { BitcoinWithdrawalError } from './bitcoinErrors.ts'
import type { BitcoinView } from './bitcoinView.ts'
import { type BitcoinRules, findDeposits } from './deposits.ts'
import { bitcoinFinalBlocks } from './finalBlocks.ts'
import { confirmationsOf, describeFinality } from './finality.ts'
import { type BitcoinReaderLimits, createFinalTransactions } from './finalTransactions.ts'
import { referencesOrder, sumTransfers } from './payments.ts'
import { type FinalWithdrawal, withdrawalQuestion } from './readFinalWithdrawal.ts'
import type { FindSpenders } from './spenderLookup.ts'
import { readWithdrawalTerms, type WithdrawalTerms } from './withdrawals.ts'

export type BitcoinFactsReaderOptions = {
  readonly chain: Pick<
    RegisteredChain,
    'id' | 'vmType' | 'network' | 'depository' | 'additionalDepositories' | 'finality' | 'additionalData'
  >
  readonly quorum: QuorumClient<BitcoinView>
  /** Where the endpoints cannot name what spent an output. */
  readonly findSpenders: FindSpenders
  readonly limits?: Partial<BitcoinReaderLimits>
}

export interface BitcoinFactsReader extends FactsReader {
  readonly finalBlocks: FinalBlocks
  forget(): void
}

/**
 * Facts of a `bitcoin-vm` chain. Ids, values and scripts are recomputed from raw bytes; what a quorum must
 * agree on is which block holds a transaction, and its witnesses. What is final is remembered.
 * @throws ConfigurationError for a depository that is no address of the network, or another finality
 * @source oracle-protocol.md 5.3; design.md 7.5
 */
export function createBitcoinFactsReader(options: BitcoinFactsReaderOptions): BitcoinFactsReader {
  const { chain, quorum, findSpenders, limits = {} } = options
  const network = bitcoinNetworkOf(chain.network)
  const codec = createBitcoinCodec(network)
  const confirmations = confirmationsOf(chain)
  const rules = { network, depositories: depositoriesOf(chain, network) }
  const transactions = createFinalTransactions({ quorum, confirmations, limits })
  const withdrawals = new OneFlight<AgreedFacts<FinalWithdrawal>>()

  async function readWithdrawal(
    question: WithdrawalQuestion,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<WithdrawalFacts> {
    const terms = readWithdrawalTerms(question.withdrawal, rules)
    const named =
      question.transactionId === undefined ? [] : [codec.canonicalTransactionId(question.transactionId)]
    const key = `${terms.withdrawalId} ${named.join()}`
    const { facts, agreeingEndpoints } = await runAsOne(
      withdrawals,
      { key, chainId: chain.id, signal },
      async (shared) => {
        const candidates = [...new Set([...named, ...(await findSpenders(terms.psbt.inputs, shared))])]
        const { threshold } = quorum
        return quorum.read({
          ...withdrawalQuestion({ terms, candidates, confirmations, threshold }),
          signal: shared,
        })
      },
    )
    const { height: blockNumber, hash: blockHash } = facts.finalBlock
    const finalityRule = describeFinality(confirmations)
    const { withdrawalId, payingDepositories, currency, amount, recipient } = terms
    return {
      kind: 'withdrawal',
      ...{ withdrawalId, depository: primaryOf(rules), payingDepositories },
      ...{ status: statusOf(facts, terms), currency, amount, recipient },
      ...(facts.transactionId !== undefined && { executingTransactionId: facts.transactionId }),
      evidence: { chainId: chain.id, blockHash, blockNumber, finalityRule, agreeingEndpoints },
    }
  }

  async function readWithdrawRequest(
    question: WithdrawRequestQuestion,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<WithdrawRequestFacts> {
    const normalised = normaliseWithdrawRequest(chain, question)
    const script = outputScript(question.depository, network)
    const read = await Promise.all(
      allocatorUtxos(question).map(async ({ txid, vout, value }) => {
        const known = await transactions.read({ transactionId: txid, wantsSpent: false }, signal)
        const output = known.final.transaction.outputs[vout]
        const isAsSaid = output?.value === value && Buffer.compare(output.script, script) === 0
        if (isAsSaid) return known
        throw new InvalidWithdrawRequestError(
          'an output does not hold that value for the depository',
          'allocatorUtxos',
        )
      }),
    )
    const [first] = read
    return { ...normalised, ...(first !== undefined && { evidence: first.evidence }) }
  }

  return {
    chainId: chain.id,
    vmType: 'bitcoin-vm',
    finalBlocks: bitcoinFinalBlocks(quorum, confirmations),
    forget: transactions.forget,
    async readDeposits(question, { signal }) {
      const transactionId = codec.canonicalTransactionId(question.transactionId)
      const { final, evidence } = await transactions.read({ transactionId, wantsSpent: true }, signal)
      const { transaction, spent, block } = final
      if (spent === undefined) throw new Error('a deposit was read without what it spends')
      return {
        kind: 'deposits',
        transactionId,
        blockTimestampSeconds: block.timeSeconds,
        deposits: findDeposits({ transactionId, transaction, spent }, rules),
        evidence,
      }
    },
    async readPayment({ orderId, payments, ...question }, { signal }) {
      const transactionId = codec.canonicalTransactionId(question.transactionId)
      const { final, evidence } = await transactions.read({ transactionId, wantsSpent: true }, signal)
      const { transaction, spent } = final
      if (spent === undefined) throw new Error('a payment was read without what it spends')
      return {
        kind: 'payment',
        transactionId,
        blockTimestampSeconds: final.block.timeSeconds,
        referencesOrder: referencesOrder(transaction, orderId),
        transfers: sumTransfers({ transaction, spent }, payments, rules),
        evidence,
      }
    },
    readWithdrawal,
    readWithdrawRequest,
  }
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
