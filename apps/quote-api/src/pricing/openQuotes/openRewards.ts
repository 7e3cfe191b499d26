import {
  bpsDenominator,
  divideDown,
  divideUp,
  type Hex,
  maxBigint,
  minBigint,
  type UsdX18,
} from '@causeway/core'
import { type AssetInventory, afterMoves, type InventoryMove, skewCostUsd } from '../market/inventory.ts'
import { type BudgetReading, createRewardBudget } from './rewardBudget.ts'

/** A move that earns a reward: so much comes in at one place and goes out at another. */
export type RewardedMove = {
  readonly received: MovedPlace
  readonly paid: MovedPlace
  readonly usdX18: UsdX18
  /** The reward, rounded up. */
  readonly microUsd: bigint
}
type MovedPlace = { readonly assetId: string; readonly chainId: number }

/** A move of `usdX18` over the inventory that the solver has. */
export type RatedMove = {
  readonly received: MovedPlace & Pick<InventoryMove, 'asset'>
  readonly paid: MovedPlace & Pick<InventoryMove, 'asset'>
  readonly usdX18: UsdX18
}

/** Open and bound moves and the budget, as they lower the reward of one request. @source */
export interface RewardBound {
  /**
   * @param costUsd of the move by the solver's inventory alone, below zero
   * @returns from `costUsd` to zero
   */
  rewardOf(costUsd: UsdX18, move: RatedMove): UsdX18
}

/** For who earns nothing. */
export const noReward: RewardBound = { rewardOf: () => 0n }

/** Moves that earn a reward: those that can still be deposited for, of this process, and those that were, of all. */
export interface OpenRewards {
  /** @param asker.without a request whose own move does not lower its reward */
  boundOf(asker: Asker & { readonly nowSeconds: number; readonly without?: Hex }): RewardBound
  /** Counts a move until its price ends; at once, so that quotes that are asked for together count each other. */
  hold(move: RewardedMove, asker: Asker & { readonly endsAtSeconds: number }): HeldReward
  /** Counts a move that is about to be bound, before the database lists it. */
  bind(requestId: Hex, move: RewardedMove, nowSeconds: number): void
  /**
   * Takes what the database says.
   * @returns what this process may promise from now on, in micro-USD; more than before once `confirmClaim` is called
   */
  putBound(bound: BoundRewards, nowSeconds: number): bigint
  /** The claim that `putBound` returned is stored, so that others leave it alone. */
  confirmClaim(): void
  /** Forgets the bound sum: until `putBound` no move earns a reward. */
  forgetBound(): void
}

export type BoundRewards = BudgetReading & {
  /** Moves that were deposited for and are not in the solver's inventory yet. */
  readonly moves: ReadonlyMap<Hex, BoundMove>
}
/** A reward that is not booked is not in the reading of the budget. */
export type BoundMove = RewardedMove & { readonly isBooked: boolean }

type Asker = { readonly hasKey: boolean }

export type HeldReward = {
  /** Bound under this id, it counts once. */
  name(requestId: Hex): void
  release(): void
}

/** A filled move counts until every snapshot of the market shows the solver's new balances. */
const shownWithinSeconds = 30

type Bound = { readonly move: RewardedMove; readonly isBooked: boolean; readonly seenAtSeconds: number }

/** A fraction: a dollar counts so often. */
type Weight = readonly [numerator: bigint, denominator: bigint]
/** Signed sums by asset and chain. */
type Sum = Map<string, Map<number, UsdX18>>
type Held = {
  readonly move: RewardedMove
  readonly hasKey: boolean
  readonly endsAtSeconds: number
  requestId: Hex | undefined
}

/**
 * @param options.processes of the service, each of which knows the open quotes of its own
 * @param options.keylessBps part of all rewards that quotes without a key may hold; 0: none
 * @param options.perDayMicroUsd what rewards may give away within 24 hours beside the skew costs that were kept
 */
