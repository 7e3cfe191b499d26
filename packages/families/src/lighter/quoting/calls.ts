import { parseWholeUnits } from '@causeway/core'
import type { HeadTracking, RpcAnswer, RpcCall } from '@causeway/rpc'
import { MalformedAnswerError, parseList, parseRecord, resultOf, unlessUnreadable } from '@causeway/rpc'

/**
 * Calls that quoting and paying make to endpoints of the exchange through a `ChainClient`, and strict parsers of the
 * answers. `reading/answers.ts` has those of facts. All parsers throw `MalformedAnswerError`.
 * @source zklighter-perps 1.0.272, `openapi.json`
 */

const get = (path: string): RpcCall => ({ method: path, params: [] })

const codes = { ok: 200, accountNotFound: 21_100, transactionNotFound: 21_500 }

/** Asks for the exchange's time. Its milliseconds stand for heights, because an executed transfer is final. */
export const statusCall = get('/')

/** Follows the exchange's seconds, by which an endpoint's lag is measured. */
export const lighterHeadTracking: HeadTracking = {
  call: statusCall,
  readHead: ({ method }, result) =>
    method === statusCall.method ? unlessUnreadable(() => parseSeconds({ ok: true, result })) : undefined,
}

/** Unix seconds. */
export function parseSeconds(answer: RpcAnswer | undefined): bigint {
  const requestName = 'status'
  return parseInteger(parseRecord(resultOf(answer, requestName), requestName)['timestamp'], requestName)
}

export const accountCall = (account: string): RpcCall => get(`/api/v1/account?by=index&value=${account}`)

/** Free balances of an account in smallest units by currency: `0` for perps USDC, the asset's index for others. */
export type LighterHoldings = ReadonlyMap<string, bigint>

const usdcDecimals = 6
const assetsMax = 1_000

/** `undefined` when there is no such account. @param decimalsOf assets without decimals are left out */
export function parseHoldings(
  answer: RpcAnswer | undefined,
  account: string,
  decimalsOf: (currency: string) => number | undefined,
): LighterHoldings | undefined {
  const requestName = 'account'
  const body = parseAnswer(answer, codes.accountNotFound, requestName)
  if (body === undefined) return undefined
  const [entry, ...others] = parseList(body['accounts'], requestName)
  if (entry === undefined || others.length > 0) throw new MalformedAnswerError(requestName)
  const { index, available_balance: available, assets } = parseRecord(entry, requestName)
  if (parseInteger(index, requestName).toString() !== account) throw new MalformedAnswerError(requestName)
  const listedAssets = parseList(assets, requestName)
  if (listedAssets.length > assetsMax) throw new MalformedAnswerError(requestName)
  const spot = listedAssets.flatMap((asset): readonly [string, bigint][] => {
    const { asset_id: id, balance, locked_balance: locked } = parseRecord(asset, requestName)
    const currency = parseInteger(id, requestName).toString()
    const decimals = decimalsOf(currency)
    if (decimals === undefined) return []
    const free = parseUnits(balance, decimals, requestName) - parseUnits(locked, decimals, requestName)
    return [[currency, free > 0n ? free : 0n]]
  })
  return new Map([...spot, ['0', parseUnits(available, usdcDecimals, requestName)]])
}

export const hasAccount = (answer: RpcAnswer | undefined, account: string): boolean =>
  parseHoldings(answer, account, () => undefined) !== undefined

/**
 * Asks for a transfer's fee. @param token of the paying account: without one endpoints may refuse. @source rule F-165
 */
export function transferFeeCall(from: string, to: string, token?: string): RpcCall {
  const auth = token === undefined ? '' : `&auth=${encodeURIComponent(token)}`
  return get(`/api/v1/transferFeeInfo?account_index=${from}&to_account_index=${to}${auth}`)
}

/** Millionths of a dollar. */
export function parseTransferFee(answer: RpcAnswer | undefined): bigint {
  const requestName = 'transferFeeInfo'
  return parseInteger(parseAnswer(answer, undefined, requestName)?.['transfer_fee_usdc'], requestName)
}

export const nextNonceCall = (account: string, apiKeyIndex: number): RpcCall =>
  get(`/api/v1/nextNonce?account_index=${account}&api_key_index=${apiKeyIndex}`)

export function parseNextNonce(answer: RpcAnswer | undefined): bigint {
  const requestName = 'nextNonce'
  return parseInteger(parseAnswer(answer, undefined, requestName)?.['nonce'], requestName)
}

export const assetsCall = get('/api/v1/assetDetails')

/** Decimals by asset index. */
export function parseAssets(answer: RpcAnswer | undefined): ReadonlyMap<string, number> {
  const requestName = 'assetDetails'
  return new Map(
    parseList(parseAnswer(answer, undefined, requestName)?.['asset_details'], requestName).map((entry) => {
      const { asset_id: id, decimals } = parseRecord(entry, requestName)
      return [parseInteger(id, requestName).toString(), Number(parseInteger(decimals, requestName))] as const
    }),
  )
}

export const transactionCall = (transactionId: string): RpcCall =>
  get(`/api/v1/tx?by=hash&value=${transactionId}`)

/** State of a transaction. `content`: its signed content, JSON text as the exchange stores it. */
export type SeenOutcome = {
  readonly outcome: 'waiting' | 'executed' | 'failed'
  readonly content: string
}

/** `undefined` where there is no such transaction. @source lighter-ts-sdk, `TransactionStatus` */
export function parseOutcome(answer: RpcAnswer | undefined, transactionId: string): SeenOutcome | undefined {
  const requestName = 'tx'
  const body = parseAnswer(answer, codes.transactionNotFound, requestName)
  if (body === undefined) return undefined
  const { hash, status, info: content } = body
  if (hash !== transactionId || typeof content !== 'string') throw new MalformedAnswerError(requestName)
  const outcome = outcomes[Number(parseInteger(status, requestName))]
  if (outcome === undefined) throw new MalformedAnswerError(requestName)
  return { outcome, content }
}

/** By the exchange's number of a status. */
const outcomes = ['waiting', 'waiting', 'executed', 'executed', 'failed', 'failed'] as const

/** Body of a successful answer; `undefined` if its code is `notFound`. */
function parseAnswer(
  answer: RpcAnswer | undefined,
  notFound: number | undefined,
  subject: string,
): Readonly<Record<string, unknown>> | undefined {
  const body = parseRecord(resultOf(answer, subject), subject)
  if (notFound !== undefined && body['code'] === notFound) return undefined
  if (body['code'] !== codes.ok) throw new MalformedAnswerError(subject)
  return body
}

/** A JSON number that is exact and not negative. */
function parseInteger(value: unknown, subject: string): bigint {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new MalformedAnswerError(subject)
  return BigInt(value)
}

/** Units of a decimal text, rounded down; 0 for a negative balance, which losses may make. */
function parseUnits(value: unknown, decimals: number, subject: string): bigint {
  if (typeof value !== 'string') throw new MalformedAnswerError(subject)
  if (value.startsWith('-')) return 0n
  const units = parseWholeUnits(value, decimals)
  if (units === undefined) throw new MalformedAnswerError(subject)
  return units
}
