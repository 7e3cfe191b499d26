import { divideDown, divideUp, type ErrorData, UpstreamUnavailableError } from '@causeway/core'
import type { Clock } from '@causeway/market'
import { QuoteError, type QuoteErrorCode } from '../errors.ts'
import type { QuotableCurrency } from '../registry.ts'

// A refusal of an amount names one that is accepted when it is sent back. Fees are steps, pools are curves and
// there are several plans, so no formula over them is right for every route: the amount is found by pricing
// others, within a bound of tries and of time. Without one in that bound the refusal names none.

/** Mended by a larger amount, and by a smaller one. */
const tooLow: ReadonlySet<QuoteErrorCode> = new Set(['AMOUNT_TOO_LOW', 'RELAYER_GAS_TOO_HIGH'])
const tooHigh: ReadonlySet<QuoteErrorCode> = new Set(['INSUFFICIENT_LIQUIDITY'])
/** Met on the way down from an amount that nobody can pay: still too much. */
const stillTooHigh: ReadonlySet<QuoteErrorCode> = new Set(['INSUFFICIENT_LIQUIDITY', 'SWAP_IMPACT_TOO_HIGH'])

const triesMax = 48
const searchMs = 1_000
/** A least amount is named this much above what was found, because gas and prices move while it is read. */
const marginPercent = 5n
/** The search ends this near. */
const nearPercent = 2n
const amountMax = 2n ** 256n - 1n

type RequestedAmount = {
  readonly amount: bigint
  /** Currency that `amount` counts. */
  readonly currency: Pick<QuotableCurrency, 'address' | 'chainId'>
  readonly clock: Clock
}

/**
 * Prices an amount. Where only the amount is refused, the refusal names one that is accepted, in the currency that
 * the request's amount counts: `minimumAmount`, or `maximumAmount` where no liquidity serves it.
 * @throws QuoteError
 */
export async function priceOrNameAmount<Priced>(
  requestedAmount: RequestedAmount,
  price: (amount: bigint) => Promise<Priced>,
): Promise<Priced> {
  try {
    return await price(requestedAmount.amount)
  } catch (error) {
    if (!(error instanceof QuoteError)) throw error
    if (tooLow.has(error.code)) throw await namingLeast(requestedAmount, error, price)
    if (tooHigh.has(error.code)) throw await namingMost(requestedAmount, error, price)
    throw error
  }
}

/**
 * Prices a request whose gas depends on what its calls do with the amount: a refusal names no other one, since nobody
 * has tried them with it.
 * @throws QuoteError
 */
export async function priceOrNameNone<Priced>(
  requestedAmount: Pick<RequestedAmount, 'currency'>,
  price: () => Promise<Priced>,
): Promise<Priced> {
  try {
    return await price()
  } catch (error) {
    const isAboutAmount = error instanceof QuoteError && (tooLow.has(error.code) || tooHigh.has(error.code))
    throw isAboutAmount ? restateRefusal(error, requestedAmount, {}) : error
  }
}

type Verdict = 'accepted' | 'refused' | 'other'
type Judge = (amount: bigint) => Promise<Verdict>

function judgeOf(
  { clock }: RequestedAmount,
  price: (amount: bigint) => Promise<unknown>,
  refusals: ReadonlySet<QuoteErrorCode>,
): Judge {
  const endMs = clock.now() + searchMs
  let tries = triesMax
  return async (amount) => {
    if (tries === 0 || clock.now() > endMs) return 'other'
    tries -= 1
    try {
      await price(amount)
      return 'accepted'
    } catch (error) {
      // That a chain says no more ends the search, and the refusal stands: it names no amount then.
      if (!(error instanceof QuoteError) && !(error instanceof UpstreamUnavailableError)) throw error
      return error instanceof QuoteError && refusals.has(error.code) ? 'refused' : 'other'
    }
  }
}

