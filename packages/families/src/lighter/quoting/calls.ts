import { parseWholeUnits } from '@causeway/core'
import type { HeadTracking, RpcAnswer, RpcCall } from '@causeway/rpc'
import { MalformedAnswerError, parseList, parseRecord, resultOf, unlessUnreadable } from '@causeway/rpc'

/**
 * Calls of quotes and payments to an endpoint of the exchange, through a client that asks by paths, and strict parsers
 * of the answers. All parsers throw `MalformedAnswerError`.
 * @source zklighter-perps 1.0.272, `openapi.json`
 */

const get = (path: string): RpcCall => ({ method: path, params: [] })

const codes = { ok: 200, accountNotFound: 21_100, transactionNotFound: 21_500 }

/** The exchange's own time; milliseconds of it stand for heights of a chain that has no blocks to wait for. */
export const statusCall = get('/')

export const lighterHeadTracking: HeadTracking = {
  call: statusCall,
  readHead: ({ method }, result) =>
    method === statusCall.method ? unlessUnreadable(() => parseSeconds({ ok: true, result })) : undefined,
}

/** Unix seconds. */
export function parseSeconds(answer: RpcAnswer | undefined): bigint {
  const what = 'status'
  return parseInteger(parseRecord(resultOf(answer, what), what)['timestamp'], what)
}

export const accountCall = (account: string): RpcCall => get(`/api/v1/account?by=index&value=${account}`)

/** Balances of an account in smallest units: perps USDC is the native currency, other assets go by their index. */
export type LighterHoldings = ReadonlyMap<string, bigint>

const usdcDecimals = 6
const assetsMax = 1_000

/** `undefined` when there is no such account. @param decimalsOf of an asset that is quoted */
export function parseHoldings(
  answer: RpcAnswer | undefined,
  account: string,
  decimalsOf: (currency: string) => number | undefined,
): LighterHoldings | undefined {
  const what = 'account'
  const body = parseAnswer(answer, codes.accountNotFound, what)
  if (body === undefined) return undefined
  const [only, ...others] = parseList(body['accounts'], what)
  if (only === undefined || others.length > 0) throw new MalformedAnswerError(what)
  const { index, available_balance: available, assets } = parseRecord(only, what)
  if (parseInteger(index, what).toString() !== account) throw new MalformedAnswerError(what)
  const held = parseList(assets, what)
  if (held.length > assetsMax) throw new MalformedAnswerError(what)
  const spot = held.flatMap((entry): readonly [string, bigint][] => {
    const { asset_id: id, balance, locked_balance: locked } = parseRecord(entry, what)
    const currency = parseInteger(id, what).toString()
    const decimals = decimalsOf(currency)
    if (decimals === undefined) return []
    const free = parseUnits(balance, decimals, what) - parseUnits(locked, decimals, what)
    return [[currency, free > 0n ? free : 0n]]
  })
  return new Map([...spot, ['0', parseUnits(available, usdcDecimals, what)]])
}

export const hasAccount = (answer: RpcAnswer | undefined, account: string): boolean =>
  parseHoldings(answer, account, () => undefined) !== undefined

/** @param token of the account that pays: without one endpoints may refuse. @source rule F-165 */
export function transferFeeCall(from: string, to: string, token?: string): RpcCall {
  const auth = token === undefined ? '' : `&auth=${encodeURIComponent(token)}`
  return get(`/api/v1/transferFeeInfo?account_index=${from}&to_account_index=${to}${auth}`)
}

/** Millionths of a dollar. */
export function parseTransferFee(answer: RpcAnswer | undefined): bigint {
  const what = 'transferFeeInfo'
  return parseInteger(parseAnswer(answer, undefined, what)?.['transfer_fee_usdc'], what)
}

export const nextNonceCall = (account: string, apiKeyIndex: number): RpcCall =>
  get(`/api/v1/nextNonce?account_index=${account}&api_key_index=${apiKeyIndex}`)

export function parseNextNonce(answer: RpcAnswer | undefined): bigint {
  const what = 'nextNonce'
  return parseInteger(parseAnswer(answer, undefined, what)?.['nonce'], what)
}

export const assetsCall = get('/api/v1/assetDetails')

/** Decimals by asset index. */
export function parseAssets(answer: RpcAnswer | undefined): ReadonlyMap<string, number> {
  const what = 'assetDetails'
  return new Map(
    parseList(parseAnswer(answer, undefined, what)?.['asset_details'], what).map((entry) => {
      const { asset_id: id, decimals } = parseRecord(entry, what)
      return [parseInteger(id, what).toString(), Number(parseInteger(decimals, what))] as const
    }),
  )
}

export const transactionCall = (transactionId: string): RpcCall =>
  get(`/api/v1/tx?by=hash&value=${transactionId}`)

/** State of a transaction. `content` is its signed content, as the exchange keeps it. */
export type SeenOutcome = {
  readonly outcome: 'waiting' | 'executed' | 'failed'
  readonly content: string
}

/** `undefined` where there is no such transaction. @source lighter-ts-sdk, `TransactionStatus` */
export function parseOutcome(answer: RpcAnswer | undefined, transactionId: string): SeenOutcome | undefined {
  const what = 'tx'
  const body = parseAnswer(answer, codes.transactionNotFound, what)
  if (body === undefined) return undefined
  const { hash, status, info: content } = body
  if (hash !== transactionId || typeof content !== 'string') throw new MalformedAnswerError(what)
  const outcome = outcomes[Number(parseInteger(status, what))]
  if (outcome === undefined) throw new MalformedAnswerError(what)
  return { outcome, content }
}

const outcomes = ['waiting', 'waiting', 'executed', 'executed', 'failed', 'failed'] as const

function parseAnswer(
  answer: RpcAnswer | undefined,
  notFound: number | undefined,
  what: string,
): Readonly<Record<string, unknown>> | undefined {
  const body = parseRecord(resultOf(answer, what), what)
  if (notFound !== undefined && body['code'] === notFound) return undefined
  if (body['code'] !== codes.ok) throw new MalformedAnswerError(what)
  return body
}

/** A JSON number that is exact and not negative. */
function parseInteger(value: unknown, what: string): bigint {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new MalformedAnswerError(what)
  return BigInt(value)
}

/** Losses may make a balance negative: then there is nothing. */
function parseUnits(value: unknown, decimals: number, what: string): bigint {
  if (typeof value !== 'string') throw new MalformedAnswerError(what)
  if (value.startsWith('-')) return 0n
  const units = parseWholeUnits(value, decimals)
  if (units === undefined) throw new MalformedAnswerError(what)
  return units
}
