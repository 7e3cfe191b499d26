import {
  bpsDenominator,
  type CurrencyKey,
  divideDown,
  divideUp,
  maxBigint,
  minBigint,
  type UsdX18,
  usdValueDown,
} from '@causeway/core'
import type { QuoteAsset } from '@causeway/core/config'
import type { MarketSnapshot } from '@causeway/market'
import type { QuotableChain, QuotableCurrency, QuoteRegistry } from '../registry.ts'

/** Knobs of one asset's potential. @source rule Q-40 */
export type InventoryParameters = {
  readonly kappaBps: bigint
  readonly rewardCapBps: bigint
  readonly maxSkewBps: bigint
  readonly reserveBps: bigint
}

type Position = {
  readonly balanceUsd: UsdX18
  readonly shareBps: bigint
  /** Balances by currency, if no other currency of the asset can be paid from. @source Q-82 */
  readonly sides?: ReadonlyMap<CurrencyKey, UsdX18> | undefined
  /** The part of the balance that the solver never pays out. @source Q-132 */
  readonly floorUsd?: UsdX18 | undefined
}

/** Solver inventory of one asset over all chains, in USD with 18 digits. */
export type AssetInventory = {
  readonly parameters: InventoryParameters
  readonly totalUsd: UsdX18
  /** Positions by chain id. */
  readonly chains: ReadonlyMap<number, Position>
  /** Chains whose balance is not known now. @source Q-83 */
  readonly unknown: ReadonlySet<number>
  /** Σ balance²/share, kept so that a move is priced in constant time. */
  readonly squaresPerShare: bigint
  /** Σ shares, in bps. */
  readonly shareSumBps: bigint
  /** Twice the potential over κ as it is now, rounded down. */
  readonly potentialTerm: bigint
}

/** Chains without a target still weigh something, so that a potential exists there. */
const shareBpsMin = 100n
const totalUsdMin = 1_000_000_000_000n

/** Builds the view of one asset. @param balances USD value per chain id; undefined: not known */
export function assetInventory(
  parameters: InventoryParameters,
  balances: Iterable<
    Omit<Position, 'balanceUsd'> & { readonly chainId: number; readonly balanceUsd: UsdX18 | undefined }
  >,
): AssetInventory {
  const chains = new Map<number, Position>()
  const unknown = new Set<number>()
  let totalUsd = 0n
  let squaresPerShare = 0n
  let shareSumBps = 0n
  for (const { chainId, balanceUsd, shareBps, sides, floorUsd } of balances) {
    if (balanceUsd === undefined) {
      unknown.add(chainId)
      continue
    }
    const share = maxBigint(shareBps, shareBpsMin)
    chains.set(chainId, { balanceUsd, shareBps: share, sides, floorUsd })
    totalUsd += balanceUsd
    squaresPerShare += perShare(balanceUsd, share)
    shareSumBps += share
  }
  return {
    parameters,
    ...{ totalUsd, chains, unknown, squaresPerShare, shareSumBps },
    potentialTerm: potentialTerm(squaresPerShare, totalUsd, shareSumBps, divideDown),
  }
}

function perShare(balanceUsd: UsdX18, shareBps: bigint): bigint {
  return (balanceUsd * balanceUsd * bpsDenominator) / shareBps
}

