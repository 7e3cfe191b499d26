import { bytesToHex, type Hex, hexToBytes, sha256 } from '@causeway/core'
import {
  MalformedAnswerError,
  parseAddress,
  parseBytes,
  parseHash,
  parseList,
  parseRecord,
} from '@causeway/rpc'
import type { EvmHeader, EvmLog } from '../../ethereum/reading/answers.ts'
import { readRawTransaction, type TronTransaction } from './rawTransaction.ts'

/**
 * Strict parsers of a node's HTTP API, for facts. Only `{}` means that something does not exist. With an `Error`
 * member, a missing member or another shape the endpoint counts as silent. Nodes write hex without `0x`, which
 * parsers add, and leave out members that are empty or zero.
 * @source TRON developer documentation, "HTTP API"
 */

/** Header of a block. `hash`: the block's id, whose first eight bytes are its number. */
export type TronHeader = EvmHeader

/** Result of a transaction. */
export type TronInfo = {
  readonly blockNumber: bigint
  readonly timestampSeconds: bigint
  readonly succeeded: boolean
  /** `logIndex`: position in the transaction. */
  readonly logs: readonly EvmLog[]
}

/** Largest transaction that nodes accept. @source java-tron, Constant.TRANSACTION_MAX_BYTE_SIZE */
const rawBytesMax = 500 * 1024

/** `undefined` when there is no such block. @param expected number that it must have @throws MalformedAnswerError */
export function parseHeader(body: unknown, expected?: bigint): TronHeader | undefined {
  const requestName = 'getblock'
  if (isNothing(body)) return undefined
  const block = parseRecord(body, requestName)
  const raw = parseRecord(parseRecord(block['block_header'], requestName)['raw_data'], requestName)
  // Nodes leave out a number that is zero: that of the first block.
  const number = parseInteger(raw['number'] ?? 0, requestName)
  if (expected !== undefined && number !== expected) throw new MalformedAnswerError(requestName)
  const hash = parseHash(prefixed(block['blockID']), requestName)
  if (BigInt(hash.slice(0, 18)) !== number) throw new MalformedAnswerError(requestName)
  return { number, hash, timestampSeconds: parseInteger(raw['timestamp'] ?? 0, requestName) / 1_000n }
}

/** `undefined` when no block holds the transaction. @throws MalformedAnswerError */
export function parseInfo(body: unknown, transactionId: string): TronInfo | undefined {
  const requestName = 'gettransactioninfobyid'
  if (isNothing(body)) return undefined
  const info = parseRecord(body, requestName)
  if (parseHash(prefixed(info['id']), requestName) !== `0x${transactionId}`)
    throw new MalformedAnswerError(requestName)
  return readInfo(info, requestName)
}

/**
 * A transaction's info among those of its block, and the number of logs of the block before its own.
 * @throws MalformedAnswerError, also when it is not there exactly once
 */
export function parseBlockInfos(
  body: unknown,
  { transactionId, blockNumber }: { readonly transactionId: string; readonly blockNumber: bigint },
): { readonly info: TronInfo; readonly logsBefore: bigint } {
  const requestName = 'gettransactioninfobyblocknum'
  const ids = new Set<string>()
  let logCount = 0
  let match: { readonly info: TronInfo; readonly logsBefore: bigint } | undefined
  for (const entry of parseList(body, requestName)) {
    const info = parseRecord(entry, requestName)
    const id = parseHash(prefixed(info['id']), requestName)
    if (ids.has(id) || parseInteger(info['blockNumber'], requestName) !== blockNumber) {
      throw new MalformedAnswerError(requestName)
    }
    ids.add(id)
    if (id === `0x${transactionId}`)
      match = { info: readInfo(info, requestName), logsBefore: BigInt(logCount) }
    logCount += parseList(info['log'] ?? [], requestName).length
  }
  if (match === undefined) throw new MalformedAnswerError(requestName)
  return match
}

/**
 * Results of all transactions of a block, in chain order; empty for a block without any.
 * @throws MalformedAnswerError, also for a duplicate or a transaction of another block
 */
export function parseInfosOf(
  body: unknown,
  blockNumber: bigint,
): readonly (Pick<TronInfo, 'succeeded' | 'logs'> & { readonly transactionId: string })[] {
  const requestName = 'gettransactioninfobyblocknum'
  // A block without transactions is an empty list, or nothing.
  if (isNothing(body)) return []
  const ids = new Set<string>()
  return parseList(body, requestName).map((entry) => {
    const info = parseRecord(entry, requestName)
    const transactionId = parseHash(prefixed(info['id']), requestName).slice(2)
    if (ids.has(transactionId) || parseInteger(info['blockNumber'], requestName) !== blockNumber)
      throw new MalformedAnswerError(requestName)
    ids.add(transactionId)
    const { succeeded, logs } = readInfo(info, requestName)
    return { transactionId, succeeded, logs }
  })
}

