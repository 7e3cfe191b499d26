import { openSettlingChain } from '@causeway/chains'
import { recordsPayments } from '@causeway/contracts/codes'
import { blocksAtPace, type Finality, type Hex } from '@causeway/core'
import {
  askHeight,
  askQuorum,
  blocksReading,
  blockTimeReading,
  blockTransactionsReading,
  codeReading,
  createEthereumFactsReader,
  type DepositPass,
  type DepositPlaces,
  depositPassReading,
  depositSendersReading,
  failureReading,
  type HubEntries,
  type MinedTransaction,
  minedReading,
  type OnMalformed,
  type PaidId,
  paidIdsReading,
  paidReading,
  putAsideReason,
  type Reading,
  type RegisteredChain,
  type SettlingChain,
  stateReading,
  unlessGone,
  unlessPutAside,
} from '@causeway/families'
import { refundChainId } from '@causeway/families/rules'
import {
  type ChainClient,
  createQuorumOver,
  logBlocksAtOnce,
  TransactionMissingError,
  TransactionRevertedError,
  toQuantity,
} from '@causeway/rpc'
import { lateBlocksOf } from '../../chainReadings/blockCursor.ts'
import type { QuotableChain } from '../../pricing/registry.ts'
import { type BlockSights, createBlockSights } from './depth.ts'

export type { PaymentReading } from '@causeway/families'

/** One chain as settlement reads it. All readings are by quorum: money moves on every one of them. */
export interface SettlementChain extends SettlingChain {
  readonly chain: QuotableChain
  /** Accounts that pay for solvers there: the present fill wallet first, then the listed ones. */
  readonly payers: readonly string[]
  /** Its number in the ids of refunds. */
  readonly refundChainId: number | bigint
  /** Remembers when its blocks were first seen here. */
  readonly sights: BlockSights
  depositPass(...args: Parameters<SettlingChain['depositPass']>): Promise<DepositPass>
  /**
   * Accounts that brought the deposits of a transaction, beside the named depositors; empty if the family does not
   * tell. `undefined` while the transaction is in no block.
   */
  senders(hash: string, signal: AbortSignal): Promise<readonly string[] | undefined>
  /** `undefined` while it is in no block, and where users execute nothing that is told apart. */
  transaction(hash: string, signal: AbortSignal): Promise<MinedTransaction | undefined>
  /** Payments of the fill wallet in some blocks, as its fill contracts list them; absent where none does. */
  readonly paidIds?: (
    range: { readonly from: bigint; readonly to: bigint },
    signal: AbortSignal,
  ) => Promise<readonly PaidId[]>
}

type SettlementChainOptions = {
  quotable: QuotableChain
  registered: RegisteredChain
  client: ChainClient
  /** Set on chains whose transfers name no order. */
  hubEntries?: HubEntries | undefined
  /** The solver's wallet on chains of contracts that name none of their own; undefined: its payments are not known. */
  fillWallet: string | undefined
  onMalformed: OnMalformed
}

/**
 * Opens the readers of a chain: those of its family, else events of contracts.
 * @throws ConfigurationError when the chain has no depository or no endpoint
 */
export function createSettlementChain(options: SettlementChainOptions): SettlementChain {
  const { registered: chain, client, hubEntries } = options
  const { fillWallet: address, fillContract } = options.quotable.config
  const payer = address === undefined ? undefined : { address, fillContract }
  const settling = openSettlingChain(chain, client, { hubEntries, recordsPayments, payer })
  if (settling === undefined) return settleByContracts(options)
  return {
    ...settling,
    ...{ chain: options.quotable, payers: payersOf(options, address), sights: createBlockSights() },
    refundChainId: refundChainId(chain, options.quotable.chainId),
    depositPass: async (...args) => ({ ...(await settling.depositPass(...args)), paidSwaps: [] }),
    senders: async () => [],
    transaction: async () => undefined,
  }
}

function payersOf(
  { registered: { fillPayers = [] } }: SettlementChainOptions,
  fillWallet: string | undefined,
): readonly string[] {
  return [...new Set([...(fillWallet === undefined ? [] : [fillWallet]), ...fillPayers])]
}

/** A block counts as soon as it is the newest; the caller counts confirmations. */
const anyDepth: Finality = { mode: 'depth', blocks: 0 }

