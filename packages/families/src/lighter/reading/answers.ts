import type { Hex } from '@causeway/core'
import { MalformedAnswerError, parseAddress, parseList, parseRecord } from '@causeway/rpc'
import type { LighterWithdrawal } from '../rules/withdrawal.ts'

/**
 * Answers of the HTTP API read strictly: `code` 200 is an answer, two other codes say that there is no such
 * thing, and everything else makes the endpoint one that did not answer.
 * @source zklighter-perps 1.0.272, `openapi.json`
 */

/** A transfer as its sender signed it. Numbers are uint64. */
export type LighterTransfer = Omit<LighterWithdrawal, 'lighterChainId'> & {
  /** At most 32 bytes, as many as were sent. */
  readonly memo: Hex
}

type TransactionStatus = 'waiting' | 'executed' | 'failed'

export type LighterTransaction = {
  /** Canonical. */
  readonly transactionId: string
  readonly status: TransactionStatus
  readonly queuedAtMs: bigint
  /** Absent for every other type of transaction. */
  readonly transfer: LighterTransfer | undefined
  /** Nonce that the transaction takes when it is executed; absent if the endpoint does not show it. */
  readonly nonce: LighterNonce | undefined
}

/** One nonce of one key of an account: one transaction takes it. */
export type LighterNonce = {
  readonly account: bigint
  readonly apiKeyIndex: bigint
  readonly nonce: bigint
}

/** `key` is the address that signs for the account, in lower case; absent where it has none. */
export type LighterAccount = { readonly key: Hex | undefined }

/** @source lighter-ts-sdk, `TransactionStatus` */
const statuses: ReadonlyMap<bigint, TransactionStatus> = new Map([
  [0n, 'waiting'],
  [1n, 'waiting'],
  [2n, 'executed'],
  [3n, 'executed'],
  [4n, 'failed'],
  [5n, 'failed'],
])
const transferType = 12n
const codes = { ok: 200n, accountNotFound: 21_100n, transactionNotFound: 21_500n }
const uint64Max = 2n ** 64n - 1n
const memoBytesMax = 32
/** 2001 to 2286: a time in seconds or microseconds would be another hub address. */
const plausibleMs = { min: 10n ** 12n, max: 10n ** 13n }

/** `undefined` when there is no such transaction. @throws MalformedAnswerError */
export function parseTransaction(text: string, transactionId: string): LighterTransaction | undefined {
  const requestName = 'tx'
  const body = parseBody(text, codes.transactionNotFound, requestName)
  if (body === undefined) return undefined
  const { hash, queued_at: queuedAt } = body
  if (typeof hash !== 'string' || hash.toLowerCase() !== transactionId)
    throw new MalformedAnswerError(requestName)
  const queuedAtMs = parseUint64(queuedAt, requestName)
  if (queuedAtMs < plausibleMs.min || queuedAtMs >= plausibleMs.max)
    throw new MalformedAnswerError(requestName)
  return { transactionId, queuedAtMs, ...parseListed(body, requestName) }
}

/** Entry of a transaction in an account's list. */
export type ListedTransfer = Pick<LighterTransaction, 'status' | 'transfer' | 'nonce'>

/** A page of an account's transactions. @throws MalformedAnswerError */
export function parseTransactionList(text: string): readonly ListedTransfer[] {
  const requestName = 'accountTxs'
  const body = parseRecord(parseExactJson(text, requestName), requestName)
  if (body['code'] !== codes.ok) throw new MalformedAnswerError(requestName)
  return parseList(body['txs'], requestName).map((entry) =>
    parseListed(parseRecord(entry, requestName), requestName),
  )
}

/**
 * Result of submitting a transfer. A transfer that another one made impossible counts as refused, and is read
 * separately.
 * @throws MalformedAnswerError
 */
export function parseSendOutcome(text: string): { readonly isTaken: boolean; readonly message: string } {
  const requestName = 'sendTx'
  const { code, message } = parseRecord(parseExactJson(text, requestName), requestName)
  if (typeof code !== 'bigint') throw new MalformedAnswerError(requestName)
  return {
    isTaken: code === codes.ok,
    message: typeof message === 'string' ? message.slice(0, 200) : 'refused',
  }
}

function parseListed(body: Readonly<Record<string, unknown>>, subject: string): ListedTransfer {
  const status = statuses.get(parseUint64(body['status'], subject))
  if (status === undefined) throw new MalformedAnswerError(subject)
  const transfer =
    parseUint64(body['type'], subject) === transferType ? parseTransfer(body['info']) : undefined
  return { status, transfer, nonce: nonceOf(body, transfer) }
}

