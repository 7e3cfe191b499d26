import {
  ConfigurationError,
  type Evidence,
  type FinalBlocks,
  type Hex,
  type PaymentQuestion,
} from '@causeway/core'
import { mainNetwork, solanaCodec } from '@causeway/core/encodings'
import type { QuorumClient } from '@causeway/rpc'
import {
  createFinalBlocks,
  defaultReadingCacheLimits,
  type ReadingCacheLimits,
  reachedBy,
} from '@causeway/rpc'
import {
  createFactsReader,
  type FamilyReader,
  type FoundDeposits,
  type FoundPayment,
  type WithdrawalReading,
} from '../../shared/createFactsReader.ts'
import { createFinalTransactions, type KnownTransaction } from '../../shared/finalTransactions.ts'
import { type ListedChain, type ListedPayers, listedPayers } from '../../shared/listedPayers.ts'
import { solanaFamily } from '../rules/family.ts'
import { deriveProgramAddresses, type ProgramAddresses } from '../rules/programAddresses.ts'
import { parseBlock, parseHead } from './answers.ts'
import { findDeposits } from './deposits.ts'
import { referencesOrder, sumTransfers } from './payments.ts'
import { type FinalTransaction, transactionQuestion } from './readFinalTransaction.ts'
import { type FinalWithdrawal, withdrawalQuestion } from './readFinalWithdrawal.ts'
import { blockCall, headCall } from './requests.ts'
import { readWithdrawalTerms } from './withdrawals.ts'

export type SolanaReaderLimits = ReadingCacheLimits

export type SolanaFactsReaderOptions = {
  readonly chain: ListedChain
  readonly quorum: QuorumClient
  readonly limits?: Partial<SolanaReaderLimits>
}

/** The block that proves a fact: Solana's evidence always names it. */
type KnownBlock = Required<Pick<Evidence, 'blockHash' | 'blockNumber'>>

export interface SolanaFactsReader extends FamilyReader<KnownBlock> {
  readonly finalBlocks: FinalBlocks
}

type Reading = {
  readonly depository: string
  readonly payers: ListedPayers
  readonly quorum: QuorumClient
  readTransaction(
    transactionId: string,
    signal: AbortSignal,
  ): Promise<KnownTransaction<FinalTransaction, KnownBlock>>
  /** Addresses that the depository derives; computed at the first call. */
  addresses(): ProgramAddresses
}

/**
 * Reads the facts of a `solana-vm` chain that oracles attest. Final transactions are cached; missing and failed ones,
 * and those that are not final, are read again. Identical questions in flight are one.
 * @throws ConfigurationError when the chain has no depository, or lists what can pay no fill
 * @source rules F-104, F-139, F-140, F-141
 */
export function createSolanaFactsReader(options: SolanaFactsReaderOptions): SolanaFactsReader {
  const { chain, quorum } = options
  const finalityRule = 'commitment finalized'
  if (chain.depository === undefined) throw new ConfigurationError(`chain ${chain.id} has no depository`)
  const depository = solanaCodec.canonicalAddress(chain.depository)
  const transactions = createFinalTransactions({
    quorum,
    limits: { ...defaultReadingCacheLimits, ...options.limits },
    finalityRule,
    shownIn: ({ blockHash, slot }: FinalTransaction) => ({ blockHash, blockNumber: slot }),
    weightOf,
  })
  let derived: ProgramAddresses | undefined
  const reading: Reading = {
    depository,
    payers: listedPayers(chain, solanaCodec),
    quorum,
    readTransaction(transactionId, signal) {
      const question = transactionQuestion({ transactionId, depository })
      return transactions.read({ key: transactionId, question }, signal)
    },
    addresses() {
      derived ??= deriveProgramAddresses(depository)
      return derived
    },
  }
  const reader = createFactsReader({
    chainId: chain.id,
    // Addresses and ids are spelled alike on all clusters.
    network: mainNetwork('solana-vm'),
    finalityRule,
    forget: transactions.forget,
    readDeposits: (transactionId, { signal }) => readDeposits(reading, transactionId, signal),
    readPayment: (question, { signal }) => readPayment(reading, question, signal),
    prepareWithdrawal: (withdrawal) => prepareWithdrawal(reading, withdrawal),
    withdrawRequest: solanaFamily.withdrawRequest,
  })
  return { ...reader, finalBlocks: solanaFinalBlocks(quorum) }
}

