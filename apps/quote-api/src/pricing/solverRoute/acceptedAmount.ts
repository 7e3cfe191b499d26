import {
  divideDown,
  divideUp,
  type ErrorData,
  maxBigint,
  minBigint,
  UpstreamUnavailableError,
} from '@causeway/core'
import type { Clock } from '@causeway/market'
import { QuoteError, type QuoteErrorCode } from '../errors.ts'
import type { QuotableCurrency } from '../registry.ts'

// A refusal of an amount names one that would be accepted. Fees rise in steps, pools are curves and there are several
// plans, so no formula gives that amount for every route. It is found by pricing other amounts, fewer than fifty and for
// a second at most. A refusal names only an amount that was priced and accepted; if none is found, it names none.

/** Refusals that a larger amount avoids. */
const tooLow: ReadonlySet<QuoteErrorCode> = new Set(['AMOUNT_TOO_LOW', 'RELAYER_GAS_TOO_HIGH'])
/** Refusals that a smaller amount avoids. */
const tooHigh: ReadonlySet<QuoteErrorCode> = new Set(['INSUFFICIENT_LIQUIDITY'])
/** Refusals during the search downwards that a still smaller amount avoids. */
const stillTooHigh: ReadonlySet<QuoteErrorCode> = new Set(['INSUFFICIENT_LIQUIDITY', 'SWAP_IMPACT_TOO_HIGH'])

const searchMs = 1_000
/** The named minimum is this much above what was found, because gas and prices move before it is sent. */
const marginPercent = 5n
/** The search ends when accepted and refused amount are this near. */
const nearPercent = 2n
const amountMax = 2n ** 256n - 1n

type RequestedAmount = {
  readonly amount: bigint
  /** Currency that `amount` counts. */
  readonly currency: Pick<QuotableCurrency, 'address' | 'chainId'>
  readonly clock: Clock
}

/**
 * Prices an amount. Where a refusal is about the amount, it names one that is accepted, in the currency of the
 * request's amount: `minimumAmount`, or `maximumAmount` where liquidity is short.
 * @throws QuoteError
 */
export function priceOrNameAmount<Priced>(
  requestedAmount: RequestedAmount,
  price: (amount: bigint) => Priced,
): Priced {
  try {
    return price(requestedAmount.amount)
  } catch (error) {
    if (!(error instanceof QuoteError)) throw error
    if (tooLow.has(error.code)) throw nameLeast(requestedAmount, error, price)
    if (tooHigh.has(error.code)) throw nameMost(requestedAmount, error, price)
    throw error
  }
}

/**
 * Prices a request with calls. A refusal names no other amount, since the calls were not simulated with it; it is only
 * restated in the currency of the request's amount.
 * @throws QuoteError
 */
export function priceOrNameNone<Priced>(
  requestedAmount: Pick<RequestedAmount, 'currency'>,
  price: () => Priced,
): Priced {
  try {
    return price()
  } catch (error) {
    const isAboutAmount = error instanceof QuoteError && (tooLow.has(error.code) || tooHigh.has(error.code))
    throw isAboutAmount ? restateRefusal(error, requestedAmount, {}) : error
  }
}

/**
 * Result of pricing an amount during a search. `refused`: by a refusal that the search wants to avoid. `other`: by another
 * refusal, or not priced at all, because the time is over.
 */
type Verdict = 'accepted' | 'refused' | 'other'
type Judge = (amount: bigint) => Verdict

/** Makes the judge of one search, which keeps its time. */
function judgeOf(
  { clock }: RequestedAmount,
  price: (amount: bigint) => unknown,
  refusals: ReadonlySet<QuoteErrorCode>,
): Judge {
  const endMs = clock.now() + searchMs
  return (amount) => {
    if (clock.now() > endMs) return 'other'
    try {
      price(amount)
      return 'accepted'
    } catch (error) {
      // A chain that does not answer ends the search: the first refusal stands and names no amount.
      if (!(error instanceof QuoteError) && !(error instanceof UpstreamUnavailableError)) throw error
      return error instanceof QuoteError && refusals.has(error.code) ? 'refused' : 'other'
    }
  }
}

