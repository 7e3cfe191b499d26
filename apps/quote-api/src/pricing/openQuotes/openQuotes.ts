import { bpsDenominator, divideDown, type UsdX18 } from '@causeway/core'
import { QuoteError } from '../errors.ts'

/**
 * The holder of quotes: the request's `user` together with the caller, named by API key or network. `user` is only a
 * claim: alone it would let anybody use up somebody else's limit. @source Q-32
 */
export type QuoteHolder = { readonly user: string; readonly caller: string }

/** Payouts that unexpired quotes of this process promise, by holder and paying balance. */
export interface OpenQuotes {
  /**
   * Counts a promise until its quote expires, or refuses it. It checks and counts in one synchronous step, so that
   * concurrent quotes count each other.
   * @returns a function that takes the promise back, for a quote that is not answered after all
   * @throws QuoteError OPEN_QUOTES_LIMIT
   */
  take(holder: QuoteHolder, promise: QuotePromise): () => void
}

export type QuotePromise = {
  /** Asset and chain of the solver's balance that pays it. */
  readonly payingBalance: string
  /** Worth of the payout. */
  readonly usdX18: UsdX18
  /** Worth of all that the solver can pay from that balance. */
  readonly payableUsdX18: UsdX18
  readonly nowSeconds: number
  readonly expiresAtSeconds: number
}

/**
 * Promises of one holder and balance. `ends[i]` is a second at which promises expire, `worths[i]` their worth together.
 * Two arrays suffice, because most holders have one promise.
 */
type Promises = { totalUsdX18: UsdX18; readonly ends: number[]; readonly worths: UsdX18[] }

/** Most holders of one generation, see `createOpenQuotes`; with more, those that were not used in it are forgotten. */
const holdersMax = 20_000

/**
 * Bounds what one holder's open quotes promise at once from each balance. Kept in memory: a restart forgets one
 * lifetime of quotes.
 * @param options.perUserBps part of what the solver can pay from the balance; 0 = off
 * @source Q-32
 */
export function createOpenQuotes(options: { readonly perUserBps: number }): OpenQuotes {
  const perUserBps = BigInt(options.perUserBps)
  // Forgets old entries without a search: an entry that was not used for a whole quote lifetime holds no
  // promise. So the present generation and the one before suffice, and each lasts one lifetime. Use moves an
  // entry to the present.
  let holders = new Map<string, Promises>()
  let earlierHolders = new Map<string, Promises>()
  let nextGenerationSeconds = 0

  function promisesOf(name: string, { nowSeconds, expiresAtSeconds }: QuotePromise): Promises {
    if (nowSeconds > nextGenerationSeconds || holders.size >= holdersMax) {
      earlierHolders = holders
      holders = new Map()
      nextGenerationSeconds = expiresAtSeconds
    }
    const storedPromises = holders.get(name) ?? earlierHolders.get(name)
    const promises: Promises = storedPromises ?? { totalUsdX18: 0n, ends: [], worths: [] }
    holders.set(name, promises)
    dropEnded(promises, nowSeconds)
    return promises
  }

  return {
    take({ user, caller }, promise) {
      if (perUserBps === 0n) return nothingTaken
      const { usdX18, expiresAtSeconds } = promise
      // Lower case, so that two spellings of an EVM account are one holder.
      const promises = promisesOf(`${caller} ${user.toLowerCase()} ${promise.payingBalance}`, promise)
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

/** Adds a worth that ends at a second; a negative one takes a promise back. */
function add(promises: Promises, end: number, usdX18: UsdX18): void {
  const { ends, worths } = promises
  const index = ends.lastIndexOf(end)
  const worth = worths[index]
  // Nothing to take back: `dropEnded` has subtracted the expired promise.
  if (worth === undefined && usdX18 < 0n) return
  if (worth === undefined) {
    ends.push(end)
    worths.push(usdX18)
  } else {
    worths[index] = worth + usdX18
  }
  promises.totalUsdX18 += usdX18
}

/** Subtracts expired promises. They stand first, because all quotes have the same lifetime. */
function dropEnded(promises: Promises, nowSeconds: number): void {
  const { ends, worths } = promises
  let endedCount = 0
  // Behind the last promise the loop ends, since `nowSeconds` is not below itself.
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
  // A promise still counts in the second at which it expires.
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