function settleByContracts(options: SettlementChainOptions): SettlementChain {
  const { quotable, registered, client, onMalformed } = options
  const { fillContract, fillWallet = options.fillWallet } = quotable.config
  const { rpcThreshold: threshold, fillContracts } = registered
  const { shallow, deep } = readersOf(options)
  const ask: Ask = async (reading, signal) => (await askQuorum(client, reading, { threshold, signal })).value
  const finalHeight = async (signal: AbortSignal) => (await deep.finalBlocks.readNewest({ signal })).number
  /** The height comes first: what is in a block at or below it then, stays there. */
  const isFinallyReverted = async (transaction: string, signal: AbortSignal) => {
    const height = await finalHeight(signal)
    const value = await ask(failureReading(transaction), signal)
    return value !== undefined && value.blockNumber <= height
  }
  const head = (signal: AbortSignal) => askHeight(client, 'latest', { threshold, signal, onMalformed })
  return {
    ...{ chain: quotable, payers: payersOf(options, fillWallet), head, sights: createBlockSights() },
    refundChainId: refundChainId(registered, quotable.chainId),
    get steps() {
      const { config } = quotable
      const rewindBlocks = blocksAtPace(config, 512n)
      return { rangeBlocks: logBlocksAtOnce(client), rewindBlocks, lateBlocks: lateBlocksOf(config) }
    },
    finalHeight,
    finalSeconds: async (signal) => ask(blockTimeReading(await finalHeight(signal)), signal),
    headSeconds: async (signal) => ask(blockTimeReading(await head(signal)), signal),
    taggedHeight: (signal) => askHeight(client, 'finalized', { threshold, signal, onMalformed }),
    depositPass: (range, signal) => ask(depositPassReading(placesOf(quotable), range), signal),
    blockTransactions: (height, signal) => ask(blockTransactionsReading(height), signal),
    async blockHashes(heights, signal) {
      const blocks = await ask(blocksReading(heights), signal)
      return new Map(
        blocks.flatMap((block): [bigint, string][] => (block ? [[block.number, block.hash]] : [])),
      )
    },
    deposits: (transactionId, signal) => unlessGone(shallow.readDeposits({ transactionId }, { signal })),
    senders: (hash, signal) => ask(depositSendersReading(hash, quotable.depository.toLowerCase()), signal),
    transaction: (hash, signal) => ask(minedReading(hash, quotable.config.depositRouter), signal),
    async payment(question, signal) {
      try {
        const facts = await shallow.readPayment(question, { signal })
        const confirmations = Number((await head(signal)) - facts.evidence.blockNumber) + 1
        return { state: 'included', facts, confirmations }
      } catch (error) {
        const isRead = putAsideReason(error) === undefined
        if (error instanceof TransactionMissingError || !isRead) return { state: 'missing' }
        if (!(error instanceof TransactionRevertedError)) throw error
        return { state: 'reverted', isFinal: await isFinallyReverted(question.transactionId, signal) }
      }
    },
    finalPayment: (question, signal) => unlessPutAside(unlessGone(deep.readPayment(question, { signal }))),
    ...(fillWallet !== undefined &&
      fillContract !== undefined &&
      paymentsOf(ask, { fillWallet, fillContract, fillContracts })),
    ...(fillContract !== undefined && marksOf(ask, finalHeight, fillContract)),
  }
}

function placesOf({ depository, currencies, config: { depositRouter } }: QuotableChain): DepositPlaces {
  const tokens = [...currencies.values()].flatMap(({ isNative, address }) => (isNative ? [] : [address]))
  return { depository, depositRouter, tokens }
}

type Ask = <Value>(reading: Reading<Value>, signal: AbortSignal) => Promise<Value>

/** Readers of what is in any block, and of what is in final ones. */
function readersOf({ registered, client }: SettlementChainOptions) {
  const { id, depository, additionalData, finality } = registered
  const { additionalDepositories, fillContracts, fillPayers } = registered
  const payers = { additionalDepositories, fillContracts, fillPayers }
  const entry = { id, depository, additionalData, ...payers }
  const quorum = createQuorumOver(client, { now: () => Date.now() })
  // Nothing is remembered: what is not final may change.
  const readerOptions = { quorum, limits: { finalEntriesMax: 0 }, recordsPayments }
  return {
    shallow: createEthereumFactsReader({ chain: { ...entry, finality: anyDepth }, ...readerOptions }),
    deep: createEthereumFactsReader({ chain: { ...entry, finality }, ...readerOptions }),
  }
}

/** Reader of a payment's state in a fill contract, at the newest final block. */
function marksOf(
  ask: Ask,
  finalHeight: SettlementChain['finalHeight'],
  fillContract: Hex,
): Pick<SettlementChain, 'finalMark'> {
  return {
    async finalMark(payer, id, signal) {
      const height = await finalHeight(signal)
      const recordQuery = { fillContract: payer.fillContract ?? fillContract, fillWallet: payer.address, id }
      const [state, timestampSeconds] = await Promise.all([
        ask(stateReading(recordQuery, toQuantity(height)), signal),
        ask(blockTimeReading(height), signal),
      ])
      return { state, timestampSeconds }
    },
  }
}

/** Readers of the fill wallet's payments in the fill contracts of a chain. */
function paymentsOf(
  ask: Ask,
  paid: {
    readonly fillWallet: string
    readonly fillContract: Hex
    readonly fillContracts: readonly string[] | undefined
  },
): Pick<SettlementChain, 'isPaid' | 'paidIds'> {
  const { fillWallet, fillContract, fillContracts = [] } = paid
  return {
    async isPaid(id, signal, contract = fillContract) {
      if (contract !== fillContract && !recordsPayments(await ask(codeReading(contract), signal)))
        return false
      return ask(paidReading({ fillContract: contract, fillWallet, id }), signal)
    },
    paidIds: (range, signal) =>
      ask(
        paidIdsReading({ contracts: [...new Set([fillContract, ...fillContracts])], fillWallet, ...range }),
        signal,
      ),
  }
}
