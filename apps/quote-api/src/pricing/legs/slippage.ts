import { type AssetClass, bpsDenominator, bpsDown, divideUp, maxBigint, minBigint } from '@causeway/core'
import { QuoteError } from '../errors.ts'

/**
 * Automatic tolerance where a pool leg exists, before impact: enough for ordinary movement between
 * quote and execution, small enough to make front-running it unprofitable. @source rule Q-152
 */
export const autoBaseBps: Readonly<Record<AssetClass, bigint>> = { stable: 25n, major: 75n, longtail: 150n }
const autoBpsMax = 1_000n

/**
 * Deviation of honest pools below the agreed price in bps, all legs of a quote together. Arbitrage does not correct a
 * pool within its fee of the market, and feeds move in steps. It is added to the tolerance that the caller named, so it
 * is also the most that a manipulator of pools can take beyond that tolerance.
 */
const poolLagBps: Readonly<Record<AssetClass, bigint>> = { stable: 10n, major: 30n, longtail: 100n }

export type SlippageInputs = {
  /** Tolerance that the caller named, in bps; undefined: computed. */
  readonly requestedBps: bigint | undefined
  readonly hasPoolLeg: boolean
  readonly assetClass: AssetClass
  readonly swapImpactBps: bigint
  /** Amount by which the pools of all legs are below the agreed price, in bps; part of `swapImpactBps`. */
  readonly adverseBps: bigint
  /** Disagreement of the sources of the fee currency's price. */
  readonly priceSpreadBps: bigint
}

/**
 * Tolerance in bps below the expected output. It is first a tolerance below the agreed price, which is the snapshot's
 * guarded price. The pools are below that price by `adverseBps` already, so these are subtracted.
 * - The caller named one: it counts from `poolLagBps` below the agreed price. The result never exceeds the named one.
 * - Else it is computed: 0 without a pool leg, else by class, half the legs' own impact and the spread of price
 * sources.
 * @throws QuoteError PRICE_FETCH_FAILED when `adverseBps` exceeds the tolerance below the agreed price
 */
export function slippageBps(inputs: SlippageInputs): bigint {
  const { requestedBps, assetClass, adverseBps } = inputs
  const lagBps = poolLagBps[assetClass]
  const belowAgreedBps = requestedBps === undefined ? automaticBps(inputs) : requestedBps + lagBps
  if (adverseBps > belowAgreedBps) throw poolsBeyondTolerance(adverseBps, lagBps)
  return minBigint(requestedBps ?? belowAgreedBps, belowAgreedBps - adverseBps)
}

function automaticBps(inputs: SlippageInputs): bigint {
  const { hasPoolLeg, assetClass, swapImpactBps, adverseBps, priceSpreadBps } = inputs
  if (!hasPoolLeg) return 0n
  const impact = maxBigint(swapImpactBps - adverseBps, 0n) / 2n
  return minBigint(autoBaseBps[assetClass] + impact + priceSpreadBps, autoBpsMax)
}

/** The error where every leg could be quoted, but all together are worse than the tolerance. */
function poolsBeyondTolerance(adverseBps: bigint, lagBps: bigint): QuoteError {
  return new QuoteError(
    'PRICE_FETCH_FAILED',
    `Pools are ${adverseBps} bps below the price of their tokens: try again, or set slippageTolerance to at least ${adverseBps - lagBps}.`,
    { data: { reason: 'pool_deviation' } },
  )
}

/** floor(expected·(10⁴ − bps)/10⁴). @source rule Q-151 */
export function minimumAfterSlippage(expected: bigint, slippageBps: bigint): bigint {
  return bpsDown(expected, bpsDenominator - slippageBps)
}

/** ceil(expected·(10⁴ + bps)/10⁴). */
export function maximumAfterSlippage(expected: bigint, slippageBps: bigint): bigint {
  return divideUp(expected * (bpsDenominator + slippageBps), bpsDenominator)
}

const classOrder: readonly AssetClass[] = ['stable', 'major', 'longtail']

/** Chooses the class that is priced less reliably, and so costs more. */
export function dearerClass(a: AssetClass, b: AssetClass): AssetClass {
  return classOrder.indexOf(a) > classOrder.indexOf(b) ? a : b
}
