import { type AssetClass, bpsDenominator, bpsDown, maxBigint, minBigint } from '@causeway/core'

/**
 * Automatic tolerance where a pool leg exists, before impact: enough for ordinary movement between
 * quote and execution, small enough to make front-running it unprofitable. @source pricing-engine.md 4.4
 */
export const autoBaseBps: Readonly<Record<AssetClass, bigint>> = { stable: 25n, major: 75n, longtail: 150n }
const autoBpsMax = 1_000n

/**
 * Tolerance in bps when the caller gave none: 0 without a pool leg, else by class, half the legs' own
 * impact and the disagreement of price sources. It counts from the agreed price: what pools are worse than
 * that already is part of it.
 */
export function automaticSlippageBps(args: {
  hasPoolLeg: boolean
  assetClass: AssetClass
  swapImpactBps: bigint
  /** How far the legs' pools stand below the agreed price; part of `swapImpactBps`. */
  adverseBps: bigint
  priceSpreadBps: bigint
}): bigint {
  if (!args.hasPoolLeg) return 0n
  const impact = maxBigint(args.swapImpactBps - args.adverseBps, 0n) / 2n
  const fromAgreed = minBigint(autoBaseBps[args.assetClass] + impact + args.priceSpreadBps, autoBpsMax)
  return maxBigint(fromAgreed - args.adverseBps, 0n)
}

/** floor(expected·(10⁴ − bps)/10⁴). @source design.md 4 */
export function minimumAfterSlippage(expected: bigint, slippageBps: bigint): bigint {
  return bpsDown(expected, bpsDenominator - slippageBps)
}

const classOrder: readonly AssetClass[] = ['stable', 'major', 'longtail']

/** The class that prices less reliably decides. */
export function dearerClass(a: AssetClass, b: AssetClass): AssetClass {
  return classOrder.indexOf(a) > classOrder.indexOf(b) ? a : b
}
