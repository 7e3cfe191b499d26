import { bpsDenominator, divideDown, type UsdX18 } from '@causeway/core'
import { QuoteError } from '../errors.ts'

/**
 * The holder of quotes. `user` is a claim of the caller: without the caller's own name, the key's or that of his network,
 * anybody could hold quotes in the name of somebody else. @source Q-32
 */
export type QuoteHolder = { readonly user: string; readonly caller: string }

/** Promises that can still be taken, by holder and place, in this process. */
export interface OpenQuotes {
  /**
   * Counts a promise until its quote expires, or refuses it. Both happen at once, so that quotes that are
   * asked for together count each other.
   * @returns takes it back, for a quote that is not answered after all
   * @throws QuoteError OPEN_QUOTES_LIMIT
   */
  take(holder: QuoteHolder, promise: QuotePromise): () => void
}

export type QuotePromise = {
  /** Asset and chain of the solver's balance that pays it. */
  readonly place: string
  /** Worth of what leaves the solver's inventory. */
  readonly usdX18: UsdX18
  /** Worth of what the solver can pay where this would be paid. */
  readonly payableUsdX18: UsdX18
  readonly nowSeconds: number
  readonly expiresAtSeconds: number
}

/** Two arrays, because most holders have one promise: a second at which promises end, and their worth. */
type Promises = { totalUsdX18: UsdX18; readonly ends: number[]; readonly worths: UsdX18[] }

/** Holders and places of one generation; with more, those who asked for nothing in this one are forgotten. */
const holdersMax = 20_000

/**
 * Bounds what one user holds open at once of each place. Kept in memory: a restart forgets one lifetime of quotes.
 * @param options.perUserBps part of what the solver can pay from the place; 0 = off
 * @source Q-32
 */
export function createOpenQuotes(options: { readonly perUserBps: number }): OpenQuotes {
  const perUserBps = BigInt(options.perUserBps)
  // A user without a request for a whole lifetime holds no promise, so two generations forget without a search.
  let holders = new Map<string, Promises>()
  let earlier = new Map<string, Promises>()
  let nextGenerationSeconds = 0

  function promisesOf(name: string, { nowSeconds, expiresAtSeconds }: QuotePromise): Promises {
    if (nowSeconds > nextGenerationSeconds || holders.size >= holdersMax) {
      earlier = holders
      holders = new Map()
      nextGenerationSeconds = expiresAtSeconds
    }
    const storedPromises = holders.get(name) ?? earlier.get(name)
    const promises: Promises = storedPromises ?? { totalUsdX18: 0n, ends: [], worths: [] }
    holders.set(name, promises)
    dropEnded(promises, nowSeconds)
    return promises
  }

  return {
    take({ user, caller }, promise) {
      if (perUserBps === 0n) return nothingTaken
      const { usdX18, expiresAtSeconds } = promise
      const promises = promisesOf(`${caller} ${user.toLowerCase()} ${promise.place}`, promise)
      const limit = divideDown(promise.payableUsdX18 * perUserBps, bpsDenominator)
      if (promises.totalUsdX18 + usdX18 > limit) throw refusal(promises, limit, promise)
      add(promises, expiresAtSeconds, usdX18)
      let isTaken = true
      return () => {
        if (isTaken) add(promises, expiresAtSeconds, -usdX18)
        isTaken = false
      }
    },
  }
}

const nothingTaken = (): void => {}

function add(promises: Promises, end: number, usdX18: UsdX18): void {
  const { ends, worths } = promises
  const at = ends.lastIndexOf(end)
  const held = worths[at]
  // A promise that has ended was already subtracted as a whole.
  if (held === undefined && usdX18 < 0n) return
  if (held === undefined) {
    ends.push(end)
    worths.push(usdX18)
  } else {
    worths[at] = held + usdX18
  }
  promises.totalUsdX18 += usdX18
}

/** Promises end in the order in which they were made. */
function dropEnded(promises: Promises, nowSeconds: number): void {
  const { ends, worths } = promises
  let endedCount = 0
  while ((ends[endedCount] ?? nowSeconds) < nowSeconds) {
    promises.totalUsdX18 -= worths[endedCount] ?? 0n
    endedCount += 1
  }
  if (endedCount === 0) return
  ends.splice(0, endedCount)
  worths.splice(0, endedCount)
}

function refusal({ totalUsdX18, ends }: Promises, limit: UsdX18, promise: QuotePromise): QuoteError {
  const { nowSeconds, expiresAtSeconds } = promise
  const firstEnd = ends[0] ?? expiresAtSeconds
  const retryAfterSeconds = Math.max(firstEnd - nowSeconds + 1, 1)
  const leftUsd = limit > totalUsdX18 ? limit - totalUsdX18 : 0n
  return new QuoteError(
    'OPEN_QUOTES_LIMIT',
    'The open quotes of this user hold what the solver can pay there: deposit for one of them, ask for less, or wait until they expire.',
    {
      data: {
        field: 'amount',
        limitUsd: wholeUsd(limit),
        openUsd: wholeUsd(totalUsdX18),
        leftUsd: wholeUsd(leftUsd),
        firstExpiresAt: firstEnd,
      },
      retryAfterSeconds,
    },
  )
}

const wholeUsd = (usdX18: UsdX18): string => (usdX18 / 10n ** 18n).toString()
