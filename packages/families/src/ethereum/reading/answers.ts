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

// Calls of EVM nodes, and strict parsers of their answers: lower case, integers, logs in the order of their index. An
// answer that does not have exactly the form that the method returns throws `MalformedAnswerError`; the endpoint then
// counts as one that did not answer. Nothing is padded, guessed or filled in.

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

/** A mined transaction, as its sender signed it. */
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
export function parseHeader(answer: RpcAnswer | undefined, expected?: bigint): EvmHeader {
  const requestName = 'eth_getBlockByNumber'
  const block = parseRecord(resultOf(answer, requestName), requestName)
  const number = parseQuantity(block['number'], requestName)
  if (expected !== undefined && number !== expected) throw new MalformedAnswerError(requestName)
  return {
    number,
    hash: parseHash(block['hash'], requestName),
    timestampSeconds: parseQuantity(block['timestamp'], requestName),
  }
}

/**
 * `undefined` if no block holds the transaction; `unreadable` before the Byzantium fork, when receipts had a state root
 * in place of a status, so that success is unknown. @source EIP-658 @throws MalformedAnswerError
 */
export function parseReceipt(
  answer: RpcAnswer | undefined,
  transactionId: string,
): EvmReceipt | 'unreadable' | undefined {
  const requestName = 'eth_getTransactionReceipt'
  const result = resultOf(answer, requestName)
  if (result === null) return undefined
  const receipt = parseRecord(result, requestName)
  const inclusion = {
    transactionId: parseHash(receipt['transactionHash'], requestName),
    blockHash: parseHash(receipt['blockHash'], requestName),
    blockNumber: parseQuantity(receipt['blockNumber'], requestName),
  }
  if (inclusion.transactionId !== transactionId) throw new MalformedAnswerError(requestName)
  const { status: rawStatus, root } = receipt
  if (rawStatus === undefined && typeof root === 'string') return 'unreadable'
  const status = parseQuantity(rawStatus, requestName)
  if (status > 1n) throw new MalformedAnswerError(requestName)
  return { ...inclusion, succeeded: status === 1n, logs: parseLogs(receipt['logs'], receipt, requestName) }
}

/**
 * The logs of one receipt, in the order of the block. Each must name the receipt's own transaction and
 * block, in the same spelling: the texts are compared, which costs less than parsing. The transaction's index is not
 * compared, because Polygon's receipts of bridge transactions say 0.
 */
function parseLogs(
  value: unknown,
  receipt: Readonly<Record<string, unknown>>,
  subject: string,
): readonly EvmLog[] {
  const logs = parseList(value, subject).map((entry) => {
    const log = parseRecord(entry, subject)
    for (const member of ['transactionHash', 'blockHash', 'blockNumber'] as const) {
      if (log[member] !== receipt[member]) throw new MalformedAnswerError(subject)
    }
    if (log['removed'] === true) throw new MalformedAnswerError(subject)
    return parseLog(log, subject)
  })
  logs.sort((a, b) => (a.logIndex < b.logIndex ? -1 : a.logIndex > b.logIndex ? 1 : 0))
  for (const [position, { logIndex }] of logs.entries()) {
    if (position > 0 && logs[position - 1]?.logIndex === logIndex) throw new MalformedAnswerError(subject)
  }
  return logs
}

/** @throws MalformedAnswerError */
export function parseLog(log: Readonly<Record<string, unknown>>, subject: string): EvmLog {
  const topics = parseList(log['topics'], subject).map((topic) => parseHash(topic, subject))
  if (topics.length > 4) throw new MalformedAnswerError(subject)
  return {
    address: parseAddress(log['address'], subject),
    topics,
    data: parseBytes(log['data'], subject),
    logIndex: parseQuantity(log['logIndex'], subject),
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
  const requestName = 'eth_getTransactionByHash'
  const result = resultOf(answer, requestName)
  if (result === null) return undefined
  const transaction = parseRecord(result, requestName)
  if (parseHash(transaction['hash'], requestName) !== transactionId)
    throw new MalformedAnswerError(requestName)
  if (transaction['blockHash'] === null) return undefined
  const { to } = transaction
  return {
    blockHash: parseHash(transaction['blockHash'], requestName),
    blockNumber: parseQuantity(transaction['blockNumber'], requestName),
    from: parseAddress(transaction['from'], requestName),
    to: to === null || to === undefined ? undefined : parseAddress(to, requestName),
    // A transaction that holds a list of calls has no input and may have no value of its own.
    input: parseBytes(transaction['input'] ?? firstCallInput(transaction, requestName), requestName),
    value: parseQuantity(transaction['value'] ?? '0x0', requestName),
  }
}

/** Input of the first call alone: transactions of Tempo hold a list. @source Tempo documentation, "Batch Calls" */
function firstCallInput(transaction: Readonly<Record<string, unknown>>, subject: string): unknown {
  const [first] = parseList(transaction['calls'], subject)
  return parseRecord(first, subject)['input']
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
 * The code of an account, or its EIP-7702 delegation. Many nodes have pruned the state of the transaction's block
 * (`atBlock`); the answer at the final block then takes its place. @throws MalformedAnswerError
 */
export function parseCode(atBlock: RpcAnswer | undefined, atFinalBlock: RpcAnswer | undefined): Hex {
  const requestName = 'eth_getCode'
  const answer = atBlock?.ok === true ? atBlock : atFinalBlock
  return parseBytes(resultOf(answer, requestName), requestName)
}
