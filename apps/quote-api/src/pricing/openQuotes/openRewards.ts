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

/**
 * A move of the solver's inventory that earns a reward: a worth enters the balance of one asset on one chain, and the
 * same worth leaves another balance. Orders store it as JSON.
 */
export type RewardedMove = {
  readonly received: AssetOnChain
  readonly paid: AssetOnChain
  readonly usdX18: UsdX18
  /** The reward, rounded up. */
  readonly microUsd: bigint
}
type AssetOnChain = { readonly assetId: string; readonly chainId: number }

/** A move of `usdX18` whose reward is to be computed, with the inventories that it changes. */
export type RatedMove = {
  readonly received: AssetOnChain & Pick<InventoryMove, 'asset'>
  readonly paid: AssetOnChain & Pick<InventoryMove, 'asset'>
  readonly usdX18: UsdX18
}

/**
 * Limit of the reward that one request may earn, by other rewarded moves and by the budget.
 * @source
 */
export interface RewardLimit {
  /**
   * @param costUsd skew cost of the move by the solver's present inventory; negative, so a reward
   * @returns the reward that the request gets, as a cost between `costUsd` and zero
   */
  rewardOf(costUsd: UsdX18, move: RatedMove): UsdX18
}

/** Limit of a request that earns no reward. */
export const noReward: RewardLimit = { rewardOf: () => 0n }

/**
 * Rewarded moves that are not in the solver's inventory yet. *Open* ones belong to unexpired quotes of this process.
 * *Bound* ones belong to orders of all processes that a deposit was bound to. A new quote earns what both leave.
 */
export interface OpenRewards {
  /** @param asker.without request whose own bound move is left out, where its deposit is priced again */
  limitOf(asker: Asker & { readonly nowSeconds: number; readonly without?: Hex }): RewardLimit
  /** Counts the open move of a quote until its price ends. Synchronous, so that concurrent quotes count each other. */
  hold(move: RewardedMove, asker: Asker & { readonly endsAtSeconds: number }): HeldReward
  /** Counts a move as bound when its deposit is about to be bound, before the database lists it. */
  bind(requestId: Hex, move: RewardedMove, nowSeconds: number): void
  /**
   * Takes the bound moves and budget figures that were read from the database.
   * @returns what this process may promise from now on, in micro-USD; more than before once `confirmClaim` is called
   */
  putBound(bound: BoundRewards, nowSeconds: number): bigint
  /** Tells that the claim which `putBound` returned is stored, so that other processes respect it. */
  confirmClaim(): void
  /** No move earns a reward until `putBound` is called again, because the bound moves are not known now. */
  forgetBound(): void
}

export type BoundRewards = BudgetReading & {
  /** By request id: moves that were deposited for and are not in the solver's inventory yet. */
  readonly moves: ReadonlyMap<Hex, BoundMove>
}
/** `isBooked`: the reward is part of `bookedMicroUsd` already. */
export type BoundMove = RewardedMove & { readonly isBooked: boolean }

type Asker = { readonly hasKey: boolean }

/** The counted move of one quote. */
export type HeldReward = {
  /** Names the quote's request, so that `bind` of it ends this hold and the move counts once. */
  name(requestId: Hex): void
  /** Ends the hold, for a quote that is not answered after all. */
  release(): void
}

/** A bound move counts this long after it was last listed: by then every market snapshot shows the new balances. */
const shownWithinSeconds = 30

type Bound = { readonly move: RewardedMove; readonly isBooked: boolean; readonly seenAtSeconds: number }

/** A fraction: how often a dollar counts. */
type Weight = readonly [numerator: bigint, denominator: bigint]
/** Signed USD by asset id and chain id. */
type Sum = Map<string, Map<number, UsdX18>>
/** An open move. `requestId` is undefined until the quote is named. */
type Held = {
  readonly move: RewardedMove
  readonly hasKey: boolean
  readonly endsAtSeconds: number
  requestId: Hex | undefined
}

