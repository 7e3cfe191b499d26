import type { Hex } from '@causeway/core'
import type { RpcAnswer, RpcCall } from '@causeway/rpc'
import {
  MalformedAnswerError,
  parseAddress,
  parseBytes,
  parseHash,
  parseList,
  parseQuantity,
  parseRecord,
  resultOf,
  toQuantity,
} from '@causeway/rpc'

/**
 * Node answers read strictly into canonical facts: lower case, integers, logs by their index. Anything
 * that is not exactly what the method returns for what was asked throws `MalformedAnswerError`, which
 * makes the endpoint one that did not answer. Nothing is padded, guessed or filled in.
 */

export type EvmHeader = {
  readonly number: bigint
  readonly hash: Hex
  readonly timestampSeconds: bigint
}

export type EvmLog = {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
  /** Position in the block. */
  readonly logIndex: bigint
}

export type EvmReceipt = {
  readonly transactionId: Hex
  readonly blockHash: Hex
  readonly blockNumber: bigint
  readonly succeeded: boolean
  /** Ascending by index. */
  readonly logs: readonly EvmLog[]
}

/** A transaction as its sender asked for it. */
export type EvmTransaction = {
  readonly blockHash: Hex
  readonly blockNumber: bigint
  readonly from: Hex
  /** Absent when it creates a contract. */
  readonly to: Hex | undefined
  readonly input: Hex
  readonly value: bigint
}

export function receiptCall(transactionId: string): RpcCall {
  return { method: 'eth_getTransactionReceipt', params: [transactionId] }
}
export function transactionCall(transactionId: string): RpcCall {
  return { method: 'eth_getTransactionByHash', params: [transactionId] }
}
export function headerCall(block: 'latest' | 'safe' | 'finalized' | bigint): RpcCall {
  return {
    method: 'eth_getBlockByNumber',
    params: [typeof block === 'bigint' ? toQuantity(block) : block, false],
  }
}
export function contractCall(to: string, data: Hex, block: bigint): RpcCall {
  return { method: 'eth_call', params: [{ to, data }, toQuantity(block)] }
}

export function codeCall(address: Hex, block: bigint): RpcCall {
  return { method: 'eth_getCode', params: [address, toQuantity(block)] }
}

/** @throws MalformedAnswerError, also on `null`: only blocks that exist are asked for */
export function parseHeader(answer: RpcAnswer | undefined, asked?: bigint): EvmHeader {
  const what = 'eth_getBlockByNumber'
  const block = parseRecord(resultOf(answer, what), what)
  const number = parseQuantity(block['number'], what)
  if (asked !== undefined && number !== asked) throw new MalformedAnswerError(what)
  return {
    number,
    hash: parseHash(block['hash'], what),
    timestampSeconds: parseQuantity(block['timestamp'], what),
  }
}

/**
 * `undefined` when no block holds the transaction; `unreadable` for one of a block before Byzantium, whose receipt has a
 * state and does not say whether it succeeded. @source EIP-658 @throws MalformedAnswerError
 */
export function parseReceipt(
  answer: RpcAnswer | undefined,
  transactionId: string,
): EvmReceipt | 'unreadable' | undefined {
  const what = 'eth_getTransactionReceipt'
  const result = resultOf(answer, what)
  if (result === null) return undefined
  const receipt = parseRecord(result, what)
  const home = {
    transactionId: parseHash(receipt['transactionHash'], what),
    blockHash: parseHash(receipt['blockHash'], what),
    blockNumber: parseQuantity(receipt['blockNumber'], what),
  }
  if (home.transactionId !== transactionId) throw new MalformedAnswerError(what)
  const { status: outcome, root } = receipt
  if (outcome === undefined && typeof root === 'string') return 'unreadable'
  const status = parseQuantity(outcome, what)
  if (status > 1n) throw new MalformedAnswerError(what)
  return { ...home, succeeded: status === 1n, logs: parseLogs(receipt['logs'], receipt, what) }
}

/**
 * The logs of one receipt, in the order of the block. Each must name the receipt's own transaction and
 * block, in whatever spelling the receipt has: the texts are compared, which costs less than parsing.
 * The place in the block is not compared: Polygon's receipts of its bridge say 0.
 */
