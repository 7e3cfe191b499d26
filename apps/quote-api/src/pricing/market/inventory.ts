import {
  bpsDenominator,
  type CurrencyKey,
  divideDown,
  divideUp,
  maxBigint,
  minBigint,
  type UsdX18,
} from '@causeway/core'
import type { QuotableCurrency } from '../registry.ts'

/** Configured parameters of one asset's inventory. @source rule Q-40 */
export type InventoryParameters = {
  /** κ, the weight of the potential. */
  readonly kappaBps: bigint
  /** Largest reward, in bps of the moved value. */
  readonly rewardCapBps: bigint
  /** A move whose skew is above this part of its value is refused. */
  readonly maxSkewBps: bigint
  /** Part of a chain's balance that is never sold. */
  readonly reserveBps: bigint
}

/** Inventory of one asset on one chain. */
type Position = {
  readonly balanceUsd: UsdX18
  /** Target: the part of the asset's total that belongs on this chain. */
  readonly shareBps: bigint
  /** Set on chains where a currency of the asset is paid from its own balance only. @source Q-82 */
  readonly payableByCurrency?: ReadonlyMap<CurrencyKey, UsdX18> | undefined
  /** The part of the balance that the solver never pays out. @source Q-132 */
  readonly floorUsd?: UsdX18 | undefined
}

/** Solver inventory of one asset over all chains, in USD with 18 digits, for skew and payable amounts. */
export type AssetInventory = {
  readonly parameters: InventoryParameters
  readonly totalUsd: UsdX18
  /** Positions by chain id. */
  readonly chains: ReadonlyMap<number, Position>
  /** Chains whose balance is not known now. @source Q-83 */
  readonly unknownChains: ReadonlySet<number>
  /** Σ balance²/share, kept so that a move is priced in constant time. */
  readonly squaresPerShare: bigint
  /** Σ shares, in bps. */
  readonly shareSumBps: bigint
  /** Twice the potential over κ as it is now, rounded down. */
  readonly potentialTerm: bigint
}

/** Chains without a target still weigh something, so that a potential exists there. */
const shareBpsMin = 100n
/** One micro-dollar. */
const totalUsdMin = 1_000_000_000_000n

/** Builds the view of one asset. @param balances USD value per chain id; undefined: not known */
export function assetInventory(
  parameters: InventoryParameters,
  balances: Iterable<
    Omit<Position, 'balanceUsd'> & { readonly chainId: number; readonly balanceUsd: UsdX18 | undefined }
  >,
): AssetInventory {
  const chains = new Map<number, Position>()
  const unknownChains = new Set<number>()
  let totalUsd = 0n
  let squaresPerShare = 0n
  let shareSumBps = 0n
  for (const { chainId, balanceUsd, shareBps, payableByCurrency, floorUsd } of balances) {
    if (balanceUsd === undefined) {
      unknownChains.add(chainId)
      continue
    }
    const share = maxBigint(shareBps, shareBpsMin)
    chains.set(chainId, { balanceUsd, shareBps: share, payableByCurrency, floorUsd })
    totalUsd += balanceUsd
    squaresPerShare += squarePerShare(balanceUsd, share)
    shareSumBps += share
  }
  return {
    parameters,
    totalUsd,
    chains,
    unknownChains,
    squaresPerShare,
    shareSumBps,
    potentialTerm: computePotentialTerm(squaresPerShare, totalUsd, shareSumBps, divideDown),
  }
}

/** b²/s of one chain: its balance squared, divided by its share. */
function squarePerShare(balanceUsd: UsdX18, shareBps: bigint): bigint {
  return (balanceUsd * balanceUsd * bpsDenominator) / shareBps
}

/**
 * The inventory after moves that its balances do not show yet, for skews. It says nothing about payable
 * amounts, since `payableByCurrency` stays as it was. @param moves signed USD by chain id
 */
export function afterMoves(asset: AssetInventory, moves: ReadonlyMap<number, UsdX18>): AssetInventory {
  const chains = new Map(asset.chains)
  let { totalUsd, squaresPerShare } = asset
  for (const [chainId, deltaUsd] of moves) {
    if (asset.unknownChains.has(chainId)) continue
    // A chain without position cannot be priced now, so its share is in no sum. Moves on it only lower others' rewards.
    const position: Position = chains.get(chainId) ?? { balanceUsd: 0n, shareBps: shareBpsMin }
    const { balanceUsd, shareBps, payableByCurrency, floorUsd } = position
    chains.set(chainId, { balanceUsd: balanceUsd + deltaUsd, shareBps, payableByCurrency, floorUsd })
    totalUsd += deltaUsd
    squaresPerShare += squarePerShare(balanceUsd + deltaUsd, shareBps) - squarePerShare(balanceUsd, shareBps)
  }
  const { parameters, unknownChains, shareSumBps } = asset
  return {
    parameters,
    totalUsd,
    chains,
    unknownChains,
    squaresPerShare,
    shareSumBps,
    potentialTerm: computePotentialTerm(squaresPerShare, totalUsd, shareSumBps, divideDown),
  }
}

