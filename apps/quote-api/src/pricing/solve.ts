import { bpsDenominator, bpsDown, bpsUp } from '@causeway/core'
import { QuoteError } from './errors.ts'

/**
 * Everything that stands between what the solver receives and what the user gets, in smallest units
 * of the fee currency. @source quote-api.md 6.1, 6.2; design.md 4
 */
export type FeeTerms = {
  /** G (and U): destination gas and gas top-up, already rounded up. */
  readonly relayerGas: bigint
  /** F: flat fee, already rounded up. */
  readonly flat: bigint
  /** P: platform fee, rounded up. */
  readonly platformBps: bigint
  /** S: what the move costs the solver's inventory, rounded up; negative is a reward. */
  readonly skew: (amountIn: bigint) => bigint
  readonly appFeesBps: readonly bigint[]
  /** Part of the sponsorable components that a sponsor pays; 0 without a sponsor. */
  readonly subsidy: (components: SponsorableComponents) => bigint
  /** Lower bound of the growth of `net` per unit of input, in bps; bounds the exact-output search. */
  readonly slopeBpsMin: bigint
}

export type SponsorableComponents = {
  /** F + G + U */
  readonly execution: bigint
  /** S */
  readonly swap: bigint
  /** P */
  readonly relay: bigint
}

/** All amounts in the fee currency; `amountIn = net + relayer + app − subsidized` exactly. */
export type FeeSplit = {
  readonly amountIn: bigint
  readonly net: bigint
  readonly relayerGas: bigint
  readonly relayerService: bigint
  readonly relayer: bigint
  readonly app: bigint
  /** Per recipient, in request order; sums to `app`. */
  readonly appFees: readonly bigint[]
  readonly subsidized: bigint
  readonly components: SponsorableComponents
}

/** Forward: what remains of `amountIn`. `net` may be zero or negative; the caller decides. */
export function splitFees(terms: FeeTerms, amountIn: bigint): FeeSplit {
  const relay = bpsUp(amountIn, terms.platformBps)
  const swap = terms.skew(amountIn)
  const relayerService = terms.flat + relay + swap
  const relayer = terms.relayerGas + relayerService
  const appFees =
    terms.appFeesBps.length === 0 ? noAppFees : terms.appFeesBps.map((bps) => bpsDown(amountIn, bps))
  let app = 0n
  for (const fee of appFees) app += fee
  const components = { execution: terms.flat + terms.relayerGas, swap, relay }
  const subsidized = terms.subsidy(components)
  return {
    amountIn,
    net: amountIn - relayer - app + subsidized,
    relayerGas: terms.relayerGas,
    relayerService,
    relayer,
    app,
    appFees,
    subsidized,
    components,
  }
}

const noAppFees: readonly bigint[] = []
const amountMax = 2n ** 256n - 1n
/** Below this the search would widen without end: an input of which fees leave less than 5 %. */
const slopeBpsFloor = 500n

/**
 * Backward: the smallest input whose net reaches `targetNet`. The net of that input may exceed the
 * target by a few units; they go to `relayerService`, so that the identity stays exact.
 *
 * `net` is not monotone: fees rounded apart may step at the same unit. It stays within `roundings`
 * units of a function that grows at least `slopeBpsMin`, so bisection finds some answer and a scan of
 * the bounded window below it finds the smallest. @source pricing-engine.md 4.6
 * @throws QuoteError AMOUNT_TOO_LOW when fees eat every input
 */
export function solveAmountIn(terms: FeeTerms, targetNet: bigint): FeeSplit {
  if (terms.slopeBpsMin < slopeBpsFloor) {
    throw new QuoteError('AMOUNT_TOO_LOW', 'The fees of this request take nearly the whole input.', {
      data: { field: 'appFees' },
    })
  }
  const reaches = (amountIn: bigint) => splitFees(terms, amountIn).net >= targetNet
  const found = bisect(reaches, targetNet)
  const split = splitFees(terms, scanBelow(reaches, found, terms))
  const surplus = split.net - targetNet
  return {
    ...split,
    net: targetNet,
    relayerService: split.relayerService + surplus,
    relayer: split.relayer + surplus,
  }
}

/** Some amount that reaches while its predecessor does not. */
function bisect(reaches: (amountIn: bigint) => boolean, start: bigint): bigint {
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

/** Fees rounded apart: platform, skew, subsidy, and one per app fee recipient. */
function scanBelow(reaches: (amountIn: bigint) => boolean, found: bigint, terms: FeeTerms): bigint {
  const roundings = 3n + BigInt(terms.appFeesBps.length)
  const window = (roundings * bpsDenominator) / terms.slopeBpsMin + 1n
  let smallest = found
  for (let candidate = found - 1n; candidate >= 0n && candidate >= found - window; candidate -= 1n) {
    if (reaches(candidate)) smallest = candidate
  }
  return smallest
}
