import { ConfigurationError, type FinalBlocks } from '@causeway/core'
import { blocksAtPace, type Finality } from '@causeway/core/config'
import { ethereumCodec } from '@causeway/core/encodings'
import { type ChainClient, createQuorumOver, logBlocksAtOnce } from '@causeway/rpc'
import { unlessPutAside } from '../../shared/putAside.ts'
import type { OnMalformed, SettlingChain, SettlingChainFamily } from '../../shared/settlingChain.ts'
import { readPaymentState, unlessGone } from '../../shared/settlingReads.ts'
import { createEthereumFactsReader } from '../reading/factsReader.ts'
import { createAddressReading, tokensOf } from './addressReading.ts'
import { askHeight, askQuorum, quorumOf } from './askChain.ts'
import {
  blocksReading,
  blockTimeReading,
  blockTransactionsReading,
  depositPassReading,
  depositSendersReading,
  failureReading,
} from './depositReadings.ts'
import { type Ask, createRecordReaders } from './fillRecords.ts'
import { lateBlocksOf } from './lateBlocks.ts'
import { askNewestPass } from './newestPass.ts'
import { readFee } from './readFee.ts'
import { minedReading } from './transactionReading.ts'

/** Finality rule of the shallow reader: the newest block counts already. Callers compare depths themselves. */
const anyDepth: Finality = { mode: 'depth', blocks: 0 }

/** Readings by which quote-api's settlement follows an EVM chain; see `SettlingChain` for the members. */
export const ethereumSettlingChain: SettlingChainFamily = (options) => {
  const { chain, client, quoted, payer, recordsPayments, onMalformed = () => undefined } = options
  const { config, currencies } = quoted
  const { depositRouter, fillContract, multicall3 } = config
  const { fillContracts } = chain
  if (chain.depository === undefined) throw new ConfigurationError(`chains: ${chain.id} has no depository`)
  const depository = ethereumCodec.canonicalAddress(chain.depository)
  const threshold = quorumOf(client, chain.rpcThreshold)
  const tokens = tokensOf(currencies)
  const places = { depository, depositRouter, tokens }
  const { shallow, deep } = openReaders(options)
  const ask: Ask = async (reading, signal) => (await askQuorum(client, reading, { threshold, signal })).value
  const heights = createHeights({ client, threshold, onMalformed, ask, finalBlocks: deep.finalBlocks })
  const { head, finalHeight } = heights
  /** The final height is read first: a block at or below it cannot leave the chain before the receipt is read. */
  const isFinalFailure = async (transactionId: string, signal: AbortSignal) => {
    const height = await finalHeight(signal)
    const failure = await ask(failureReading(transactionId), signal)
    return failure !== undefined && failure.blockNumber <= height
  }
  return {
    ...heights,
    // Computed at each use: endpoints show only by their refusals how many blocks they take. Chains with blocks of
    // less than two seconds rewind more of them.
    get steps() {
      const rewindBlocks = blocksAtPace(config, 512n)
      return { rangeBlocks: logBlocksAtOnce(client), rewindBlocks, lateBlocks: lateBlocksOf(config) }
    },
    depositPass: (range, signal) => ask(depositPassReading(places, range), signal),
    newestPass: (range, signal) => askNewestPass(client, places, range, { threshold, signal, onMalformed }),
    blockTransactions: (height, signal) => ask(blockTransactionsReading(height), signal),
    async blockHashes(numbers, signal) {
      const blocks = await ask(blocksReading(numbers), signal)
      return new Map(blocks.flatMap((block) => (block ? [[block.number, block.hash] as const] : [])))
    },
    deposits: (transactionId, signal) => unlessGone(shallow.readDeposits({ transactionId }, { signal })),
    senders: (transactionId, signal) => ask(depositSendersReading(transactionId, depository), signal),
    transaction: (transactionId, signal) => ask(minedReading(transactionId, depositRouter), signal),
    payment(question, signal) {
      const isFinallyReverted = () => isFinalFailure(question.transactionId, signal)
      return readPaymentState({ shallow, head, isFinallyReverted }, question, signal)
    },
    finalPayment: (question, signal) => unlessPutAside(unlessGone(deep.readPayment(question, { signal }))),
    feePaid: (transactionId, signal) => readFee(client, transactionId, signal),
    ...(fillContract !== undefined &&
      createRecordReaders(ask, { finalHeight, fillContract, fillContracts, payer, recordsPayments })),
    ...(multicall3 !== undefined && { addresses: createAddressReading({ ask, config, multicall3, tokens }) }),
  }
}

type Heights = Pick<SettlingChain, 'head' | 'finalHeight' | 'finalSeconds' | 'headSeconds' | 'taggedHeight'>

function createHeights(options: {
  readonly client: ChainClient
  readonly threshold: number
  readonly onMalformed: OnMalformed
  readonly ask: Ask
  readonly finalBlocks: FinalBlocks
}): Required<Heights> {
  const { client, threshold, onMalformed, ask, finalBlocks } = options
  const head = (signal: AbortSignal) => askHeight(client, 'latest', { threshold, signal, onMalformed })
  const finalHeight = async (signal: AbortSignal) => (await finalBlocks.readNewest({ signal })).number
  return {
    head,
    finalHeight,
    finalSeconds: async (signal) => ask(blockTimeReading(await finalHeight(signal)), signal),
    headSeconds: async (signal) => ask(blockTimeReading(await head(signal)), signal),
    taggedHeight: (signal) => askHeight(client, 'finalized', { threshold, signal, onMalformed }),
  }
}

/** `shallow` reads facts of any block, `deep` of final blocks only. */
function openReaders({ chain, client, recordsPayments }: Parameters<SettlingChainFamily>[0]) {
  const quorum = createQuorumOver(client)
  // Nothing is cached: facts of blocks that are not final may change, and settlement keeps final ones itself.
  const readerOptions = { quorum, limits: { finalEntriesMax: 0 }, recordsPayments }
  return {
    shallow: createEthereumFactsReader({ chain: { ...chain, finality: anyDepth }, ...readerOptions }),
    deep: createEthereumFactsReader({ chain, ...readerOptions }),
  }
}