/** The refusal of an amount that is too low, with the least amount found that is accepted. */
function nameLeast(
  requestedAmount: RequestedAmount,
  error: QuoteError,
  price: (amount: bigint) => unknown,
): QuoteError {
  const judge = judgeOf(requestedAmount, price, tooLow)
  const acceptedAmount = findLeast(judge, requestedAmount.amount)
  if (acceptedAmount === undefined) return restateRefusal(error, requestedAmount, {})
  const withMargin = acceptedAmount + divideUp(acceptedAmount * marginPercent, 100n)
  const leastAmount = judge(withMargin) === 'accepted' ? withMargin : acceptedAmount
  return restateRefusal(error, requestedAmount, { minimumAmount: leastAmount.toString() })
}

/** The refusal of an amount that is too high, with the largest amount found that is accepted. */
function nameMost(
  requestedAmount: RequestedAmount,
  error: QuoteError,
  price: (amount: bigint) => unknown,
): QuoteError {
  const acceptedAmount = findMost(
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

/** Steps up from a refused amount, by a factor that doubles, until one is accepted; then bisects between both. */
function findLeast(judge: Judge, refusedAmount: bigint): bigint | undefined {
  let low = refusedAmount
  for (let factor = 2n; low < amountMax; factor *= 2n) {
    // One is added, because 0 stays 0 times any factor.
    const candidate = low * factor + 1n
    const verdict = judge(candidate)
    if (verdict === 'refused') {
      low = candidate
      continue
    }
    // After `other` too: the step may have skipped accepted amounts, and the candidate may be too high for a pool.
    return searchBetween(judge, { refused: low, end: candidate, isEndAccepted: verdict === 'accepted' })
  }
  return undefined
}

/**
 * Steps down from a refused amount, by a power of two that grows, until one is accepted; then bisects between both.
 * @param nearAmount the refusal's guess, tried first; if it is not accepted, the search begins below it
 */
function findMost(judge: Judge, refusedAmount: bigint, nearAmount: bigint | undefined): bigint | undefined {
  let high = refusedAmount
  if (nearAmount !== undefined && nearAmount > 0n && nearAmount < refusedAmount) {
    if (judge(nearAmount) === 'accepted') return nearAmount
    high = nearAmount
  }
  for (let shift = 1n; high > 0n; shift += 1n) {
    const candidate = high >> shift
    const verdict = judge(candidate)
    if (verdict === 'accepted')
      return searchBetween(judge, { refused: high, end: candidate, isEndAccepted: true })
    // Smaller amounts would be refused so too. Amounts that the step skipped are not searched.
    if (verdict === 'other') return undefined
    high = candidate
  }
  return undefined
}

/**
 * Bisects between a refused amount and `end`, which may lie above or below it, until both are near.
 * @param range.isEndAccepted false where `end` was judged `other`: no accepted amount is known yet
 * @returns the accepted end; undefined if no accepted amount was found
 */
function searchBetween(
  judge: Judge,
  range: { readonly refused: bigint; readonly end: bigint; readonly isEndAccepted: boolean },
): bigint | undefined {
  let { refused, end, isEndAccepted } = range
  for (;;) {
    const distance = maxBigint(end, refused) - minBigint(end, refused)
    const areNear = distance <= 1n || distance * 100n <= end * nearPercent
    if (areNear) return isEndAccepted ? end : undefined
    const middle = middleOf(refused, end)
    const verdict = judge(middle)
    // An accepted middle becomes the end. So does one judged `other` while the end is not accepted either:
    // accepted amounts, if any, lie between it and the refused one. Any other middle becomes the refused one.
    if (verdict === 'accepted' || (verdict === 'other' && !isEndAccepted)) {
      end = middle
      isEndAccepted = verdict === 'accepted'
    } else {
      refused = middle
    }
  }
}

/**
 * Middle of two amounts. While they differ by magnitudes it is that of their bit lengths, so that few tries suffice; then
 * the arithmetic one.
 */
function middleOf(a: bigint, b: bigint): bigint {
  const low = minBigint(a, b)
  const high = maxBigint(a, b)
  const bitsApart = bitLength(high) - bitLength(low)
  if (bitsApart <= 2) return divideDown(low + high, 2n)
  return high >> BigInt(bitsApart >> 1)
}

const bitLength = (amount: bigint): number => amount.toString(2).length

/** Copies a refusal with `amountData` in place of its own amounts; in the currency of the request's amount. */
function restateRefusal(
  error: QuoteError,
  { currency }: Pick<RequestedAmount, 'currency'>,
  amountData: ErrorData,
): QuoteError {
  const { minimumAmount: _minimum, maximumAmount: _maximum, ...otherData } = error.data
  return new QuoteError(error.code, error.message, {
    data: { ...otherData, ...amountData, currency: currency.address, chainId: currency.chainId },
    cause: error,
  })
}