/** A change of one asset's inventory on one chain; `deltaUsd` is signed. */
export type InventoryMove = {
  readonly asset: AssetInventory
  readonly chainId: number
  readonly deltaUsd: UsdX18
}

/**
 * Cost of a fill for the solver's inventory: the increase of the potential Φ = Σ κ·(b − t)²/(2t), where b is the
 * balance on a chain and t its target, the chain's share of the asset's total. Rounded up, in the solver's favour.
 * Negative: the fill improves the distribution. Φ depends on the balances alone, so no closed loop of fills costs less
 * than nothing in sum.
 *
 * A reward is capped at `rewardCapBps` of the moved value. A cost is never capped: who moved an amount out at a capped
 * cost could move it back for the full reward.
 * @param received what enters on the origin: above zero
 * @param paid what leaves on the destination: below zero
 * @source rule Q-40
 */
export function skewCostUsd(received: InventoryMove, paid: InventoryMove): UsdX18 {
  const { asset, deltaUsd } = received
  const rewardMax = divideDown(deltaUsd * asset.parameters.rewardCapBps, bpsDenominator)
  return maxBigint(potentialChange(received, paid), -rewardMax)
}

function potentialChange(received: InventoryMove, paid: InventoryMove): UsdX18 {
  if (received.asset !== paid.asset) {
    return (
      changeOf(received.asset, squaresChange(received), received.deltaUsd) +
      changeOf(paid.asset, squaresChange(paid), paid.deltaUsd)
    )
  }
  // On one chain only the difference of both amounts changes the balance.
  const squares =
    received.chainId === paid.chainId
      ? squaresChange({ ...received, deltaUsd: received.deltaUsd + paid.deltaUsd })
      : squaresChange(received) + squaresChange(paid)
  return changeOf(received.asset, squares, received.deltaUsd + paid.deltaUsd)
}

/** Change of one asset's potential, rounded up, when Σ b²/s changes by `squaresDelta` and Σ b by `deltaUsd`. */
function changeOf(asset: AssetInventory, squaresDelta: bigint, deltaUsd: UsdX18): UsdX18 {
  const after = computePotentialTerm(
    asset.squaresPerShare + squaresDelta,
    asset.totalUsd + deltaUsd,
    asset.shareSumBps,
    divideUp,
  )
  return divideUp(asset.parameters.kappaBps * (after - asset.potentialTerm), 2n * bpsDenominator)
}

/** Change of Σ b²/s by one move. */
function squaresChange({ asset, chainId, deltaUsd }: InventoryMove): bigint {
  const position = asset.chains.get(chainId)
  const shareBps = position?.shareBps ?? shareBpsMin
  const before = position?.balanceUsd ?? 0n
  return squarePerShare(before + deltaUsd, shareBps) - squarePerShare(before, shareBps)
}

/**
 * 2Φ/κ = (Σ b²/s)/B + B·(Σs − 2), which follows from Φ with t = s·B. B: total, b: balances, s: shares.
 * @param divide rounds up or down
 */
function computePotentialTerm(
  squaresPerShare: bigint,
  totalUsd: UsdX18,
  shareSumBps: bigint,
  divide: (a: bigint, b: bigint) => bigint,
): bigint {
  // An empty inventory has no distribution to improve; one micro-dollar keeps the quotient defined.
  const total = maxBigint(totalUsd, totalUsdMin)
  return divide(squaresPerShare, total) + divide(total * (shareSumBps - 2n * bpsDenominator), bpsDenominator)
}

/**
 * USD that may still be paid in a currency: the asset's balance on its chain, less the larger of reserve and floors. Where
 * a currency is paid from its own balance only, it is at most that.
 */
export function payableUsd(
  asset: AssetInventory,
  { chainId, key }: Pick<QuotableCurrency, 'chainId' | 'key'>,
): UsdX18 {
  const { balanceUsd = 0n, payableByCurrency, floorUsd = 0n } = asset.chains.get(chainId) ?? {}
  const reserveUsd = divideUp(balanceUsd * asset.parameters.reserveBps, bpsDenominator)
  const payable = maxBigint(0n, balanceUsd - maxBigint(reserveUsd, floorUsd))
  if (payableByCurrency === undefined) return payable
  return minBigint(payable, payableByCurrency.get(key) ?? 0n)
}