function parseLogs(
  value: unknown,
  receipt: Readonly<Record<string, unknown>>,
  what: string,
): readonly EvmLog[] {
  const logs = parseList(value, what).map((entry) => {
    const log = parseRecord(entry, what)
    for (const member of ['transactionHash', 'blockHash', 'blockNumber'] as const) {
      if (log[member] !== receipt[member]) throw new MalformedAnswerError(what)
    }
    if (log['removed'] === true) throw new MalformedAnswerError(what)
    return parseLog(log, what)
  })
  logs.sort((a, b) => (a.logIndex < b.logIndex ? -1 : a.logIndex > b.logIndex ? 1 : 0))
  for (const [position, { logIndex }] of logs.entries()) {
    if (position > 0 && logs[position - 1]?.logIndex === logIndex) throw new MalformedAnswerError(what)
  }
  return logs
}

/** @throws MalformedAnswerError */
export function parseLog(log: Readonly<Record<string, unknown>>, what: string): EvmLog {
  const topics = parseList(log['topics'], what).map((topic) => parseHash(topic, what))
  if (topics.length > 4) throw new MalformedAnswerError(what)
  return {
    address: parseAddress(log['address'], what),
    topics,
    data: parseBytes(log['data'], what),
    logIndex: parseQuantity(log['logIndex'], what),
  }
}

/** @throws MalformedAnswerError, also when it is not in the block of `receipt` */
export function parseTransaction(answer: RpcAnswer | undefined, receipt: EvmReceipt): EvmTransaction {
  const transaction = parseMinedTransaction(answer, receipt.transactionId)
  if (transaction?.blockHash !== receipt.blockHash || transaction.blockNumber !== receipt.blockNumber)
    throw new MalformedAnswerError('eth_getTransactionByHash')
  return transaction
}

/** `undefined` while no block holds it. @throws MalformedAnswerError */
export function parseMinedTransaction(
  answer: RpcAnswer | undefined,
  transactionId: string,
): EvmTransaction | undefined {
  const what = 'eth_getTransactionByHash'
  const result = resultOf(answer, what)
  if (result === null) return undefined
  const transaction = parseRecord(result, what)
  if (parseHash(transaction['hash'], what) !== transactionId) throw new MalformedAnswerError(what)
  if (transaction['blockHash'] === null) return undefined
  const { to } = transaction
  return {
    blockHash: parseHash(transaction['blockHash'], what),
    blockNumber: parseQuantity(transaction['blockNumber'], what),
    from: parseAddress(transaction['from'], what),
    to: to === null || to === undefined ? undefined : parseAddress(to, what),
    input: parseBytes(transaction['input'] ?? firstCallInput(transaction, what), what),
    value: parseQuantity(transaction['value'] ?? '0x0', what),
  }
}

/** Transactions of some chains hold a list of calls in place of one input. @source oracle-protocol.md 5.1 */
function firstCallInput(transaction: Readonly<Record<string, unknown>>, what: string): unknown {
  const [first] = parseList(transaction['calls'], what)
  return parseRecord(first, what)['input']
}

/** One returned word. @throws MalformedAnswerError when there is no, or more than one */
export function parseWord(answer: RpcAnswer | undefined): bigint {
  return BigInt(parseHash(resultOf(answer, 'eth_call'), 'eth_call'))
}

/** A returned `bool`. @throws MalformedAnswerError */
export function parseBool(answer: RpcAnswer | undefined): boolean {
  const word = parseWord(answer)
  if (word > 1n) throw new MalformedAnswerError('eth_call')
  return word === 1n
}

/**
 * The code of an account, a delegation among it. Nodes keep the states of the newest blocks only: where the first is
 * gone, the second answers. @throws MalformedAnswerError
 */
export function parseCode(atBlock: RpcAnswer | undefined, atFinalBlock: RpcAnswer | undefined): Hex {
  const what = 'eth_getCode'
  const answer = atBlock?.ok === true ? atBlock : atFinalBlock
  return parseBytes(resultOf(answer, what), what)
}
