import type { Hex } from '@causeway/core'
import { MalformedAnswerError, parseAddress, parseList, parseRecord } from '@causeway/rpc'
import type { LighterWithdrawal } from '../rules/withdrawal.ts'

/**
 * Strict parsers of the exchange's HTTP API, for facts. `code` 200 is an answer, and two other codes mean that there
 * is no such account or transaction. With anything else the endpoint counts as one that did not answer.
 * @source zklighter-perps 1.0.272, `openapi.json`
 */

/** A transfer as its sender signed it, without the chain id, which the API does not show. Numbers are uint64. */
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

/** One nonce of one API key of an account: only one transaction can be executed with it. */
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
/**
 * Milliseconds of the years 2001 to 2286. A time in seconds or microseconds is refused: it would be attested wrongly.
 */
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

/** Result of submitting a transfer: accepted, or refused with a message. @throws MalformedAnswerError */
export function parseSendOutcome(text: string): { readonly isAccepted: boolean; readonly message: string } {
  const requestName = 'sendTx'
  const { code, message } = parseRecord(parseExactJson(text, requestName), requestName)
  if (typeof code !== 'bigint') throw new MalformedAnswerError(requestName)
  return {
    isAccepted: code === codes.ok,
    message: typeof message === 'string' ? message.slice(0, refusalCharactersMax) : 'refused',
  }
}

const refusalCharactersMax = 200

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
  const [entry, ...others] = parseList(body['accounts'], requestName)
  if (entry === undefined || others.length > 0) throw new MalformedAnswerError(requestName)
  const { index, l1_address: address } = parseRecord(entry, requestName)
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

/** A transfer from its signed content. The API may list one before it knows the content: that is no answer. */
function parseTransfer(info: unknown): LighterTransfer {
  const subject = 'tx info'
  if (typeof info !== 'string') throw new MalformedAnswerError(subject)
  const content = parseRecord(parseExactJson(info, subject), subject)
  const number = (name: string) => parseUint64(content[name], subject)
  const assetIndex = number('AssetIndex')
  // No asset has the index 0, which would be taken for the native currency.
  if (assetIndex === 0n) throw new MalformedAnswerError(subject)
  return {
    nonce: number('Nonce'),
    apiKeyIndex: number('ApiKeyIndex'),
    fromAccountIndex: number('FromAccountIndex'),
    fromRouteType: number('FromRouteType'),
    toAccountIndex: number('ToAccountIndex'),
    toRouteType: number('ToRouteType'),
    assetIndex,
    amount: number('Amount'),
    usdcFee: number('USDCFee'),
    memo: parseMemo(content['Memo'], subject),
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
  const isShown = typeof account === 'bigint' && typeof apiKeyIndex === 'bigint' && typeof nonce === 'bigint'
  return isShown ? { account, apiKeyIndex, nonce } : undefined
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

/** Undefined for the zero address, by which the exchange says that there is no key. */
function parseKey(value: unknown, subject: string): Hex | undefined {
  const key = parseAddress(value, subject)
  return /^0x0{40}$/.test(key) ? undefined : key
}

/** Limit of an answer, far above any true one. */
const charactersMax = 1024 * 1024

/** Strings and numbers of a JSON text: strings are matched too, so that digits inside them are left alone. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
const integer = /^-?\d{1,40}$/
/** First character of the strings by which integers are replaced. */
const integerPrefix = '\u0000'

/**
 * Parses JSON with every integer as a bigint: amounts may be above 2^53, where a number is not exact.
 * @throws MalformedAnswerError for what is no JSON, or too long
 */
export function parseExactJson(text: string, subject: string): unknown {
  if (text.length > charactersMax) throw new MalformedAnswerError(subject)
  try {
    // Parsed unchanged first: replacing integers could make JSON of a text that is none.
    JSON.parse(text)
    const withoutIntegers = text.replace(tokens, (token) =>
      integer.test(token) ? `"\\u0000${token}"` : token,
    )
    return JSON.parse(withoutIntegers, (_name, value: unknown) =>
      typeof value === 'string' && value.startsWith(integerPrefix)
        ? BigInt(value.slice(integerPrefix.length))
        : value,
    )
  } catch {
    throw new MalformedAnswerError(subject)
  }
}
