import { ConfigurationError } from '@causeway/core'
import { blocksAtPace, type Finality } from '@causeway/core/config'
import { ethereumCodec } from '@causeway/core/encodings'
import {
  createQuorumOver,
  logBlocksAtOnce,
  TransactionMissingError,
  TransactionRevertedError,
} from '@causeway/rpc'
import { putAsideReason, unlessPutAside } from '../../shared/putAside.ts'
import type { SettlingChainFamily } from '../../shared/settlingChain.ts'
import { unlessGone } from '../../shared/settlingReads.ts'
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
import { type Ask, readMarks, readPayments } from './fillRecords.ts'
import { lateBlocksOf } from './lateBlocks.ts'
import { readFee } from './readFee.ts'
import { minedReading } from './transactionReading.ts'

/** Finality rule of the shallow reader: the newest block counts already. Callers compare depths themselves. */
const anyDepth: Finality = { mode: 'depth', blocks: 0 }

/** Readings by which quote-api's settlement follows an EVM chain; see `SettlingChain` for the members. */
export const ethereumSettlingChain: SettlingChainFamily = (options) => {
  const { chain, client, quoted, payer, recordsPayments, onMalformed = () => undefined } = options
  const { config, currencies } = quoted
  const { depositRouter, fillContract, multicall3 } = config
  if (chain.depository === undefined) throw new ConfigurationError(`chains: ${chain.id} has no depository`)
  const depository = ethereumCodec.canonicalAddress(chain.depository)
  const threshold = quorumOf(client, chain.rpcThreshold)
  const tokens = tokensOf(currencies)
  const { shallow, deep } = openReaders(options)
  const ask: Ask = async (reading, signal) => (await askQuorum(client, reading, { threshold, signal })).value
  const head = (signal: AbortSignal) => askHeight(client, 'latest', { threshold, signal, onMalformed })
  const finalHeight = async (signal: AbortSignal) => (await deep.finalBlocks.readNewest({ signal })).number
  /** The final height is read first: a block at or below it cannot leave the chain before the receipt is read. */
  const isFinallyReverted = async (transaction: string, signal: AbortSignal) => {
    const height = await finalHeight(signal)
    const value = await ask(failureReading(transaction), signal)
    return value !== undefined && value.blockNumber <= height
  }
  return {
    head,
    get steps() {
      const rewindBlocks = blocksAtPace(config, 512n)
      return { rangeBlocks: logBlocksAtOnce(client), rewindBlocks, lateBlocks: lateBlocksOf(config) }
    },
    finalHeight,
    finalSeconds: async (signal) => ask(blockTimeReading(await finalHeight(signal)), signal),
    headSeconds: async (signal) => ask(blockTimeReading(await head(signal)), signal),
    taggedHeight: (signal) => askHeight(client, 'finalized', { threshold, signal, onMalformed }),
    depositPass: (range, signal) =>
      ask(depositPassReading({ depository, depositRouter, tokens }, range), signal),
    blockTransactions: (height, signal) => ask(blockTransactionsReading(height), signal),
    async blockHashes(heights, signal) {
      const blocks = await ask(blocksReading(heights), signal)
      return new Map(
        blocks.flatMap((block): [bigint, string][] => (block ? [[block.number, block.hash]] : [])),
      )
    },
    deposits: (transactionId, signal) => unlessGone(shallow.readDeposits({ transactionId }, { signal })),
    senders: (transactionId, signal) => ask(depositSendersReading(transactionId, depository), signal),
    transaction: (transactionId, signal) => ask(minedReading(transactionId, depositRouter), signal),
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
    feePaid: (transactionId, signal) => readFee(client, transactionId, signal),
    ...(payer !== undefined &&
      fillContract !== undefined &&
      readPayments(ask, {
        fillWallet: payer.address,
        fillContract,
        fillContracts: chain.fillContracts,
        recordsPayments,
      })),
    ...(fillContract !== undefined && readMarks(ask, finalHeight, fillContract)),
    ...(multicall3 !== undefined && { addresses: createAddressReading({ ask, config, multicall3, tokens }) }),
  }
}

/** `shallow` reads facts of any block, `deep` of final blocks only. */
function openReaders({ chain, client, recordsPayments }: Parameters<SettlingChainFamily>[0]) {
  const quorum = createQuorumOver(client, { now: () => Date.now() })
  // Facts of blocks that are not final may change, so nothing is cached.
  const readerOptions = { quorum, limits: { finalEntriesMax: 0 }, recordsPayments }
  return {
    shallow: createEthereumFactsReader({ chain: { ...chain, finality: anyDepth }, ...readerOptions }),
    deep: createEthereumFactsReader({ chain, ...readerOptions }),
  }
}