/** Burnt fee in millionths of a TRX; `undefined` if no block holds it. @throws MalformedAnswerError */
export function parseFee(body: unknown): bigint | undefined {
  const requestName = 'gettransactioninfobyid'
  if (isNothing(body)) return undefined
  return parseInteger(parseRecord(body, requestName)['fee'] ?? 0, requestName)
}

/** A transaction from bytes that hash to its id; `undefined` if it is not known. @throws MalformedAnswerError */
export function parseTransaction(body: unknown, transactionId: string): TronTransaction | undefined {
  const requestName = 'gettransactionbyid'
  if (isNothing(body)) return undefined
  const digits = parseRecord(body, requestName)['raw_data_hex']
  if (typeof digits !== 'string' || digits.length > 2 * rawBytesMax)
    throw new MalformedAnswerError(requestName)
  const raw = hexToBytes(parseBytes(`0x${digits}`, requestName))
  if (bytesToHex(sha256(raw)) !== `0x${transactionId}`) throw new MalformedAnswerError(requestName)
  return readRawTransaction(raw, requestName)
}

/**
 * The `bool` that a simulated call returned. The answer to a call that reverts has `result: true` too, but with a
 * message or code beside it. @throws MalformedAnswerError
 */
export function parseConstantBool(body: unknown): boolean {
  const requestName = 'triggerconstantcontract'
  const answer = parseRecord(body, requestName)
  const { result, message, code } = parseRecord(answer['result'], requestName)
  const [word, ...more] = parseList(answer['constant_result'], requestName)
  if (result !== true || message !== undefined || code !== undefined || more.length > 0) {
    throw new MalformedAnswerError(requestName)
  }
  const value = BigInt(parseHash(prefixed(word), requestName))
  if (value > 1n) throw new MalformedAnswerError(requestName)
  return value === 1n
}

/**
 * True for a contract. `bytecode` is not checked: contracts made by contracts have none. @throws MalformedAnswerError
 */
export function parseHasContract(body: unknown): boolean {
  const requestName = 'getcontract'
  if (isNothing(body)) return false
  if (typeof parseRecord(body, requestName)['contract_address'] !== 'string')
    throw new MalformedAnswerError(requestName)
  return true
}

/** The code that runs at an address; `0x` where it holds no contract. @throws MalformedAnswerError */
export function parseRuntimeCode(body: unknown): Hex {
  const requestName = 'getcontractinfo'
  return isNothing(body)
    ? '0x'
    : parseBytes(prefixed(parseRecord(body, requestName)['runtimecode']), requestName)
}

function readInfo(info: Readonly<Record<string, unknown>>, subject: string): TronInfo {
  return {
    blockNumber: parseInteger(info['blockNumber'], subject),
    timestampSeconds: parseInteger(info['blockTimeStamp'], subject) / 1_000n,
    succeeded: hasSucceeded(info, subject),
    logs: parseList(info['log'] ?? [], subject).map((log, index) => parseLog(log, index, subject)),
  }
}

/** Results of success; some versions of nodes misspell it. */
const successResults: ReadonlySet<string> = new Set(['SUCCESS', 'SUCESS'])

/** Nodes leave both results out for transactions that can only succeed, such as transfers. */
function hasSucceeded(info: Readonly<Record<string, unknown>>, subject: string): boolean {
  const { result = 'SUCCESS' } = info
  const { result: contractResult = 'DEFAULT' } = parseRecord(info['receipt'] ?? {}, subject)
  if (typeof result !== 'string' || typeof contractResult !== 'string')
    throw new MalformedAnswerError(subject)
  return successResults.has(result) && (contractResult === 'DEFAULT' || contractResult === 'SUCCESS')
}

/** A log, whose address nodes write without the prefix byte. */
function parseLog(value: unknown, index: number, subject: string): EvmLog {
  const log = parseRecord(value, subject)
  const topics = parseList(log['topics'] ?? [], subject).map((topic) => parseHash(prefixed(topic), subject))
  if (topics.length > 4) throw new MalformedAnswerError(subject)
  return {
    address: parseAddress(prefixed(log['address']), subject),
    topics,
    data: parseBytes(prefixed(log['data'] ?? ''), subject),
    logIndex: BigInt(index),
  }
}

/** A JSON number that is exact and not negative. @throws MalformedAnswerError */
export function parseInteger(value: unknown, subject: string): bigint {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new MalformedAnswerError(subject)
  }
  return BigInt(value)
}

/** A node's hex text with `0x`; other values are left as they are, for a parser to refuse. */
export function prefixed(value: unknown): unknown {
  return typeof value === 'string' ? `0x${value}` : value
}

/** `{}`: there is no such thing. */
export function isNothing(body: unknown): boolean {
  return typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0
}