async function namingLeast(
  requestedAmount: RequestedAmount,
  error: QuoteError,
  price: (amount: bigint) => Promise<unknown>,
): Promise<QuoteError> {
  const judge = judgeOf(requestedAmount, price, tooLow)
  const acceptedAmount = await leastFrom(judge, requestedAmount.amount)
  if (acceptedAmount === undefined) return restateRefusal(error, requestedAmount, {})
  const withMargin = acceptedAmount + divideUp(acceptedAmount * marginPercent, 100n)
  const leastAmount = (await judge(withMargin)) === 'accepted' ? withMargin : acceptedAmount
  return restateRefusal(error, requestedAmount, { minimumAmount: leastAmount.toString() })
}

async function namingMost(
  requestedAmount: RequestedAmount,
  error: QuoteError,
  price: (amount: bigint) => Promise<unknown>,
): Promise<QuoteError> {
  const acceptedAmount = await mostBelow(
    judgeOf(requestedAmount, price, stillTooHigh),
    requestedAmount.amount,
    error.nearAmount,
  )
  return restateRefusal(
    error,
    requestedAmount,
    acceptedAmount === undefined ? {} : { maximumAmount: acceptedAmount.toString() },
  )
}

/** Steps up until an amount is accepted, then halves what is left between. */
async function leastFrom(judge: Judge, refusedAmount: bigint): Promise<bigint | undefined> {
  let low = refusedAmount
  for (let factor = 2n; low < amountMax; factor *= 2n) {
    const candidate = low * factor + 1n
    const verdict = await judge(candidate)
    if (verdict === 'refused') {
      low = candidate
      continue
    }
    // The doubling may have skipped accepted amounts: too high for a pool, but high enough to cover their fees.
    return searchBetween(judge, {
      good: verdict === 'accepted' ? candidate : undefined,
      bad: low,
      far: candidate,
    })
  }
  return undefined
}

/** Steps down until an amount is accepted, then halves what is left between. */
async function mostBelow(
  judge: Judge,
  refusedAmount: bigint,
  nearAmount: bigint | undefined,
): Promise<bigint | undefined> {
  let high = refusedAmount
  if (nearAmount !== undefined && nearAmount > 0n && nearAmount < refusedAmount) {
    if ((await judge(nearAmount)) === 'accepted') return nearAmount
    high = nearAmount
  }
  for (let shift = 1n; high > 0n; shift += 1n) {
    const candidate = high >> shift
    const verdict = await judge(candidate)
    if (verdict === 'accepted') return searchBetween(judge, { good: candidate, bad: high, far: high })
    if (verdict === 'other') return undefined
    high = candidate
  }
  return undefined
}

/** @param range.good accepted; undefined where only `far` is known to be no longer refused for the same reason */
async function searchBetween(
  judge: Judge,
  range: { readonly good: bigint | undefined; readonly bad: bigint; readonly far: bigint },
): Promise<bigint | undefined> {
  let { good, bad, far } = range
  for (;;) {
    const other = good ?? far
    const distance = other > bad ? other - bad : bad - other
    if (distance * 100n <= other * nearPercent || distance <= 1n) return good
    const middle = middleOf(bad, other)
    const verdict = await judge(middle)
    if (verdict === 'accepted') good = middle
    else if (verdict === 'refused' || good !== undefined) bad = middle
    else if (distance <= 2n || middle === far) return undefined
    else far = middle
  }
}

/** Middle by orders of magnitude while both are far apart. */
function middleOf(a: bigint, b: bigint): bigint {
  const [low, high] = a < b ? [a, b] : [b, a]
  const bits = high.toString(2).length - (low === 0n ? 0 : low.toString(2).length)
  if (bits <= 2) return divideDown(low + high, 2n)
  return high >> BigInt(bits >> 1)
}

/** Refusal with its code, in terms of the currency that the request's amount counts. */
function restateRefusal(
  error: QuoteError,
  { currency }: Pick<RequestedAmount, 'currency'>,
  amountData: ErrorData,
): QuoteError {
  const { minimumAmount: _least, maximumAmount: _most, ...rest } = error.data
  const { retryAfterSeconds } = error
  return new QuoteError(error.code, error.message, {
    data: { ...rest, ...amountData, currency: currency.address, chainId: currency.chainId },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    cause: error,
  })
}
