import type { Hex } from '@causeway/core'
import { isNativeTransferLog } from '@causeway/core/encodings'
import {
  MalformedAnswerError,
  parseHash,
  parseList,
  parseQuantity,
  parseRecord,
  type RpcAnswer,
  toQuantity,
} from '@causeway/rpc'
import type { SettlingPass } from '../../shared/settlingChain.ts'
import { headRequest } from '../agreement/head.ts'
import { addressTopic, depositTopics, transferTopic } from '../reading/events.ts'
import {
  type BlockWithHash,
  blockReading,
  minedCalls,
  parseAddress,
  parseLog,
  parseMined,
  type Reading,
  resultOf,
} from './chainReadings.ts'
import { paidSwapTopic, readPaidSwap } from './paidSwaps.ts'

/** Contracts and tokens of a chain whose events show deposits or swaps. */
export type DepositPlaces = {
  readonly depository: string
  readonly depositRouter: string | undefined
  readonly tokens: readonly string[]
}

/**
 * Transactions with events of the depository or transfers of listed tokens to it (a deposit by a plain transfer names
 * its order in its calldata, and has no event of the depository). Also events of the deposit router, which name swaps
 * that ended on the chain.
 * @param range.to height of the last block, or the newest one of whoever answers
 * @param range.known height whose hash shows the caller whether blocks below the range were reorganised
 */
export function depositPassReading(
  { depository, depositRouter, tokens }: DepositPlaces,
  range: { from: bigint; to: bigint | 'latest'; known: bigint },
): Reading<SettlingPass> {
  const toBlock = range.to === 'latest' ? range.to : toQuantity(range.to)
  const blocks = { fromBlock: toQuantity(range.from), toBlock }
  // A filter with an empty list of tokens would find transfers of every contract.
  const filters = [
    { ...blocks, address: depository, topics: [depositTopics] },
    { ...blocks, address: tokens, topics: [transferTopic, null, addressTopic(depository)] },
  ].filter(({ address }) => address.length > 0)
  const swapFilters =
    depositRouter === undefined ? [] : [{ ...blocks, address: depositRouter, topics: [paidSwapTopic] }]
  const knownBlock = blockReading(range.known)
  const last = blockReading(range.to)
  return {
    calls: [
      ...knownBlock.calls,
      ...last.calls,
      ...[...swapFilters, ...filters].map((filter) => ({ method: 'eth_getLogs', params: [filter] })),
    ],
    parse: ([knownAnswer, lastAnswer, ...logs]) => {
      const lastBlock = last.parse([lastAnswer])
      const listed = { from: range.from, to: range.to === 'latest' ? lastBlock?.number : range.to }
      return {
        known: knownBlock.parse([knownAnswer]),
        last: lastBlock,
        paidSwaps: logs.slice(0, swapFilters.length).flatMap((answer) => paidSwapsOf(answer, depositRouter)),
        transactions: transactionsOf(logs.slice(swapFilters.length), listed, range.to === 'latest'),
      }
    },
  }
}

/** Hashes of the blocks at some heights; `undefined` for those that the node does not have. */
export function blocksReading(heights: readonly bigint[]): Reading<readonly (BlockWithHash | undefined)[]> {
  const readings = heights.map((height) => blockReading(height))
  return {
    calls: heights.map((height) => headRequest(height)),
    parse: (answers) => readings.map(({ parse }, index) => parse([answers[index]])),
  }
}

/** Ids of all transactions of a block. */
export function blockTransactionsReading(
  height: bigint,
): Reading<Pick<SettlingPass, 'last' | 'transactions'>> {
  const requestName = 'eth_getBlockByNumber'
  const reading = blockReading(height)
  return {
    calls: [headRequest(height)],
    parse: (answers) => {
      const last = reading.parse(answers)
      if (last === undefined) return { last, transactions: [] }
      const { transactions } = parseRecord(resultOf(answers[0]), requestName)
      return {
        last,
        transactions: parseList(transactions, requestName).map((hash) => parseHash(hash, requestName)),
      }
    },
  }
}

