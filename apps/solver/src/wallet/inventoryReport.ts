import { minBigint } from '@causeway/core'

/** What the fill wallet holds of one currency on one chain. Amounts in smallest units. */
export type Holding = {
  readonly chain: string
  readonly symbol: string
  /** Currencies of one asset are worth the same: they are moved between chains. */
  readonly asset: string
  readonly decimals: number
  readonly amount: bigint
  readonly floor: bigint
  /** Share of the asset that belongs here; undefined where the configuration names none. */
  readonly targetShareBps: number | undefined
}

/** In the smallest units of the chain that it leaves. */
export type Move = {
  readonly symbol: string
  readonly decimals: number
  readonly amount: bigint
  readonly from: string
  readonly to: string
}

const sharesTotalBps = 10_000n
/** Less than this part of an asset is not worth a move. */
const smallestMoveBps = 100n

/**
 * What to move where, so that every chain has its share of each asset: from where most is too much to where most is
 * missing. Assets without shares stay where they are, and nothing leaves a chain below its floor.
 */
export function planMoves(holdings: readonly Holding[]): readonly Move[] {
  const assets = new Set(holdings.map(({ asset, symbol }) => `${asset} ${symbol}`))
  return [...assets].flatMap((name) =>
    planAsset(holdings.filter(({ asset, symbol }) => `${asset} ${symbol}` === name)),
  )
}

function planAsset(holdings: readonly Holding[]): readonly Move[] {
  if (holdings.some(({ targetShareBps }) => targetShareBps === undefined)) return []
  const [first] = holdings
  if (first === undefined || holdings.some(({ decimals }) => decimals !== first.decimals)) return []
  const total = holdings.reduce((sum, { amount }) => sum + amount, 0n)
  const balances = holdings.map((holding) => {
    const target = (total * BigInt(holding.targetShareBps ?? 0)) / sharesTotalBps
    const kept = target > holding.floor ? target : holding.floor
    return { holding, missing: target - holding.amount, spare: holding.amount - kept }
  })
  const smallest = (total * smallestMoveBps) / sharesTotalBps
  const moves: Move[] = []
  for (;;) {
    const from = balances.reduce((most, one) => (one.spare > most.spare ? one : most))
    const to = balances.reduce((most, one) => (one.missing > most.missing ? one : most))
    const amount = minBigint(from.spare, to.missing)
    if (amount <= smallest) return moves
    from.spare -= amount
    to.missing -= amount
    const { symbol, decimals, chain } = from.holding
    moves.push({ symbol, decimals, amount, from: chain, to: to.holding.chain })
  }
}

/** Lines for people. @param format smallest units and decimals as a decimal number */
export function describeInventory(
  holdings: readonly Holding[],
  moves: readonly Move[],
  format: (amount: bigint, decimals: number) => string,
): string {
  const lines = holdings.map(({ chain, symbol, amount, floor, decimals }) => {
    const isLow = amount < floor
    return `${chain}  ${symbol}  ${format(amount, decimals)}  floor ${format(floor, decimals)}${isLow ? '  BELOW ITS FLOOR' : ''}`
  })
  const advice = moves.map(
    ({ symbol, decimals, amount, from, to }) =>
      `move ${format(amount, decimals)} ${symbol} from ${from} to ${to}`,
  )
  return [...lines, '', ...(advice.length === 0 ? ['Nothing needs to be moved.'] : advice)].join('\n')
}