export function createOpenRewards(options: {
  readonly processes: number
  readonly keylessBps: number
  readonly perDayMicroUsd: bigint
}): OpenRewards {
  const { keylessBps } = options
  const budget = createRewardBudget(options)
  const one: Weight = [1n, 1n]
  const ofKeys: Weight = [BigInt(options.processes), 1n]
  const ofKeyless: Weight = [BigInt(options.processes) * bpsDenominator, BigInt(keylessBps)]
  const open = new OpenMoves(budget)
  const bound = new BoundMoves()
  let isKnown = false

  function bind(requestId: Hex, move: Bound): void {
    open.releaseNamed(requestId)
    bound.put(requestId, move)
  }

  return {
    boundOf({ hasKey, nowSeconds, without }) {
      open.prune(nowSeconds)
      if (!isKnown || (!hasKey && keylessBps === 0)) return noReward
      const own: Sum = new Map()
      const boundMove = without && bound.get(without)
      if (boundMove !== undefined) add(own, boundMove.move, -1n)
      const counted = [
        { sum: bound.sum, weight: one },
        { sum: own, weight: one },
        { sum: open.keyedSum, weight: ofKeys },
        { sum: open.keylessSum, weight: hasKey ? ofKeys : ofKeyless },
      ]
      const ownMicroUsd = boundMove === undefined || boundMove.isBooked ? 0n : boundMove.move.microUsd
      const leftMicroUsd = budget.left({ hasKey }) + ownMicroUsd
      return rewardBound(counted, { weight: hasKey ? ofKeys : ofKeyless, leftMicroUsd })
    },
    hold(move, { hasKey, endsAtSeconds }) {
      const held: Held = { move, hasKey, endsAtSeconds, requestId: undefined }
      open.hold(held)
      return { name: (requestId) => open.name(held, requestId), release: () => open.release(held) }
    },
    bind(requestId, move, nowSeconds) {
      const boundMove = bound.get(requestId)
      if (boundMove === undefined) budget.spend(move.microUsd)
      bind(requestId, { move, isBooked: boundMove?.isBooked ?? false, seenAtSeconds: nowSeconds })
    },
    putBound({ moves, ...reading }, nowSeconds) {
      open.prune(nowSeconds)
      isKnown = true
      for (const [requestId, { isBooked, ...move }] of moves)
        bind(requestId, { move, isBooked, seenAtSeconds: nowSeconds })
      bound.prune(nowSeconds)
      return budget.claim(reading, bound.pendingMicroUsd())
    },
    confirmClaim: () => budget.confirm(),
    forgetBound() {
      isKnown = false
    },
  }
}

/** Moves that were deposited for, by request. */
class BoundMoves {
  readonly sum: Sum = new Map()
  readonly #bound = new Map<Hex, Bound>()

  get(requestId: Hex): Bound | undefined {
    return this.#bound.get(requestId)
  }

