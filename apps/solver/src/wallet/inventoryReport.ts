import { maxBigint, minBigint } from '@causeway/core'

/** Owner of a balance on the hub: an order signer, with the chain that its orders name as the solver's. */
export type HubOwner = { readonly chain: string; readonly account: string }

/** A part of what the hub owes, in smallest units. */
export type HubBalance = HubOwner & { readonly amount: bigint }

/** Money of the fill wallet in one currency on one chain, now and soon. Amounts in smallest units. */
export type Holding = {
  readonly chain: string
  /** As the codec of its chain spells it. */
  readonly currency: string
  readonly symbol: string
  /** Currencies of one asset are worth the same: they are moved between chains. */
  readonly asset: string
  readonly decimals: number
  readonly amount: bigint
  /** Part of the amount that is never paid out. */
  readonly floor: bigint
  /** Share of the asset that belongs here; undefined where the configuration names none. */
  readonly targetShareBps: number | undefined
  /** Balances that can be withdrawn from the hub to this chain now. */
  readonly atHub: readonly HubBalance[]
  /** Deposits that the solver earned by payments, and that the hub has not moved to it yet. */
  readonly unsettled: bigint
  /** Sum that the wallet paid out in the last 24 hours. */
  readonly dayOutflow: bigint
}

/** Advice to move money between the wallets of two chains; in smallest units of the chain that it leaves. */
export type Move = {
  readonly symbol: string
  readonly decimals: number
  readonly amount: bigint
  readonly from: string
  readonly to: string
}

/** Advice to withdraw from the hub to the fill wallet; only the chain of the deposit can pay that out. */
export type Withdrawal = Pick<Holding, 'chain' | 'currency' | 'symbol' | 'decimals'> & {
  readonly amount: bigint
  readonly owner: HubOwner
}

/** Advice for an operator. */
export type Plan = { readonly withdrawals: readonly Withdrawal[]; readonly moves: readonly Move[] }

const sharesTotalBps = 10_000n
/** Smallest move that is worth its cost, in basis points of the asset's total. */
const smallestMoveBps = 100n
const daySeconds = 86_400n

/**
 * Plans withdrawals and then moves, so that every chain has its share of each asset: withdrawals first, because they
 * take nothing from another chain. Where no share is named, each chain's part is by what it paid out in the last
 * day, and nothing is moved between them. Nothing leaves a chain below its floor. Pure.
 * @source rule O-96
 */
export function planInventory(holdings: readonly Holding[]): Plan {
  // Symbols of one asset, such as ETH and WETH, are planned apart: a move swaps nothing.
  const assets = new Set(holdings.map(({ asset, symbol }) => `${asset} ${symbol}`))
  const plans = [...assets].map((name) =>
    planAsset(holdings.filter(({ asset, symbol }) => `${asset} ${symbol}` === name)),
  )
  return {
    withdrawals: plans.flatMap(({ withdrawals }) => withdrawals),
    moves: plans.flatMap(({ moves }) => moves),
  }
}

const emptyPlan: Plan = { withdrawals: [], moves: [] }

/** Plan for the holdings of one asset and symbol; empty where no target balances can be told. */
function planAsset(holdings: readonly Holding[]): Plan {
  const [first] = holdings
  // Amounts in different units cannot be summed.
  if (first === undefined || holdings.some(({ decimals }) => decimals !== first.decimals)) return emptyPlan
  const total = sumOf(holdings, (holding) => holding.amount + hubSum(holding))
  const targets = targetsOf(holdings, total)
  if (targets === undefined) return emptyPlan
  const chainTargets = holdings.map((holding, index): ChainTarget => {
    const target = targets[index] ?? 0n
    return { holding, target, kept: maxBigint(target, holding.floor) }
  })
  const smallest = (total * smallestMoveBps) / sharesTotalBps
  const haveShares = holdings.every(({ targetShareBps }) => targetShareBps !== undefined)
  const moves = haveShares ? planMoves(chainTargets, smallest) : []
  return { moves, withdrawals: chainTargets.flatMap((target) => withdrawalsOf(target, moves, smallest)) }
}

/** A chain's holding with the balance that it should have, and the one below which nothing leaves it. */
type ChainTarget = { readonly holding: Holding; readonly target: bigint; readonly kept: bigint }

/**
 * Target balances by the named shares, else by the flow of the last day; undefined where only some chains
 * name a share, or none does and nothing was paid out.
 */
function targetsOf(holdings: readonly Holding[], total: bigint): readonly bigint[] | undefined {
  const shares = holdings.flatMap(({ targetShareBps }) => targetShareBps ?? [])
  if (shares.length === holdings.length) return shares.map((bps) => (total * BigInt(bps)) / sharesTotalBps)
  const outflow = sumOf(holdings, ({ dayOutflow }) => dayOutflow)
  if (shares.length > 0 || outflow === 0n) return undefined
  return holdings.map(({ dayOutflow }) => (total * dayOutflow) / outflow)
}