/**
 * Weights: other processes may have as many open moves as this one, so those of this process count `processes` times.
 * Quotes without a key may hold only `keylessBps` of the rewards, so for them keyless moves count 10 000/`keylessBps`
 * times more.
 * @param options.processes number of processes of the service; each knows only its own open quotes
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
  const singleWeight: Weight = [1n, 1n]
  const keyedWeight: Weight = [BigInt(options.processes), 1n]
  const keylessWeight: Weight = [BigInt(options.processes) * bpsDenominator, BigInt(keylessBps)]
  const open = new OpenMoves(budget)
  const bound = new BoundMoves()
  /** False until the database was read, and after `forgetBound`. */
  let isBoundKnown = false

  function bind(requestId: Hex, move: Bound): void {
    open.releaseNamed(requestId)
    bound.put(requestId, move)
  }

  return {
    limitOf({ hasKey, nowSeconds, without }) {
      open.prune(nowSeconds)
      if (!isBoundKnown || (!hasKey && keylessBps === 0)) return noReward
      const ownWeight = hasKey ? keyedWeight : keylessWeight
      const minusOwnSum: Sum = new Map()
      const ownBound = without && bound.get(without)
      if (ownBound !== undefined) add(minusOwnSum, ownBound.move, -1n)
      const counted = [
        { sum: bound.sum, weight: singleWeight },
        { sum: minusOwnSum, weight: singleWeight },
        { sum: open.keyedSum, weight: keyedWeight },
        { sum: open.keylessSum, weight: ownWeight },
      ]
      const ownMicroUsd = ownBound === undefined || ownBound.isBooked ? 0n : ownBound.move.microUsd
      const leftMicroUsd = budget.left({ hasKey }) + ownMicroUsd
      return createRewardLimit(counted, { weight: ownWeight, leftMicroUsd })
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
      isBoundKnown = true
      for (const [requestId, { isBooked, ...move }] of moves)
        bind(requestId, { move, isBooked, seenAtSeconds: nowSeconds })
      bound.prune(nowSeconds)
      return budget.claim(reading, bound.pendingMicroUsd())
    },
    confirmClaim: () => budget.confirm(),
    forgetBound() {
      isBoundKnown = false
    },
  }
}

/** Moves of orders that a deposit was bound to, by request id, and their sum. */
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

/** Moves of this process's unexpired quotes and their sums. Their rewards are held in the budget. */
class OpenMoves {
  readonly keyedSum: Sum = new Map()
  readonly keylessSum: Sum = new Map()
  readonly #budget: ReturnType<typeof createRewardBudget>
  /** Open moves by the second at which they end. */
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

function addAt(sum: Sum, { assetId, chainId }: AssetOnChain, usdX18: UsdX18): void {
  const chains = sum.get(assetId) ?? new Map<number, UsdX18>()
  const total = (chains.get(chainId) ?? 0n) + usdX18
  if (total === 0n) chains.delete(chainId)
  else chains.set(chainId, total)
  if (chains.size === 0) sum.delete(assetId)
  else sum.set(assetId, chains)
}

/**
 * Prices a move over the inventory as it will be after all counted moves. The potential is convex, so each further
 * dollar between two balances earns less, and the sum of all rewards is at most that of all moves in a row.
 * Callers that do not know of each other (several processes), or that share a part of the rewards (keyless ones), each
 * price as if their own moves were `weight` times as large, and get 1/`weight` of that reward.
 * @param limits.leftMicroUsd what the budget leaves
 */
function createRewardLimit(
  counted: readonly { readonly sum: Sum; readonly weight: Weight }[],
  { weight, leftMicroUsd }: { readonly weight: Weight; readonly leftMicroUsd: bigint },
): RewardLimit {
  const inventoryCache = new Map<string, { readonly asset: AssetInventory; readonly moved: AssetInventory }>()
  const movedInventory = ({ assetId, asset }: RatedMove['paid']): AssetInventory => {
    const cached = inventoryCache.get(assetId)
    if (cached?.asset === asset) return cached.moved
    const moves = new Map<number, UsdX18>()
    for (const {
      sum,
      weight: [numerator, denominator],
    } of counted)
      for (const [chainId, usdX18] of sum.get(assetId) ?? [])
        moves.set(chainId, (moves.get(chainId) ?? 0n) + (usdX18 * numerator) / denominator)
    const moved = moves.size === 0 ? asset : afterMoves(asset, moves)
    inventoryCache.set(assetId, { asset, moved })
    return moved
  }
  const [numerator, denominator] = weight
  const budgetUsd = leftMicroUsd * usdX18PerMicroUsd
  return {
    rewardOf(costUsd, { received, paid, usdX18 }) {
      const affordableUsd = minBigint(0n, maxBigint(costUsd, -budgetUsd))
      const weightedUsd = divideUp(usdX18 * numerator, denominator)
      const receivedAsset = movedInventory(received)
      const paidAsset = movedInventory(paid)
      // Nothing counted changes these inventories: `costUsd` was computed over the same ones.
      if (weightedUsd === usdX18 && receivedAsset === received.asset && paidAsset === paid.asset)
        return affordableUsd
      const weightedCostUsd = skewCostUsd(
        { asset: receivedAsset, chainId: received.chainId, deltaUsd: weightedUsd },
        { asset: paidAsset, chainId: paid.chainId, deltaUsd: -weightedUsd },
      )
      return minBigint(0n, maxBigint(affordableUsd, -divideDown(-weightedCostUsd * denominator, numerator)))
    },
  }
}
