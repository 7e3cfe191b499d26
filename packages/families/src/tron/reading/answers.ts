import { bytesToHex, type Hex, hexToBytes, sha256 } from '@causeway/core'
import { MalformedAnswerError, parseBytes, parseHash, parseList, parseRecord } from '@causeway/rpc'
import type { EvmHeader, EvmLog } from '../../ethereum/reading/answers.ts'
import { readRawTransaction, type TronTransaction } from './rawTransaction.ts'

/**
 * Answers of a node's HTTP API read strictly. `{}` is the one way to say that there is no such thing; an
 * `Error` member, a missing member or another shape makes the endpoint one that did not answer. Hex comes
 * without `0x` and leaves with it; members that are empty or zero are left out by the node.
 * @source TRON developer documentation, "HTTP API"
 */

/** `hash` is the block's id: its number in the first eight bytes, a hash behind them. */
export type TronHeader = EvmHeader

/** Result of a transaction. */
export type TronInfo = {
  readonly blockNumber: bigint
  readonly timestampSeconds: bigint
  readonly succeeded: boolean
  /** Under their position in the transaction. */
  readonly logs: readonly EvmLog[]
}

/** Bytes of a transaction that a node takes. @source java-tron, Constant.TRANSACTION_MAX_BYTE_SIZE */
const rawBytesMax = 500 * 1024

/** `undefined` when the chain has no such block. @throws MalformedAnswerError */
export function parseHeader(body: unknown, asked?: bigint): TronHeader | undefined {
  const what = 'getblock'
  if (isNothing(body)) return undefined
  const block = parseRecord(body, what)
  const raw = parseRecord(parseRecord(block['block_header'], what)['raw_data'], what)
  // Left out where it is zero: the first block.
  const number = parseInteger(raw['number'] ?? 0, what)
  if (asked !== undefined && number !== asked) throw new MalformedAnswerError(what)
  const hash = parseHash(prefixed(block['blockID']), what)
  if (BigInt(hash.slice(0, 18)) !== number) throw new MalformedAnswerError(what)
  return { number, hash, timestampSeconds: parseInteger(raw['timestamp'] ?? 0, what) / 1_000n }
}

/** `undefined` when no block holds the transaction. @throws MalformedAnswerError */
export function parseInfo(body: unknown, transactionId: string): TronInfo | undefined {
  const what = 'gettransactioninfobyid'
  if (isNothing(body)) return undefined
  const info = parseRecord(body, what)
  if (parseHash(prefixed(info['id']), what) !== `0x${transactionId}`) throw new MalformedAnswerError(what)
  return readInfo(info, what)
}

/**
 * The transaction's info among those of all transactions of its block, and how many logs of the block stand
 * before its own. @throws MalformedAnswerError, also when it is not there exactly once
 */
export function parseBlockInfos(
  body: unknown,
  { transactionId, blockNumber }: { readonly transactionId: string; readonly blockNumber: bigint },
): { readonly info: TronInfo; readonly logsBefore: bigint } {
  const what = 'gettransactioninfobyblocknum'
  const ids = new Set<string>()
  let logCount = 0
  let found: { readonly info: TronInfo; readonly logsBefore: bigint } | undefined
  for (const entry of parseList(body, what)) {
    const info = parseRecord(entry, what)
    const id = parseHash(prefixed(info['id']), what)
    if (ids.has(id) || parseInteger(info['blockNumber'], what) !== blockNumber) {
      throw new MalformedAnswerError(what)
    }
    ids.add(id)
    if (id === `0x${transactionId}`) found = { info: readInfo(info, what), logsBefore: BigInt(logCount) }
    logCount += parseList(info['log'] ?? [], what).length
  }
  if (found === undefined) throw new MalformedAnswerError(what)
  return found
}

/**
 * Results of all transactions of a block, in chain order; empty for a block without any.
 * @throws MalformedAnswerError, also for a duplicate or a transaction of another block
 */
export function parseInfosOf(
  body: unknown,
  blockNumber: bigint,
): readonly (Pick<TronInfo, 'succeeded' | 'logs'> & { readonly transactionId: string })[] {
  const what = 'gettransactioninfobyblocknum'
  // A block without transactions is an empty list, or nothing.
  if (isNothing(body)) return []
  const ids = new Set<string>()
  return parseList(body, what).map((entry) => {
    const info = parseRecord(entry, what)
    const transactionId = parseHash(prefixed(info['id']), what).slice(2)
    if (ids.has(transactionId) || parseInteger(info['blockNumber'], what) !== blockNumber)
      throw new MalformedAnswerError(what)
    ids.add(transactionId)
    const { succeeded: isDone, logs } = readInfo(info, what)
    return { transactionId, succeeded: isDone, logs }
  })
}