async function readDeposits(
  { depository, ...reading }: Reading,
  transactionId: string,
  signal: AbortSignal,
): Promise<FoundDeposits<KnownBlock>> {
  const { final, evidence } = await reading.readTransaction(transactionId, signal)
  const addresses = reading.addresses()
  const { blockTimestampSeconds } = final
  return { blockTimestampSeconds, deposits: findDeposits(final, { depository, addresses }), evidence }
}

async function readPayment(
  reading: Reading,
  { transactionId, orderId, payments }: PaymentQuestion,
  signal: AbortSignal,
): Promise<FoundPayment<KnownBlock>> {
  const { final, evidence } = await reading.readTransaction(transactionId, signal)
  const { vault } = reading.addresses()
  // Money of the vault leaves by withdrawals, which pay no order.
  const isPayer = (account: string) =>
    account !== vault && (final.signers.includes(account) || reading.payers.fillPayers.has(account))
  return {
    blockTimestampSeconds: final.blockTimestampSeconds,
    referencesOrder: referencesOrder(final, orderId),
    transfers: sumTransfers(final, payments, isPayer),
    evidence,
  }
}

function prepareWithdrawal(reading: Reading, withdrawal: Hex): WithdrawalReading<FinalWithdrawal> {
  const { depository, quorum } = reading
  const { threshold } = quorum
  const terms = readWithdrawalTerms(withdrawal)
  const { withdrawalId, currency, amount, recipient } = terms
  return {
    withdrawalId,
    async read(transactionId, signal) {
      const usedRequest = reading.addresses().usedRequest(withdrawalId)
      const question = withdrawalQuestion({ terms, depository, usedRequest, transactionId, threshold })
      return quorum.read({ ...question, transactionId, signal })
    },
    describe: ({ status, isExecuting, finalBlock: { slot, hash } }, transactionId) => ({
      depository,
      status,
      currency,
      amount,
      recipient,
      ...(isExecuting && transactionId !== undefined && { executingTransactionId: transactionId }),
      shownIn: { blockHash: hash, blockNumber: slot },
    }),
  }
}

/** About as many characters as a cached transaction has, addresses with some 50. */
function weightOf({ instructions, balances, tokenBalances }: FinalTransaction): number {
  const instructionWeight = instructions.reduce(
    (sum, { data, accounts }) => sum + data.length + 50 * accounts.length,
    0,
  )
  return 500 + instructionWeight + 100 * balances.length + 250 * tokenBalances.length
}

/** Final blocks of a `solana-vm` chain, by slot and hash. */
function solanaFinalBlocks(quorum: QuorumClient): FinalBlocks {
  return createFinalBlocks(quorum, {
    newest: {
      first: async (view, signal) => parseHead((await view.ask([headCall()], signal))[0]),
      pin: (heads) => reachedBy(quorum.threshold, heads),
      async second(view, _ownHead, slot, signal) {
        const { hash } = parseBlock((await view.ask([blockCall(slot)], signal))[0])
        return { kind: 'final', facts: { number: slot, hash } }
      },
    },
    /** Undefined only if the final chain ends below `slot`: a node that refuses may have pruned the block. */
    async hashAt(view, slot, signal) {
      const [head, block] = await view.ask([headCall(), blockCall(slot)], signal)
      return parseHead(head) < slot ? undefined : parseBlock(block).hash
    },
  })
}
