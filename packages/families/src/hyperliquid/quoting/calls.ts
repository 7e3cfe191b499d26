import { parseWholeUnits } from '@causeway/core'
import type { HeadTracking, RpcAnswer, RpcCall } from '@causeway/rpc'
import { MalformedAnswerError, parseList, parseRecord, resultOf, unlessUnreadable } from '@causeway/rpc'
import { decimalsMax, parseSpotTokens, type SpotToken } from '../reading/answers.ts'
import { hyperliquidNativeDecimals } from '../rules/withdrawalTransfer.ts'

/**
 * Calls that quoting and paying make to endpoints of the exchange through a `ChainClient`, and strict parsers of the
 * answers. `reading/answers.ts` has those of facts. All parsers throw `MalformedAnswerError`.
 * @source Hyperliquid API, "Info endpoint"
 */

const info = (request: Readonly<Record<string, string>>): RpcCall => ({ method: '/info', params: [request] })

/** Asks for the exchange's time. Its milliseconds stand for heights, because what the exchange shows is final. */
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
  // All calls have the same path, so the request itself tells which call was answered.
  readHead: ({ params: [request] }, result) =>
    request === statusCall.params[0] ? unlessUnreadable(() => parseTime({ ok: true, result })) : undefined,
}

/** Asks whether an account can be paid. @param source account that would pay */
export const transferCheckCall = (user: string, source: string): RpcCall =>
  info({ type: 'preTransferCheck', user, source })

/** Answer to `transferCheckCall`: if the exchange knows the account, and the fee of its first transfer. */
export type TransferCheck = {
  readonly exists: boolean
  /** Units of 8 decimals of a dollar; 0 for an existing account. */
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

/** Asks for an account's mode, which decides on which side it holds dollars. */
export const modeCall = (user: string): RpcCall => info({ type: 'userAbstraction', user })

/**
 * True if an account holds every asset on the spot side only, and can send nothing from its perps side. @source F-90
 */
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
/** Decimals in which free balances are computed: those of the longest text of the exchange. */
const computedDecimals = decimalsMax

/**
 * Free balances by symbol, in units of `decimalsOf`, rounded down: the exchange keeps more digits (`weiDecimals`)
 * than it moves (`szDecimals`). Symbols without decimals are left out.
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
      const free =
        parseUnits(total, computedDecimals, requestName) - parseUnits(hold, computedDecimals, requestName)
      return [[coin, free > 0n ? free / 10n ** BigInt(computedDecimals - decimals) : 0n]]
    }),
  )
}

export const tokensCall = info({ type: 'spotMeta' })

export const parseTokens = (answer: RpcAnswer | undefined): readonly SpotToken[] =>
  parseSpotTokens(resultOf(answer, 'spotMeta'))

/** Units of a decimal text; 0 for a negative balance, which losses may make. */
function parseUnits(value: unknown, decimals: number, subject: string): bigint {
  if (typeof value !== 'string') throw new MalformedAnswerError(subject)
  if (value.startsWith('-')) return 0n
  const units = parseWholeUnits(value, decimals)
  if (units === undefined) throw new MalformedAnswerError(subject)
  return units
}
