import type { Hex } from '@causeway/core'
import {
  MalformedAnswerError,
  NodeError,
  parseBytes,
  parseHash,
  parseList,
  parseQuantity,
  parseRecord,
  type RpcAnswer,
  type RpcCall,
  toQuantity,
} from '@causeway/rpc'
import { headRequest, parseHead } from '../agreement/head.ts'
import type { CallFrame, TopUpFacts, TopUpTarget } from '../rules/topUps/topUp.ts'
import { type ReceiptLog, topUpLogs, topUpTopics } from '../rules/topUps/transferLogs.ts'

/** Calls to a chain, and the parser of their answers in the same order. `parse` throws on a malformed one. */
export type Reading<T> = {
  readonly calls: readonly RpcCall[]
  /** @throws MalformedAnswerError, NodeError */
  readonly parse: (answers: readonly (RpcAnswer | undefined)[]) => T
}

export type BlockWithHash = { readonly number: bigint; readonly hash: Hex }

/** Both ends included. */
type BlockRange = { readonly from: bigint; readonly to: bigint }

/** Place of a transfer to custody on the chain. */
export type TransferHit = {
  readonly transactionHash: Hex
  readonly blockHash: Hex
  readonly blockNumber: bigint
  readonly logIndex: number
}

/** A transaction in a block, as far as top-ups depend on it. */
export type IncludedTransaction = {
  readonly blockHash: Hex
  readonly blockNumber: bigint
  readonly facts: Omit<TopUpFacts, 'trace'>
}

/** No credible amount of the token is larger; a node that reports one is wrong. */
const valueLimit = 2n ** 127n
/** The EVM allows so many nested calls. */
const callDepthMax = 1_024

/** Height and hash of a block; `undefined` if the node does not have it. */
export function blockReading(block: bigint | 'latest' | 'finalized'): Reading<BlockWithHash | undefined> {
  return {
    calls: [headRequest(block)],
    parse: ([answer]) => {
      const result = resultOf(answer)
      if (result === null) return undefined
      const { number, hash } = parseHead(result)
      if (typeof block === 'bigint' && number !== block)
        throw new MalformedAnswerError('eth_getBlockByNumber')
      return { number, hash }
    },
  }
}