/** Timestamp of a block, Unix seconds. */
export function blockTimeReading(height: bigint): Reading<number> {
  const requestName = 'eth_getBlockByNumber'
  return {
    calls: [headRequest(height)],
    parse: ([answer]) => {
      const block = parseRecord(resultOf(answer), requestName)
      if (parseQuantity(block['number'], requestName) !== height) throw new MalformedAnswerError(requestName)
      return Number(parseQuantity(block['timestamp'], requestName))
    },
  }
}

/** Block of a failed transaction; `undefined` for one that succeeded or is in no block. */
export function failureReading(transaction: string): Reading<{ readonly blockNumber: bigint } | undefined> {
  const requestName = 'eth_getTransactionReceipt'
  return {
    calls: [{ method: requestName, params: [transaction] }],
    parse: ([answer]) => {
      const result = resultOf(answer)
      if (result === null) return undefined
      const receipt = parseRecord(result, requestName)
      if (parseHash(receipt['transactionHash'], requestName) !== transaction)
        throw new MalformedAnswerError(requestName)
      if (parseQuantity(receipt['status'], requestName) === 1n) return undefined
      return { blockNumber: parseQuantity(receipt['blockNumber'], requestName) }
    },
  }
}

/**
 * Accounts that a deposit's money came from: the signer of the transaction, and senders of tokens to the depository.
 * The depositor that a deposit names may be somebody else. `undefined` while the transaction is in no block.
 */
export function depositSendersReading(hash: string, depository: string): Reading<readonly Hex[] | undefined> {
  return {
    calls: minedCalls(hash),
    parse: (answers) => {
      const mined = parseMined(answers, hash)
      if (mined === undefined) return undefined
      const { transaction, receipt, requestName } = mined
      const owners = parseList(receipt['logs'], requestName).flatMap((value) => {
        const log = parseLog(parseRecord(value, requestName), requestName)
        const [topic, from, to] = log.topics
        if (topic !== transferTopic || isNativeTransferLog(log)) return []
        if (from === undefined || to === undefined || addressOf(to) !== depository) return []
        return [addressOf(from)]
      })
      return [...new Set([parseAddress(transaction['from'], requestName), ...owners])]
    },
  }
}

function paidSwapsOf(
  answer: RpcAnswer | undefined,
  depositRouter: string | undefined,
): Required<SettlingPass>['paidSwaps'] {
  const requestName = 'eth_getLogs'
  return parseList(resultOf(answer), requestName).flatMap((value) => {
    const log = parseRecord(value, requestName)
    const paid = readPaidSwap(parseLog(log, requestName), depositRouter)
    if (paid === undefined) return []
    return [{ requestId: paid.requestId, txHash: parseHash(log['transactionHash'], requestName) }]
  })
}

/** @param isOpen blocks may come while the calls are answered: those above the range are left to the next one */
function transactionsOf(
  answers: readonly (RpcAnswer | undefined)[],
  { from, to = from - 1n }: { readonly from: bigint; readonly to: bigint | undefined },
  isOpen: boolean,
): readonly Hex[] {
  const requestName = 'eth_getLogs'
  const foundLogs = answers.flatMap((answer) => {
    return parseList(resultOf(answer), requestName).flatMap((value) => {
      const log = parseRecord(value, requestName)
      const blockNumber = parseQuantity(log['blockNumber'], requestName)
      if (isOpen && blockNumber > to) return []
      if (blockNumber < from || blockNumber > to) throw new MalformedAnswerError(requestName)
      const position = parseQuantity(log['transactionIndex'], requestName)
      return [{ hash: parseHash(log['transactionHash'], requestName), blockNumber, position }]
    })
  })
  const ordered = foundLogs.toSorted((a, b) =>
    Number(a.blockNumber - b.blockNumber || a.position - b.position),
  )
  return [...new Set(ordered.map(({ hash }) => hash))]
}

const addressOf = (topic: Hex): Hex => `0x${topic.slice(26)}`