/** Fee that a transaction burnt, in sun; `undefined` if no block holds it. @throws MalformedAnswerError */
export function parseFee(body: unknown): bigint | undefined {
  const what = 'gettransactioninfobyid'
  if (isNothing(body)) return undefined
  return parseInteger(parseRecord(body, what)['fee'] ?? 0, what)
}

/**
 * `undefined` when the node does not know it. The id is the hash of the bytes that are read.
 * @throws MalformedAnswerError
 */
export function parseTransaction(body: unknown, transactionId: string): TronTransaction | undefined {
  const what = 'gettransactionbyid'
  if (isNothing(body)) return undefined
  const digits = parseRecord(body, what)['raw_data_hex']
  if (typeof digits !== 'string' || digits.length > 2 * rawBytesMax) throw new MalformedAnswerError(what)
  const raw = hexToBytes(parseBytes(`0x${digits}`, what))
  if (bytesToHex(sha256(raw)) !== `0x${transactionId}`) throw new MalformedAnswerError(what)
  return readRawTransaction(raw, what)
}

/**
 * The `bool` that a constant call returned. A call that reverts is answered with `result: true` as well: it
 * is told by a message beside it. @throws MalformedAnswerError
 */
export function parseConstantBool(body: unknown): boolean {
  const what = 'triggerconstantcontract'
  const answer = parseRecord(body, what)
  const { result, message, code } = parseRecord(answer['result'], what)
  const [word, ...more] = parseList(answer['constant_result'], what)
  if (result !== true || message !== undefined || code !== undefined || more.length > 0) {
    throw new MalformedAnswerError(what)
  }
  const value = BigInt(parseHash(prefixed(word), what))
  if (value > 1n) throw new MalformedAnswerError(what)
  return value === 1n
}

/** True when the address holds a contract: one that another contract made has no `bytecode`. @throws MalformedAnswerError */
export function parseHasContract(body: unknown): boolean {
  const what = 'getcontract'
  if (isNothing(body)) return false
  if (typeof parseRecord(body, what)['contract_address'] !== 'string') throw new MalformedAnswerError(what)
  return true
}

/** The code that runs at an address; `0x` where it holds no contract. @throws MalformedAnswerError */
export function parseRuntimeCode(body: unknown): Hex {
  const what = 'getcontractinfo'
  return isNothing(body) ? '0x' : parseBytes(prefixed(parseRecord(body, what)['runtimecode']), what)
}

function readInfo(info: Readonly<Record<string, unknown>>, what: string): TronInfo {
  return {
    blockNumber: parseInteger(info['blockNumber'], what),
    timestampSeconds: parseInteger(info['blockTimeStamp'], what) / 1_000n,
    succeeded: hasSucceeded(info, what),
    logs: parseList(info['log'] ?? [], what).map((log, index) => parseLog(log, index, what)),
  }
}

/** Some versions spell it with one letter less. */
const succeeded: ReadonlySet<string> = new Set(['SUCCESS', 'SUCESS'])

/** Both are left out for what can only succeed, such as a transfer. */
function hasSucceeded(info: Readonly<Record<string, unknown>>, what: string): boolean {
  const { result = 'SUCCESS' } = info
  const { result: contractResult = 'DEFAULT' } = parseRecord(info['receipt'] ?? {}, what)
  if (typeof result !== 'string' || typeof contractResult !== 'string') throw new MalformedAnswerError(what)
  return succeeded.has(result) && (contractResult === 'DEFAULT' || contractResult === 'SUCCESS')
}

/** The address comes without the prefix byte. */
function parseLog(value: unknown, index: number, what: string): EvmLog {
  const log = parseRecord(value, what)
  const topics = parseList(log['topics'] ?? [], what).map((topic) => parseHash(prefixed(topic), what))
  if (topics.length > 4) throw new MalformedAnswerError(what)
  return {
    address: parseAccount(log['address'], '', what),
    topics,
    data: parseBytes(prefixed(log['data'] ?? ''), what),
    logIndex: BigInt(index),
  }
}

/** `0x` and 20 bytes. */
function parseAccount(value: unknown, prefix: '' | '41', what: string): Hex {
  const account = parseBytes(prefixed(value), what)
  if (account.length !== 42 + prefix.length || !account.startsWith(`0x${prefix}`)) {
    throw new MalformedAnswerError(what)
  }
  return `0x${account.slice(2 + prefix.length)}`
}

/** A JSON number that is exact and not negative. @throws MalformedAnswerError */
export function parseInteger(value: unknown, what: string): bigint {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new MalformedAnswerError(what)
  }
  return BigInt(value)
}

/** Hex of nodes as hex of this code base. */
export function prefixed(value: unknown): unknown {
  return typeof value === 'string' ? `0x${value}` : value
}

/** `{}`: there is no such thing. */
export function isNothing(body: unknown): boolean {
  return typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0
}
