import { divideDown, divideUp, type ErrorData, UpstreamUnavailableError } from '@causeway/core'
import type { Clock } from '@causeway/market'
import { QuoteError, type QuoteErrorCode } from '../errors.ts'
import type { QuotableCurrency } from '../registry.ts'

// A refusal of an amount names one that would be accepted. Fees rise in steps, pools are curves and there are several
// plans, so no formula gives that amount for every route. It is found by pricing other amounts, within a bound of tries
// and of time. If none is found within the bound, the refusal names none.

/** Refusals that a larger amount avoids. */
const tooLow: ReadonlySet<QuoteErrorCode> = new Set(['AMOUNT_TOO_LOW', 'RELAYER_GAS_TOO_HIGH'])
/** Refusals that a smaller amount avoids. */
const tooHigh: ReadonlySet<QuoteErrorCode> = new Set(['INSUFFICIENT_LIQUIDITY'])
/** Refusals that mean "still too high" during the search downwards. */
const stillTooHigh: ReadonlySet<QuoteErrorCode> = new Set(['INSUFFICIENT_LIQUIDITY', 'SWAP_IMPACT_TOO_HIGH'])

const triesMax = 48
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
export async function priceOrNameAmount<Priced>(
  requestedAmount: RequestedAmount,
  price: (amount: bigint) => Promise<Priced>,
): Promise<Priced> {
  try {
    return await price(requestedAmount.amount)
  } catch (error) {
    if (!(error instanceof QuoteError)) throw error
    if (tooLow.has(error.code)) throw await nameLeast(requestedAmount, error, price)
    if (tooHigh.has(error.code)) throw await nameMost(requestedAmount, error, price)
    throw error
  }
}

/**
 * Prices a request with calls. A refusal names no other amount, since the calls were not simulated with it; it is only
 * restated in the currency of the request's amount.
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

/**
 * Result of pricing an amount during a search. `refused`: by a refusal that the search wants to avoid. `other`: by another
 * refusal, or not priced at all, because the bound of tries or of time is met.
 */
type Verdict = 'accepted' | 'refused' | 'other'
type Judge = (amount: bigint) => Promise<Verdict>

/** Makes the judge of one search, which counts its tries and its time. */
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
      // A chain that does not answer ends the search: the first refusal stands and names no amount.
      if (!(error instanceof QuoteError) && !(error instanceof UpstreamUnavailableError)) throw error
      return error instanceof QuoteError && refusals.has(error.code) ? 'refused' : 'other'
    }
  }
}

/** The refusal of an amount that is too low, with the least amount found that is accepted. */
async function nameLeast(
  requestedAmount: RequestedAmount,
  error: QuoteError,
  price: (amount: bigint) => Promise<unknown>,
): Promise<QuoteError> {
  const judge = judgeOf(requestedAmount, price, tooLow)
  const acceptedAmount = await findLeast(judge, requestedAmount.amount)
  if (acceptedAmount === undefined) return restateRefusal(error, requestedAmount, {})
  const withMargin = acceptedAmount + divideUp(acceptedAmount * marginPercent, 100n)
  const leastAmount = (await judge(withMargin)) === 'accepted' ? withMargin : acceptedAmount
  return restateRefusal(error, requestedAmount, { minimumAmount: leastAmount.toString() })
}

/** The refusal of an amount that is too high, with the largest amount found that is accepted. */
async function nameMost(
  requestedAmount: RequestedAmount,
  error: QuoteError,
  price: (amount: bigint) => Promise<unknown>,
): Promise<QuoteError> {
  const acceptedAmount = await findMost(
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
async function findLeast(judge: Judge, refusedAmount: bigint): Promise<bigint | undefined> {
  let low = refusedAmount
  for (let factor = 2n; low < amountMax; factor *= 2n) {
    const candidate = low * factor + 1n
    const verdict = await judge(candidate)
    if (verdict === 'refused') {
      low = candidate
      continue
    }
    // After `other` too: the step may have skipped accepted amounts, and the candidate may be too high for a pool.
    return searchBetween(judge, {
      accepted: verdict === 'accepted' ? candidate : undefined,
      refused: low,
      limit: candidate,
    })
  }
  return undefined
}

/**
 * Steps down from a refused amount, by a power of two that grows, until one is accepted; then bisects between both.
 * @param nearAmount the refusal's guess, tried first
 */
async function findMost(
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
    if (verdict === 'accepted')
      return searchBetween(judge, { accepted: candidate, refused: high, limit: high })
    if (verdict === 'other') return undefined
    high = candidate
  }
  return undefined
}

/**
 * Bisects between a refused and an accepted amount until they are near. The accepted one may be above or below.
 * @param range.accepted undefined while none is known; then the search lies between `refused` and `limit`
 * @param range.limit an amount that is not refused for the searched reason, but perhaps for another
 * @returns undefined if no accepted amount is found
 */
async function searchBetween(
  judge: Judge,
  range: { readonly accepted: bigint | undefined; readonly refused: bigint; readonly limit: bigint },
): Promise<bigint | undefined> {
  let { accepted, refused, limit } = range
  for (;;) {
    const otherEnd = accepted ?? limit
    const distance = otherEnd > refused ? otherEnd - refused : refused - otherEnd
    if (distance * 100n <= otherEnd * nearPercent || distance <= 1n) return accepted
    const middle = middleOf(refused, otherEnd)
    const verdict = await judge(middle)
    if (verdict === 'accepted') accepted = middle
    // Once an amount is accepted, any other verdict bounds the accepted ones.
    else if (verdict === 'refused' || accepted !== undefined) refused = middle
    // An amount that is refused for another reason: the accepted ones, if any, lie nearer to the refused one.
    // None is left where the range cannot be halved again.
    else if (distance <= 2n || middle === limit) return undefined
    else limit = middle
  }
}

/**
 * Middle of two amounts. While they differ by magnitudes it is that of their bit lengths, so that few tries suffice; then
 * the arithmetic one.
 */
function middleOf(a: bigint, b: bigint): bigint {
  const [low, high] = a < b ? [a, b] : [b, a]
  const bitsApart = bitLength(high) - bitLength(low)
  if (bitsApart <= 2) return divideDown(low + high, 2n)
  return high >> BigInt(bitsApart >> 1)
}

const bitLength = (amount: bigint): number => (amount === 0n ? 0 : amount.toString(2).length)

/** Copies a refusal with `amountData` in place of its own amounts; in the currency of the request's amount. */
function restateRefusal(
  error: QuoteError,
  { currency }: Pick<RequestedAmount, 'currency'>,
  amountData: ErrorData,
): QuoteError {
  const { minimumAmount: _minimum, maximumAmount: _maximum, ...otherData } = error.data
  const { retryAfterSeconds } = error
  return new QuoteError(error.code, error.message, {
    data: { ...otherData, ...amountData, currency: currency.address, chainId: currency.chainId },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    cause: error,
  })
}
