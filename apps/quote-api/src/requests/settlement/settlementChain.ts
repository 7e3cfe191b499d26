import {
  type ChainClient,
  createEthereumFactsReader,
  createQuorumOver,
  type RegisteredChain,
  TransactionMissingError,
  TransactionRevertedError,
} from '@causeway/chains'
import type { DepositFacts, Finality, Hex, InBlock, PaymentFacts, PaymentQuestion } from '@causeway/core'
import { askHeight, askQuorum, type OnMalformed } from '../../chainReadings/askChain.ts'
import type { QuotableChain } from '../../pricing/registry.ts'
import {
  blocksReading,
  blockTimeReading,
  codeReading,
  type DepositPass,
  depositPassReading,
  failureReading,
} from './depositReadings.ts'
import { type MinedTransaction, minedReading } from './transactionReading.ts'

/** A payment as the chain shows it now, by quorum and at whatever depth. */
export type PaymentReading =
  | { readonly state: 'missing' }
  /** In a block, and failed; `isFinal`: no reorganization can make a success of it. */
  | { readonly state: 'reverted'; readonly isFinal: boolean }
  /** `confirmations`: 1 in the newest block. */
  | { readonly state: 'included'; readonly facts: InBlock<PaymentFacts>; readonly confirmations: number }

/** One chain as settlement reads it. All readings are by quorum: money moves on every one of them. */
export interface SettlementChain {
  readonly chain: QuotableChain
  /** Newest block that a quorum has. */
  head(signal: AbortSignal): Promise<bigint>
  /** Newest block that no reorganization takes back. */
  finalHeight(signal: AbortSignal): Promise<bigint>
  /** When that block was made, Unix seconds. */
  finalSeconds(signal: AbortSignal): Promise<number>
  /** What changed between two blocks: where deposits may be. */
  depositPass(range: { from: bigint; to: bigint; known: bigint }, signal: AbortSignal): Promise<DepositPass>
  /** Hashes of blocks by height; heights that the chain does not have are missing. */
  blockHashes(heights: readonly bigint[], signal: AbortSignal): Promise<ReadonlyMap<bigint, Hex>>
  /** Deposits of one transaction; `undefined` when it left the chain or failed. */
  deposits(transactionId: Hex, signal: AbortSignal): Promise<InBlock<DepositFacts> | undefined>
  /** Which of some accounts have code in the newest block. */
  withCode(accounts: readonly Hex[], signal: AbortSignal): Promise<readonly Hex[]>
  /** `undefined` while it is in no block. */
  transaction(hash: Hex, signal: AbortSignal): Promise<MinedTransaction | undefined>
  payment(question: PaymentQuestion, signal: AbortSignal): Promise<PaymentReading>
  /** The same under the chain's own rule of finality. @throws TransactionNotFinalError */
  finalPayment(question: PaymentQuestion, signal: AbortSignal): Promise<InBlock<PaymentFacts> | undefined>
}

/** A block counts as soon as it is the newest; the caller counts confirmations. */
const anyDepth: Finality = { mode: 'depth', blocks: 0 }

/** @throws ConfigurationError when the chain has no depository or no endpoint */
export function createSettlementChain(options: {
  quotable: QuotableChain
  registered: RegisteredChain
  client: ChainClient
  onMalformed: OnMalformed
}): SettlementChain {
  const { quotable, registered, client, onMalformed } = options
  const { id, rpcThreshold: threshold, depository, additionalData, finality } = registered
  const { additionalDepositories, fillContracts, fillPayers } = registered
  const quorum = createQuorumOver(client, { now: () => Date.now() })
  const payers = { additionalDepositories, fillContracts, fillPayers }
  const entry = { id, depository, additionalData, ...payers }
  // Nothing is remembered: what is not final may change.
  const limits = { finalEntriesMax: 0 }
  const shallow = createEthereumFactsReader({ chain: { ...entry, finality: anyDepth }, quorum, limits })
  const deep = createEthereumFactsReader({ chain: { ...entry, finality }, quorum, limits })
  const finalHeight = async (signal: AbortSignal) => (await deep.finalBlocks.readNewest({ signal })).number
  /** The height comes first: what is in a block at or below it then, stays there. */
  const isFinallyReverted = async (transaction: string, signal: AbortSignal) => {
    const height = await finalHeight(signal)
    const { value } = await askQuorum(client, failureReading(transaction), { threshold, signal })
    return value !== undefined && value.blockNumber <= height
  }
  const head = (signal: AbortSignal) => askHeight(client, 'latest', { threshold, signal, onMalformed })
  return {
    chain: quotable,
    head,
    finalHeight,
    async finalSeconds(signal) {
      const reading = blockTimeReading(await finalHeight(signal))
      return (await askQuorum(client, reading, { threshold, signal })).value
    },
    async depositPass(range, signal) {
      const reading = depositPassReading(quotable, range)
      return (await askQuorum(client, reading, { threshold, signal })).value
    },
    async blockHashes(heights, signal) {
      const { value } = await askQuorum(client, blocksReading(heights), { threshold, signal })
      return new Map(value.flatMap((block): [bigint, Hex][] => (block ? [[block.number, block.hash]] : [])))
    },
    deposits: (transactionId, signal) => unlessGone(shallow.readDeposits({ transactionId }, { signal })),
    async withCode(accounts, signal) {
      const reading = codeReading(accounts, await head(signal))
      return (await askQuorum(client, reading, { threshold, signal })).value
    },
    async transaction(hash, signal) {
      return (
        await askQuorum(client, minedReading(hash, quotable.config.depositRouter), { threshold, signal })
      ).value
    },
    async payment(question, signal) {
      try {
        const facts = await shallow.readPayment(question, { signal })
        const confirmations = Number((await head(signal)) - facts.evidence.blockNumber) + 1
        return { state: 'included', facts, confirmations }
      } catch (error) {
        if (error instanceof TransactionMissingError) return { state: 'missing' }
        if (!(error instanceof TransactionRevertedError)) throw error
        return { state: 'reverted', isFinal: await isFinallyReverted(question.transactionId, signal) }
      }
    },
    finalPayment: (question, signal) => unlessGone(deep.readPayment(question, { signal })),
  }
}

async function unlessGone<Facts>(reading: Promise<Facts>): Promise<Facts | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof TransactionMissingError || error instanceof TransactionRevertedError)
      return undefined
    throw error
  }
}
