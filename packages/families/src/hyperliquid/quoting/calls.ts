import { parseWholeUnits } from '@causeway/core'
import type { HeadTracking, RpcAnswer, RpcCall } from '@causeway/rpc'
import { MalformedAnswerError, parseList, parseRecord, resultOf, unlessUnreadable } from '@causeway/rpc'
import { decimalsMax, parseSpotTokens, type SpotToken } from '../reading/answers.ts'
import { hyperliquidNativeDecimals } from '../rules/withdrawalTransfer.ts'

/**
 * Calls of quotes to an endpoint of the exchange, through a client that asks by paths, and strict parsers of the
 * answers. All parsers throw `MalformedAnswerError`. @source Hyperliquid API, "Info endpoint"
 */

const info = (request: Readonly<Record<string, string>>): RpcCall => ({ method: '/info', params: [request] })

/** The exchange's own time; milliseconds of it stand for heights of a chain whose blocks are final when they are shown. */
export const statusCall = info({ type: 'exchangeStatus' })

export function parseTime(answer: RpcAnswer | undefined): bigint {
  const requestName = 'exchangeStatus'
  const { time } = parseRecord(resultOf(answer, requestName), requestName)
  if (typeof time !== 'number' || !Number.isSafeInteger(time) || time < 0)
    throw new MalformedAnswerError(requestName)
  return BigInt(time)
}

export const hyperliquidHeadTracking: HeadTracking = {
  call: statusCall,
  readHead: ({ params: [request] }, result) =>
    request === statusCall.params[0] ? unlessUnreadable(() => parseTime({ ok: true, result })) : undefined,
}

/** @param source who would pay */
export const transferCheckCall = (user: string, source: string): RpcCall =>
  info({ type: 'preTransferCheck', user, source })

/** Preconditions of an account's first transfer, and its cost beside the amount. */
export type TransferCheck = {
  readonly exists: boolean
  /** Units of 8 decimals; 0 for an account that is there. */
  readonly accountFee: bigint
}

export function parseTransferCheck(answer: RpcAnswer | undefined): TransferCheck {
  const requestName = 'preTransferCheck'
  const { fee, userExists } = parseRecord(resultOf(answer, requestName), requestName)
  if (typeof userExists !== 'boolean') throw new MalformedAnswerError(requestName)
  return {
    exists: userExists,
    accountFee: userExists ? 0n : parseUnits(fee, hyperliquidNativeDecimals, requestName),
  }
}

export const modeCall = (user: string): RpcCall => info({ type: 'userAbstraction', user })

/** True where an account has one balance of each asset, on the spot side, and sends from there alone. @source F-90 */
export function parseHasOneSide(answer: RpcAnswer | undefined): boolean {
  const requestName = 'userAbstraction'
  const mode = resultOf(answer, requestName)
  if (mode === 'unifiedAccount' || mode === 'portfolioMargin') return true
  if (mode === 'default' || mode === 'disabled' || mode === 'dexAbstraction') return false
  throw new MalformedAnswerError(requestName)
}

export const perpsCall = (user: string): RpcCall => info({ type: 'clearinghouseState', user })

/** Amount that an account can withdraw from the first perps dex, in 8 decimals. */
export function parseWithdrawable(answer: RpcAnswer | undefined): bigint {
  const requestName = 'clearinghouseState'
  const { withdrawable } = parseRecord(resultOf(answer, requestName), requestName)
  return parseUnits(withdrawable, hyperliquidNativeDecimals, requestName)
}

export const spotCall = (user: string): RpcCall => info({ type: 'spotClearinghouseState', user })

const balancesMax = 2_000
/** As many digits as any decimal text of the exchange has, and the decimals of any token. */
const digitsKept = decimalsMax

/**
 * Free balances by symbol. The exchange keeps more digits (`weiDecimals`) than it sends (`szDecimals`): what is less than one
 * unit is left out.
 * @source F-88
 */
export function parseSpotBalances(
  answer: RpcAnswer | undefined,
  decimalsOf: (symbol: string) => number | undefined,
): ReadonlyMap<string, bigint> {
  const requestName = 'spotClearinghouseState'
  const listed = parseList(parseRecord(resultOf(answer, requestName), requestName)['balances'], requestName)
  if (listed.length > balancesMax) throw new MalformedAnswerError(requestName)
  return new Map(
    listed.flatMap((entry): readonly [string, bigint][] => {
      const { coin, total, hold } = parseRecord(entry, requestName)
      if (typeof coin !== 'string') throw new MalformedAnswerError(requestName)
      const decimals = decimalsOf(coin)
      if (decimals === undefined) return []
      const free = parseUnits(total, digitsKept, requestName) - parseUnits(hold, digitsKept, requestName)
      return [[coin, free > 0n ? free / 10n ** BigInt(digitsKept - decimals) : 0n]]
    }),
  )
}

export const tokensCall = info({ type: 'spotMeta' })

export const parseTokens = (answer: RpcAnswer | undefined): readonly SpotToken[] =>
  parseSpotTokens(resultOf(answer, 'spotMeta'))

/** Losses may make a balance negative: then there is nothing. */
function parseUnits(value: unknown, decimals: number, subject: string): bigint {
  if (typeof value !== 'string') throw new MalformedAnswerError(subject)
  if (value.startsWith('-')) return 0n
  const units = parseWholeUnits(value, decimals)
  if (units === undefined) throw new MalformedAnswerError(subject)
  return units
}