/**
 * Moves from the largest surplus to the largest shortage, until one of the two is no more than `smallest`;
 * the hub's debt to a chain counts as its balance. No chain has both, because `kept` is at least `target`.
 */
function planMoves(chainTargets: readonly ChainTarget[], smallest: bigint): readonly Move[] {
  const balances = chainTargets.map(({ holding, target, kept }) => {
    const amount = holding.amount + hubSum(holding)
    return { holding, missing: target - amount, spare: amount - kept }
  })
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

/**
 * Withdrawals that a chain's wallet needs to hold `kept` after all moves, from the largest hub balance on.
 * Moves count the hub's debt as held, so the wallet may first have to withdraw what it then sends.
 */
function withdrawalsOf(
  { holding, kept }: ChainTarget,
  moves: readonly Move[],
  smallest: bigint,
): readonly Withdrawal[] {
  const { chain, currency, symbol, decimals } = holding
  const leaving = sumOf(moves, ({ from, amount }) => (from === chain ? amount : 0n))
  const coming = sumOf(moves, ({ to, amount }) => (to === chain ? amount : 0n))
  let missing = minBigint(hubSum(holding), kept + leaving - coming - holding.amount)
  // A move from here needs its money however little is missing.
  if (missing <= (leaving > 0n ? 0n : smallest)) return []
  const largestFirst = [...holding.atHub].sort((one, other) => (one.amount < other.amount ? 1 : -1))
  return largestFirst.flatMap(({ amount: owned, ...owner }) => {
    const amount = minBigint(owned, missing)
    missing -= amount
    return amount > 0n ? [{ chain, currency, symbol, decimals, amount, owner }] : []
  })
}

const hubSum = ({ atHub }: Pick<Holding, 'atHub'>): bigint => sumOf(atHub, ({ amount }) => amount)

const sumOf = <T>(list: readonly T[], amountOf: (one: T) => bigint): bigint =>
  list.reduce((sum, one) => sum + amountOf(one), 0n)

/** Seconds until the balance reaches its floor if payments go on as in the last day; undefined if there were none. */
export function lastingSeconds(
  holding: Pick<Holding, 'amount' | 'floor' | 'dayOutflow'>,
): bigint | undefined {
  const { amount, floor, dayOutflow } = holding
  return dayOutflow === 0n ? undefined : (maxBigint(amount - floor, 0n) * daySeconds) / dayOutflow
}

/**
 * The report as lines for people: each holding, then the advice.
 * @param format smallest units and decimals as a decimal number
 * @param commandOf command line that makes a withdrawal
 */
export function describeInventory(
  holdings: readonly Holding[],
  { withdrawals, moves }: Plan,
  {
    format,
    commandOf,
  }: {
    readonly format: (amount: bigint, decimals: number) => string
    readonly commandOf: (withdrawal: Withdrawal, index: number) => string
  },
): string {
  const lines = holdings.map((holding) => {
    const { chain, symbol, amount, floor, decimals, unsettled, dayOutflow } = holding
    const toText = (value: bigint) => format(value, decimals)
    const hubBalance = hubSum(holding)
    const lasting = lastingSeconds(holding)
    return [
      `${chain}  ${symbol}  ${toText(amount)}  floor ${toText(floor)}`,
      ...(amount < floor ? ['BELOW ITS FLOOR'] : []),
      ...(hubBalance > 0n ? [`on the hub ${toText(hubBalance)}`] : []),
      ...(unsettled > 0n ? [`not settled on the hub ${toText(unsettled)}`] : []),
      ...(lasting === undefined ? [] : [`lasts ${hoursOf(lasting)} at ${toText(dayOutflow)} a day`]),
    ].join('  ')
  })
  const advice = [
    ...withdrawals.flatMap((withdrawal, index) => {
      const { symbol, decimals, amount, chain, owner } = withdrawal
      return [
        `withdraw ${format(amount, decimals)} ${symbol} on ${chain}, which the hub owes ${owner.account} of ${owner.chain}:`,
        `  ${commandOf(withdrawal, index)}`,
      ]
    }),
    ...moves.map(
      ({ symbol, decimals, amount, from, to }) =>
        `move ${format(amount, decimals)} ${symbol} from ${from} to ${to}`,
    ),
  ]
  return [
    ...lines,
    '',
    ...(advice.length === 0
      ? ['Nothing needs to be moved.']
      : [...advice, 'This command moved nothing: whoever runs these lines does.']),
  ].join('\n')
}

function hoursOf(seconds: bigint): string {
  const hours = seconds / 3_600n
  return hours < 48n ? `${hours} h` : `${hours / 24n} d`
}
