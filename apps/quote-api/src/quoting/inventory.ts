import { bpsDenominator, divideDown, divideUp, maxBigint, type UsdX18 } from '@causeway/core'

/** Knobs of one asset's potential. @source pricing-engine.md 4.3 */
export type InventoryParameters = {
  readonly kappaBps: bigint
  readonly rewardCapBps: bigint
  readonly maxSkewBps: bigint
  readonly reserveBps: bigint
}

/** Solver inventory of one asset over all chains, in USD with 18 digits. */
export type AssetInventory = {
  readonly parameters: InventoryParameters
  readonly totalUsd: UsdX18
  /** By chain id. */
  readonly chains: ReadonlyMap<number, { readonly balanceUsd: UsdX18; readonly shareBps: bigint }>
  /** Σ balance²/share, kept so that a move is priced in constant time. */
  readonly squaresPerShare: bigint
  /** Σ shares, in bps. */
  readonly shareSumBps: bigint
}

/** Chains without a target still weigh something, so that a potential exists there. */
const shareBpsMin = 100n

/** Builds the view of one asset. @param balances USD value per chain id */
export function assetInventory(
  parameters: InventoryParameters,
  balances: Iterable<{ chainId: number; balanceUsd: UsdX18; shareBps: bigint }>,
): AssetInventory {
  const chains = new Map<number, { balanceUsd: UsdX18; shareBps: bigint }>()
  let totalUsd = 0n
  let squaresPerShare = 0n
  let shareSumBps = 0n
  for (const { chainId, balanceUsd, shareBps } of balances) {
    const share = maxBigint(shareBps, shareBpsMin)
    chains.set(chainId, { balanceUsd, shareBps: share })
    totalUsd += balanceUsd
    squaresPerShare += perShare(balanceUsd, share)
    shareSumBps += share
  }
  return { parameters, totalUsd, chains, squaresPerShare, shareSumBps }
}

function perShare(balanceUsd: UsdX18, shareBps: bigint): bigint {
  return (balanceUsd * balanceUsd * bpsDenominator) / shareBps
}

/** A change of one asset's inventory on one chain; `deltaUsd` is signed. */
export type InventoryMove = {
  readonly asset: AssetInventory
  readonly chainId: number
  readonly deltaUsd: UsdX18
}

/**
 * By how much a fill raises the potential Φ = Σ κ·(b − t)²/(2t) of the solver's inventory, t being
 * the chain's share of the asset's total; rounded toward the solver. Negative: the fill improves the
 * distribution. Φ depends on the state alone, so no closed loop of fills sums to less than zero.
 *
 * Rewards are capped as a rate and never below it; a positive value is never clamped, because a
 * discount on the way out would be earned back on the way home.
 * @param received what enters on the origin; @param paid what leaves on the destination
 * @source pricing-engine.md 4.3
 */
export function skewCostUsd(received: InventoryMove, paid: InventoryMove): UsdX18 {
  const exact =
    received.asset === paid.asset
      ? potentialChange(received.asset, [received, paid])
      : potentialChange(received.asset, [received]) + potentialChange(paid.asset, [paid])
  const moved = received.deltaUsd
  const capBps = received.asset.parameters.rewardCapBps
  return maxBigint(exact, -divideDown(moved * capBps, bpsDenominator))
}

function potentialChange(asset: AssetInventory, moves: readonly InventoryMove[]): UsdX18 {
  let total = asset.totalUsd
  let squares = asset.squaresPerShare
  const seen = new Map<number, UsdX18>()
  for (const { chainId, deltaUsd } of moves) {
    const position = asset.chains.get(chainId)
    const shareBps = position?.shareBps ?? shareBpsMin
    const before = seen.get(chainId) ?? position?.balanceUsd ?? 0n
    const after = before + deltaUsd
    seen.set(chainId, after)
    total += deltaUsd
    squares += perShare(after, shareBps) - perShare(before, shareBps)
  }
  const after = potentialTerm(squares, total, asset.shareSumBps, divideUp)
  const before = potentialTerm(asset.squaresPerShare, asset.totalUsd, asset.shareSumBps, divideDown)
  return divideUp(asset.parameters.kappaBps * (after - before), 2n * bpsDenominator)
}

/** (Σ b²/s)/B + B·(Σs − 2): twice the potential over κ. */
function potentialTerm(
  squaresPerShare: bigint,
  totalUsd: UsdX18,
  shareSumBps: bigint,
  divide: (a: bigint, b: bigint) => bigint,
): bigint {
  // An empty inventory has no distribution to improve; one micro-dollar keeps the quotient defined.
  const total = maxBigint(totalUsd, 10n ** 12n)
  return divide(squaresPerShare, total) + divide(total * (shareSumBps - 2n * bpsDenominator), bpsDenominator)
}

/** USD that may still leave the asset's balance on a chain: the balance less the reserve. */
export function payableUsd(asset: AssetInventory, chainId: number): UsdX18 {
  const balanceUsd = asset.chains.get(chainId)?.balanceUsd ?? 0n
  return balanceUsd - divideUp(balanceUsd * asset.parameters.reserveBps, bpsDenominator)
}