  put(requestId: Hex, bound: Bound): void {
    if (!this.#bound.has(requestId)) add(this.sum, bound.move, 1n)
    this.#bound.set(requestId, bound)
  }

  prune(nowSeconds: number): void {
    for (const [requestId, { move, seenAtSeconds }] of this.#bound) {
      if (seenAtSeconds + shownWithinSeconds >= nowSeconds) continue
      add(this.sum, move, -1n)
      this.#bound.delete(requestId)
    }
  }

  /** Rewards that are not booked yet. */
  pendingMicroUsd(): bigint {
    let pending = 0n
    for (const { move, isBooked } of this.#bound.values()) if (!isBooked) pending += move.microUsd
    return pending
  }
}

/** Moves that can still be deposited for. */
class OpenMoves {
  readonly keyedSum: Sum = new Map()
  readonly keylessSum: Sum = new Map()
  readonly #budget: ReturnType<typeof createRewardBudget>
  /** Open promises by the second at which they end. */
  readonly #open = new Map<number, Set<Held>>()
  readonly #named = new Map<Hex, Held>()
  #prunedAtSeconds = 0

  constructor(budget: ReturnType<typeof createRewardBudget>) {
    this.#budget = budget
  }

  hold(held: Held): void {
    const ofSecond = this.#open.get(held.endsAtSeconds) ?? new Set()
    this.#open.set(held.endsAtSeconds, ofSecond.add(held))
    add(this.#sumOf(held), held.move, 1n)
    this.#budget.hold(held.move.microUsd, held)
  }

  name(held: Held, requestId: Hex): void {
    held.requestId = requestId
    if (this.#open.get(held.endsAtSeconds)?.has(held) === true) this.#named.set(requestId, held)
  }

  release(held: Held): void {
    const ofSecond = this.#open.get(held.endsAtSeconds)
    if (ofSecond?.delete(held) !== true) return
    if (ofSecond.size === 0) this.#open.delete(held.endsAtSeconds)
    if (held.requestId !== undefined) this.#named.delete(held.requestId)
    add(this.#sumOf(held), held.move, -1n)
    this.#budget.release(held.move.microUsd, held)
  }

  releaseNamed(requestId: Hex): void {
    const held = this.#named.get(requestId)
    if (held !== undefined) this.release(held)
  }

  prune(nowSeconds: number): void {
    if (nowSeconds <= this.#prunedAtSeconds) return
    this.#prunedAtSeconds = nowSeconds
    for (const [second, ended] of this.#open)
      if (second < nowSeconds) for (const held of ended) this.release(held)
  }

  #sumOf({ hasKey }: Asker): Sum {
    return hasKey ? this.keyedSum : this.keylessSum
  }
}

const usdX18PerMicroUsd = 10n ** 12n

function add(sum: Sum, { received, paid, usdX18 }: RewardedMove, sign: 1n | -1n): void {
  addAt(sum, received, sign * usdX18)
  addAt(sum, paid, -sign * usdX18)
}

function addAt(sum: Sum, { assetId, chainId }: MovedPlace, usdX18: UsdX18): void {
  const chains = sum.get(assetId) ?? new Map<number, UsdX18>()
  const total = (chains.get(chainId) ?? 0n) + usdX18
  if (total === 0n) chains.delete(chainId)
  else chains.set(chainId, total)
  if (chains.size === 0) sum.delete(assetId)
  else sum.set(assetId, chains)
}

/**
 * The potential is convex, so along one pair each further dollar earns less: a move after all open ones earns no more
 * than in a row with them. Where others do not know of each other, or may hold a part alone, all their moves and this
 * one count `weight` times and earn that part: together no more than all of them in a row.
 */
function rewardBound(
  counted: readonly { readonly sum: Sum; readonly weight: Weight }[],
  { weight, leftMicroUsd }: { readonly weight: Weight; readonly leftMicroUsd: bigint },
): RewardBound {
  const inventoryCache = new Map<string, { readonly from: AssetInventory; readonly moved: AssetInventory }>()
  const movedInventory = ({ assetId, asset }: RatedMove['paid']): AssetInventory => {
    const before = inventoryCache.get(assetId)
    if (before?.from === asset) return before.moved
    const moves = new Map<number, UsdX18>()
    for (const {
      sum,
      weight: [over, under],
    } of counted)
      for (const [chainId, usdX18] of sum.get(assetId) ?? [])
        moves.set(chainId, (moves.get(chainId) ?? 0n) + (usdX18 * over) / under)
    const moved = moves.size === 0 ? asset : afterMoves(asset, moves)
    inventoryCache.set(assetId, { from: asset, moved })
    return moved
  }
  const [over, under] = weight
  const mostUsd = leftMicroUsd * usdX18PerMicroUsd
  return {
    rewardOf(wholeCostUsd, { received, paid, usdX18 }) {
      const costUsd = minBigint(0n, maxBigint(wholeCostUsd, -mostUsd))
      const deltaUsd = divideUp(usdX18 * over, under)
      const from = movedInventory(received)
      const to = movedInventory(paid)
      if (deltaUsd === usdX18 && from === received.asset && to === paid.asset) return costUsd
      const weighted = skewCostUsd(
        { asset: from, chainId: received.chainId, deltaUsd },
        { asset: to, chainId: paid.chainId, deltaUsd: -deltaUsd },
      )
      return minBigint(0n, maxBigint(costUsd, -divideDown(-weighted * under, over)))
    },
  }
}
