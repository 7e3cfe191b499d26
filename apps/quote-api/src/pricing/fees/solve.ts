import {
  bpsDenominator,
  bpsDown,
  bpsUp,
  type FeeParts,
  type FeeTotalName,
  feeTotals,
  multipleUp,
  noFees,
  sumOfFees,
} from '@causeway/core'
import { QuoteError } from '../errors.ts'

/**
 * All fees between what the solver receives and what it pays, before an amount is known; in smallest units of the fee
 * currency. `feeTerms` makes them. @source rule Q-150
 */
export type FeeTerms = {
  /** Destination gas, gas of a relayed deposit, and gas top-up; already rounded up. */
  readonly gas: bigint
  /** Already rounded up. */
  readonly flat: bigint
  /** Rate of the platform fee, whose amount is rounded up. */
  readonly platformBps: bigint
  /** Cost of the move for the solver's inventory, rounded up; negative is a reward. */
  readonly skew: (amountIn: bigint) => bigint
  readonly appFeesBps: readonly bigint[]
  /** Rent of an account that the payment creates for the recipient. */
  readonly rent: bigint
  /** The sponsor's part of the fees at an input; 0 without a sponsor. */
  readonly subsidy: (fees: FeeParts, amountIn: bigint) => bigint
  /** Lower bound of the growth of `net` per unit of input, in bps, before rounding; see `solveAmountIn`. */
  readonly slopeBpsMin: bigint
}

/** All amounts in the fee currency; `amountIn = net + relayer + app − subsidized` exactly. */
export type FeeSplit = Readonly<Record<FeeTotalName, bigint>> & {
  /** Amount that the solver receives. */
  readonly amountIn: bigint
  /** Amount that is left to pay the user. */
  readonly net: bigint
  /** Per recipient, in request order; sums to `app`. */
  readonly appFees: readonly bigint[]
  readonly subsidized: bigint
  /** Parts that sum to the totals above. */
  readonly parts: FeeParts
}

/** Subtracts the fees from an input. `net` may be zero or negative; the caller decides. */
export function splitFees(terms: FeeTerms, amountIn: bigint): FeeSplit {
  const appFees = appFeesOf(terms, amountIn)
  const parts = feesOf(terms, amountIn, appFees)
  return feeSplit({ amountIn, parts, appFees, subsidized: terms.subsidy(parts, amountIn) })
}

function appFeesOf({ appFeesBps }: FeeTerms, amountIn: bigint): readonly bigint[] {
  return appFeesBps.map((bps) => bpsDown(amountIn, bps))
}

/** Every fee at `amountIn`, without the surplus, which `solveAmountIn` adds. */
function feesOf(terms: FeeTerms, amountIn: bigint, appFees: readonly bigint[]): FeeParts {
  let app = 0n
  for (const fee of appFees) app += fee
  return {
    gas: terms.gas,
    flat: terms.flat,
    skew: terms.skew(amountIn),
    platform: bpsUp(amountIn, terms.platformBps),
    surplus: 0n,
    app,
    rent: terms.rent,
  }
}

type FeeAmounts = Pick<FeeSplit, 'amountIn' | 'parts' | 'subsidized'>

/** Remainder after the fees. */
function netOf({ amountIn, parts, subsidized }: FeeAmounts): bigint {
  return amountIn - sumOfFees(parts) + subsidized
}

function feeSplit(amounts: FeeAmounts & Pick<FeeSplit, 'appFees'>): FeeSplit {
  const { amountIn, parts, appFees, subsidized } = amounts
  return { amountIn, net: netOf(amounts), ...feeTotals(parts), appFees, subsidized, parts }
}

/** Split of a route that the user executes alone: no solver, so no fees. */
export function withoutFees(amountIn: bigint): FeeSplit {
  return feeSplit({ amountIn, parts: noFees, appFees: [], subsidized: 0n })
}

const amountMax = 2n ** 256n - 1n
/** With a lower slope, fees leave less than 5 % of an input, and the window of `scanBelow` would be too large. */
const slopeBpsFloor = 500n

/**
 * Finds the smallest input whose net reaches `targetNet`, and raises it to a multiple of `step` that reaches it too. The net
 * of that input may exceed the target; the rest becomes the fee `surplus`, so that all parts sum to the input exactly.
 *
 * `net` is not monotone, because fees are rounded separately and several may step up at the same unit.
 * Without rounding it grows by at least `slopeBpsMin` per unit, and rounding moves it by less than one unit
 * per rounded fee. So once it has grown by that many units, over a window of inputs, no earlier value is
 * above it:
 * - Bisection ends at an input that reaches the target while its predecessor does not. Therefore none below
 *   the window reaches it, and a scan of the window finds the smallest.
 * - Every input above the smallest and its window reaches the target, so the steps up to a multiple end.
 * @source rules
 * @throws QuoteError AMOUNT_TOO_LOW when fees eat every input
 */
export function solveAmountIn(terms: FeeTerms, targetNet: bigint, step = 1n): FeeSplit {
  refuseFeesOfAll(terms)
  const reaches = (amountIn: bigint) => {
    const parts = feesOf(terms, amountIn, appFeesOf(terms, amountIn))
    return netOf({ amountIn, parts, subsidized: terms.subsidy(parts, amountIn) }) >= targetNet
  }
  const upperBound = bisect(reaches, targetNet)
  let amountIn = multipleUp(scanBelow(reaches, upperBound, terms), step)
  while (!reaches(amountIn)) amountIn += step
  const split = splitFees(terms, amountIn)
  const surplus = split.net - targetNet
  return feeSplit({ ...split, parts: { ...split.parts, surplus } })
}

/** Refuses terms whose proportional fees take nearly any input whole. @throws QuoteError AMOUNT_TOO_LOW */
export function refuseFeesOfAll({ slopeBpsMin }: Pick<FeeTerms, 'slopeBpsMin'>): void {
  if (slopeBpsMin >= slopeBpsFloor) return
  throw new QuoteError('AMOUNT_TOO_LOW', 'The fees of this request take nearly the whole input.', {
    data: { field: 'appFees' },
  })
}

/** Finds an amount that reaches the target while its predecessor does not: doubles `start`, then bisects. */
function bisect(reaches: (amountIn: bigint) => boolean, start: bigint): bigint {
  // Below all amounts, so that 0 can be found too.
  let low = -1n
  let high = start > 0n ? start : 1n
  while (!reaches(high)) {
    low = high
    high *= 2n
    if (high > amountMax) throw new QuoteError('INSUFFICIENT_LIQUIDITY', 'No input reaches this output.')
  }
  while (high - low > 1n) {
    const middle = (low + high) >> 1n
    if (reaches(middle)) high = middle
    else low = middle
  }
  return high
}

/** The smallest amount that reaches the target, in the window (see `solveAmountIn`) below one that does. */
function scanBelow(reaches: (amountIn: bigint) => boolean, upperBound: bigint, terms: FeeTerms): bigint {
  // Fees whose rounding depends on the input: platform, skew, subsidy, and one per app fee recipient.
  const roundings = 3n + BigInt(terms.appFeesBps.length)
  const window = (roundings * bpsDenominator) / terms.slopeBpsMin + 1n
  let smallest = upperBound
  for (
    let candidate = upperBound - 1n;
    candidate >= 0n && candidate >= upperBound - window;
    candidate -= 1n
  ) {
    if (reaches(candidate)) smallest = candidate
  }
  return smallest
}