/** Transfers of the token to custody in a range of blocks, in chain order. */
export function transfersReading(target: TopUpTarget, range: BlockRange): Reading<readonly TransferHit[]> {
  const filter = {
    address: target.token,
    topics: topUpTopics(target.custody),
    fromBlock: toQuantity(range.from),
    toBlock: toQuantity(range.to),
  }
  return {
    calls: [{ method: 'eth_getLogs', params: [filter] }],
    parse: ([answer]) => {
      const logs = parseList(resultOf(answer), 'eth_getLogs')
      const hits = logs.flatMap((log) => parseTransferHit(log, target, range) ?? [])
      return hits.toSorted((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex)
    },
  }
}

/** `undefined` for an event of another shape. @throws MalformedAnswerError, also for a log that was not asked for */
function parseTransferHit(value: unknown, target: TopUpTarget, range: BlockRange): TransferHit | undefined {
  const requestName = 'eth_getLogs'
  const log = parseRecord(value, requestName)
  const parsed = parseLog(log, requestName)
  // A Transfer event with other indexed members is not the one of a known token.
  if (parsed.topics.length !== 3 || parsed.data.length !== 66) return undefined
  const hit = {
    transactionHash: parseHash(log['transactionHash'], requestName),
    blockHash: parseHash(log['blockHash'], requestName),
    blockNumber: parseQuantity(log['blockNumber'], requestName),
    logIndex: parseIndex(log['logIndex'], requestName),
  }
  const isAsked = hit.blockNumber >= range.from && hit.blockNumber <= range.to
  if (!isAsked || log['removed'] === true || topUpLogs([parsed], target).length === 0)
    throw new MalformedAnswerError(requestName)
  return hit
}

/** A transaction with its transfers to custody; `undefined` if the node has it in no block. */
export function transactionReading(target: TopUpTarget, hash: Hex): Reading<IncludedTransaction | undefined> {
  return {
    calls: minedCalls(hash),
    parse: (answers) => {
      const mined = parseMined(answers, hash)
      if (mined === undefined) return undefined
      const { transaction, receipt, blockHash, requestName } = mined
      const logs = parseList(receipt['logs'], requestName).map((log) =>
        parseLog(parseRecord(log, requestName), requestName),
      )
      const transferLogs = topUpLogs(logs, target)
      if (transferLogs.some(({ value }) => value >= valueLimit)) throw new MalformedAnswerError(requestName)
      return {
        blockHash,
        blockNumber: parseQuantity(receipt['blockNumber'], requestName),
        facts: {
          succeeded: parseQuantity(receipt['status'], requestName) === 1n,
          from: parseAddress(transaction['from'], requestName),
          to: isAbsent(transaction['to']) ? undefined : parseAddress(transaction['to'], requestName),
          input: parseBytes(transaction['input'], requestName),
          logs: transferLogs,
        },
      }
    },
  }
}

/** Members of a mined transaction and its receipt, still to be parsed. */
type RawTransaction = {
  readonly transaction: Readonly<Record<string, unknown>>
  readonly receipt: Readonly<Record<string, unknown>>
  readonly blockHash: Hex
  /** For errors. */
  readonly requestName: string
}

/** Calls for a transaction and its receipt; `parseMined` parses the answers. */
export function minedCalls(hash: string): readonly RpcCall[] {
  return [
    { method: 'eth_getTransactionByHash', params: [hash] },
    { method: 'eth_getTransactionReceipt', params: [hash] },
  ]
}

/**
 * Transaction and receipt from answers to `minedCalls`, checked to be of the same block; `undefined` if it is in none.
 * @throws MalformedAnswerError, NodeError
 */
export function parseMined(
  [transactionAnswer, receiptAnswer]: readonly (RpcAnswer | undefined)[],
  hash: string,
): RawTransaction | undefined {
  const results = [resultOf(transactionAnswer), resultOf(receiptAnswer)]
  if (results.includes(null)) return undefined
  const transaction = parseRecord(results[0], 'eth_getTransactionByHash')
  const requestName = 'eth_getTransactionReceipt'
  const receipt = parseRecord(results[1], requestName)
  const blockHash = parseHash(receipt['blockHash'], requestName)
  const isOne =
    parseHash(transaction['hash'], requestName) === hash &&
    parseHash(receipt['transactionHash'], requestName) === hash &&
    parseHash(transaction['blockHash'], requestName) === blockHash
  if (!isOne) throw new MalformedAnswerError(requestName)
  return { transaction, receipt, blockHash, requestName }
}

export function traceReading(hash: Hex): Reading<CallFrame> {
  return {
    calls: [{ method: 'debug_traceTransaction', params: [hash, { tracer: 'callTracer' }] }],
    parse: ([answer]) => parseFrame(resultOf(answer), 0),
  }
}

function parseFrame(value: unknown, depth: number): CallFrame {
  const requestName = 'debug_traceTransaction'
  const frame = parseRecord(value, requestName)
  const type = frame['type']
  if (depth > callDepthMax || typeof type !== 'string') throw new MalformedAnswerError(requestName)
  return {
    type,
    from: parseAddress(frame['from'], requestName),
    to: isAbsent(frame['to']) ? undefined : parseAddress(frame['to'], requestName),
    // The tracer may leave out an empty input, and does leave out an empty list of calls.
    input: parseBytes(frame['input'] ?? '0x', requestName),
    isReverted: !isAbsent(frame['error']),
    calls: parseList(frame['calls'] ?? [], requestName).map((call) => parseFrame(call, depth + 1)),
  }
}

/** One log of a receipt or of `eth_getLogs`. @throws MalformedAnswerError */
export function parseLog(log: Readonly<Record<string, unknown>>, requestName: string): ReceiptLog {
  return {
    address: parseAddress(log['address'], requestName),
    topics: parseList(log['topics'], requestName).map((topic) => parseHash(topic, requestName)),
    data: parseBytes(log['data'], requestName),
    logIndex: parseIndex(log['logIndex'], requestName),
  }
}

export function parseAddress(value: unknown, requestName: string): Hex {
  const address = parseBytes(value, requestName)
  if (address.length !== 42) throw new MalformedAnswerError(requestName)
  return address
}

/** An index as the ledger's tables hold it, in 31 bits. */
function parseIndex(value: unknown, requestName: string): number {
  const index = Number(parseQuantity(value, requestName))
  if (index > 2 ** 31 - 1) throw new MalformedAnswerError(requestName)
  return index
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null
}

/** Result of one call of a reading. @throws MalformedAnswerError for none, NodeError */
export function resultOf(answer: RpcAnswer | undefined): unknown {
  if (answer === undefined) throw new MalformedAnswerError('JSON-RPC batch')
  if (!answer.ok) throw new NodeError(answer)
  return answer.result
}