/** The view after moves that are not in it yet. @param moves signed USD by chain id */
export function afterMoves(asset: AssetInventory, moves: ReadonlyMap<number, UsdX18>): AssetInventory {
  const chains = new Map(asset.chains)
  let { totalUsd, squaresPerShare } = asset
  for (const [chainId, deltaUsd] of moves) {
    if (asset.unknown.has(chainId)) continue
    const position: Position = chains.get(chainId) ?? { balanceUsd: 0n, shareBps: shareBpsMin }
    const { balanceUsd, shareBps, sides, floorUsd } = position
    chains.set(chainId, { balanceUsd: balanceUsd + deltaUsd, shareBps, sides, floorUsd })
    totalUsd += deltaUsd
    squaresPerShare += perShare(balanceUsd + deltaUsd, shareBps) - perShare(balanceUsd, shareBps)
  }
  const { parameters, unknown, shareSumBps } = asset
  return {
    ...{ parameters, totalUsd, chains, unknown, squaresPerShare, shareSumBps },
    potentialTerm: potentialTerm(squaresPerShare, totalUsd, shareSumBps, divideDown),
  }
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
 * @source rule Q-40
 */
export function skewCostUsd(received: InventoryMove, paid: InventoryMove): UsdX18 {
  const moved = received.deltaUsd
  return maxBigint(
    potentialChange(received, paid),
    -divideDown(moved * received.asset.parameters.rewardCapBps, bpsDenominator),
  )
}

function potentialChange(received: InventoryMove, paid: InventoryMove): UsdX18 {
  if (received.asset !== paid.asset) {
    return (
      changeOf(received.asset, squaresChange(received), received.deltaUsd) +
      changeOf(paid.asset, squaresChange(paid), paid.deltaUsd)
    )
  }
  // In and out on one chain leave that chain as it was, but for what the two amounts differ by.
  const squares =
    received.chainId === paid.chainId
      ? squaresChange({ ...received, deltaUsd: received.deltaUsd + paid.deltaUsd })
      : squaresChange(received) + squaresChange(paid)
  return changeOf(received.asset, squares, received.deltaUsd + paid.deltaUsd)
}

/** Change of the potential, rounded up, when Σ b²/s and Σ b change by so much. */
function changeOf(asset: AssetInventory, squares: bigint, deltaUsd: UsdX18): UsdX18 {
  const after = potentialTerm(
    asset.squaresPerShare + squares,
    asset.totalUsd + deltaUsd,
    asset.shareSumBps,
    divideUp,
  )
  return divideUp(asset.parameters.kappaBps * (after - asset.potentialTerm), 2n * bpsDenominator)
}

function squaresChange({ asset, chainId, deltaUsd }: InventoryMove): bigint {
  const position = asset.chains.get(chainId)
  const shareBps = position?.shareBps ?? shareBpsMin
  const before = position?.balanceUsd ?? 0n
  return perShare(before + deltaUsd, shareBps) - perShare(before, shareBps)
}

/** (Σ b²/s)/B + B·(Σs − 2): twice the potential over κ. */
function potentialTerm(
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
 * USD that may still be paid in a currency: the asset's balance on its chain less the reserve, or less the solver's floors
 * where those are more, and no more than is on the currency's own side.
 */
export function payableUsd(
  asset: AssetInventory,
  { chainId, key }: Pick<QuotableCurrency, 'chainId' | 'key'>,
): UsdX18 {
  const { balanceUsd = 0n, sides, floorUsd = 0n } = asset.chains.get(chainId) ?? {}
  const reserveUsd = divideUp(balanceUsd * asset.parameters.reserveBps, bpsDenominator)
  const payable = maxBigint(0n, balanceUsd - maxBigint(reserveUsd, floorUsd))
  return sides === undefined ? payable : minBigint(payable, sides.get(key) ?? 0n)
}

/** Solver inventory per asset as of one snapshot. */
export type InventoryView = (asset: QuoteAsset) => AssetInventory | undefined

/** An amount that the solver never pays out, in smallest units. */
export type Floors = ReadonlyMap<CurrencyKey, bigint>

const noFloors: Floors = new Map()

/**
 * Builds inventory views and keeps the one of the last snapshot: quotes of one tick share it.
 * A chain that cannot be read now is left out: its balance is unknown, not zero.
 * @param floors those of now, the same map while they are the same
 */
export function createInventoryViews(
  registry: QuoteRegistry,
  floors: () => Floors = () => noFloors,
): (snapshot: MarketSnapshot) => InventoryView {
  let last: { snapshot: MarketSnapshot; kept: Floors; view: InventoryView } | undefined
  return (snapshot) => {
    const kept = floors()
    if (last?.snapshot !== snapshot || last.kept !== kept)
      last = { snapshot, kept, view: buildView(registry, snapshot, kept) }
    return last.view
  }
}

function buildView(registry: QuoteRegistry, snapshot: MarketSnapshot, floors: Floors): InventoryView {
  const views = new Map<string, AssetInventory | undefined>()
  return (asset) => {
    if (!views.has(asset.id)) views.set(asset.id, buildAsset(registry, { snapshot, floors }, asset))
    return views.get(asset.id)
  }
}

type InventoryInputs = { readonly snapshot: MarketSnapshot; readonly floors: Floors }

function buildAsset(
  registry: QuoteRegistry,
  inputs: InventoryInputs,
  asset: QuoteAsset,
): AssetInventory | undefined {
  if (asset.inventory === undefined) return undefined
  const price = inputs.snapshot.price(asset.priceKey)
  if ('reason' in price) return undefined
  const { kappaBps, rewardCapBps, maxSkewBps, reserveBps } = asset.inventory
  return assetInventory(
    {
      kappaBps: BigInt(kappaBps),
      rewardCapBps: BigInt(rewardCapBps),
      maxSkewBps: BigInt(maxSkewBps),
      reserveBps: BigInt(reserveBps),
    },
    registry.chains.flatMap((chain) => position(chain, inputs, asset, price.usdX18)),
  )
}

function position(
  chain: QuotableChain,
  { snapshot, floors }: InventoryInputs,
  asset: QuoteAsset,
  usdX18: bigint,
) {
  const market = snapshot.chain(chain.chainId)
  const currencies = chain.solverCurrencies.filter((currency) => currency.asset === asset)
  if ('reason' in market || currencies.length === 0) return []
  const held = new Map(
    currencies.flatMap(({ key, decimals }) => {
      const balance = market.inventory.get(key)
      return balance === undefined ? [] : [[key, usdValueDown(balance, { decimals, usdX18 })] as const]
    }),
  )
  const balanceUsd =
    held.size < currencies.length ? undefined : [...held.values()].reduce((sum, usd) => sum + usd, 0n)
  const keptOf = ({ key, decimals }: QuotableCurrency) =>
    usdValueDown(floors.get(key) ?? 0n, { decimals, usdX18 })
  const floorUsd = currencies.reduce((sum, currency) => sum + keptOf(currency), 0n)
  const sides =
    chain.quoting.keepsSides === true
      ? new Map(
          currencies.map((currency) => {
            const side = (held.get(currency.key) ?? 0n) - keptOf(currency)
            return [currency.key, maxBigint(0n, side)] as const
          }),
        )
      : undefined
  const shareBps = chain.config.currencies
    .filter((currency) => currency.asset === asset.id)
    .reduce((sum, { targetShareBps }) => sum + BigInt(targetShareBps ?? 0), 0n)
  return [{ chainId: chain.chainId, balanceUsd, shareBps, sides, floorUsd }]
}