/** `undefined` when there is no such account. @throws MalformedAnswerError */
export function parseAccount(text: string, account: string): LighterAccount | undefined {
  const requestName = 'account'
  const body = parseBody(text, codes.accountNotFound, requestName)
  if (body === undefined) return undefined
  const [only, ...others] = parseList(body['accounts'], requestName)
  if (only === undefined || others.length > 0) throw new MalformedAnswerError(requestName)
  const { index, l1_address: address } = parseRecord(only, requestName)
  if (parseUint64(index, requestName).toString() !== account) throw new MalformedAnswerError(requestName)
  return { key: address === '' ? undefined : parseKey(address, requestName) }
}

/** The contract on layer 1, in lower case. @throws MalformedAnswerError */
export function parseContract(text: string): Hex {
  const requestName = 'info'
  return parseAddress(
    parseRecord(parseExactJson(text, requestName), requestName)['contract_address'],
    requestName,
  )
}

/** @throws MalformedAnswerError */
function parseBody(
  text: string,
  notFound: bigint,
  subject: string,
): Readonly<Record<string, unknown>> | undefined {
  const body = parseRecord(parseExactJson(text, subject), subject)
  if (body['code'] === notFound) return undefined
  if (body['code'] !== codes.ok) throw new MalformedAnswerError(subject)
  return body
}

/** Without its content a transfer has no meaning: the API may list one before it knows what is in it. */
function parseTransfer(info: unknown): LighterTransfer {
  const subject = 'tx info'
  if (typeof info !== 'string') throw new MalformedAnswerError(subject)
  const parts = parseRecord(parseExactJson(info, subject), subject)
  const part = (name: string) => parseUint64(parts[name], subject)
  const assetIndex = part('AssetIndex')
  // There is none, and its index would be read as the native currency.
  if (assetIndex === 0n) throw new MalformedAnswerError(subject)
  return {
    ...{ nonce: part('Nonce'), apiKeyIndex: part('ApiKeyIndex') },
    ...{ fromAccountIndex: part('FromAccountIndex'), fromRouteType: part('FromRouteType') },
    ...{ toAccountIndex: part('ToAccountIndex'), toRouteType: part('ToRouteType') },
    ...{ assetIndex, amount: part('Amount'), usdcFee: part('USDCFee') },
    memo: parseMemo(parts['Memo'], subject),
  }
}

/** Nonce of a transaction: for a transfer as its sender signed it, otherwise as the endpoint reports it. */
function nonceOf(
  body: Readonly<Record<string, unknown>>,
  transfer: LighterTransfer | undefined,
): LighterNonce | undefined {
  if (transfer !== undefined) {
    const { fromAccountIndex: account, apiKeyIndex, nonce } = transfer
    return { account, apiKeyIndex, nonce }
  }
  const { account_index: account, api_key_index: apiKeyIndex, nonce } = body
  const isTold = typeof account === 'bigint' && typeof apiKeyIndex === 'bigint' && typeof nonce === 'bigint'
  return isTold ? { account, apiKeyIndex, nonce } : undefined
}

function parseMemo(value: unknown, subject: string): Hex {
  const bytes = parseList(value, subject).map((byte) => {
    if (typeof byte === 'bigint' && byte >= 0n && byte <= 255n) return Number(byte)
    throw new MalformedAnswerError(subject)
  })
  if (bytes.length > memoBytesMax) throw new MalformedAnswerError(subject)
  return `0x${Buffer.from(bytes).toString('hex')}`
}

function parseUint64(value: unknown, subject: string): bigint {
  if (typeof value === 'bigint' && value >= 0n && value <= uint64Max) return value
  throw new MalformedAnswerError(subject)
}

function parseKey(value: unknown, subject: string): Hex | undefined {
  const key = parseAddress(value, subject)
  return /^0x0{40}$/.test(key) ? undefined : key
}

/** No true answer comes near it. */
const charactersMax = 1024 * 1024

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
const integer = /^-?\d{1,40}$/
const mark = '\u0000'

/**
 * JSON with every integer as a bigint: amounts may be above 2^53, where a number would be another amount.
 * @throws MalformedAnswerError for what is no JSON, or too long
 */
export function parseExactJson(text: string, subject: string): unknown {
  if (text.length > charactersMax) throw new MalformedAnswerError(subject)
  try {
    // First as it stands: marking could mend what is no JSON.
    JSON.parse(text)
    const marked = text.replace(tokens, (token) => (integer.test(token) ? `"\\u0000${token}"` : token))
    return JSON.parse(marked, (_name, value: unknown) =>
      typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
    )
  } catch {
    throw new MalformedAnswerError(subject)
  }
}
