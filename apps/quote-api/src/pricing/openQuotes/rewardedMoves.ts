import type { Hex, UsdX18 } from '@causeway/core'
import type { RewardBudget } from './rewardBudget.ts'

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
export type AssetOnChain = { readonly assetId: string; readonly chainId: number }

/** Sum of moves: signed USD by asset id and chain id. A sum of zero has no entry. */
export type NetMoves = Map<string, Map<number, UsdX18>>

/** Adds a move to the sum, or takes it back. */
export function addMove(net: NetMoves, { received, paid, usdX18 }: RewardedMove, sign: 1n | -1n): void {
  addWorth(net, received, sign * usdX18)
  addWorth(net, paid, -sign * usdX18)
}

function addWorth(net: NetMoves, { assetId, chainId }: AssetOnChain, usdX18: UsdX18): void {
  const chains = net.get(assetId) ?? new Map<number, UsdX18>()
  const total = (chains.get(chainId) ?? 0n) + usdX18
  if (total === 0n) chains.delete(chainId)
  else chains.set(chainId, total)
  if (chains.size === 0) net.delete(assetId)
  else net.set(assetId, chains)
}

/** A bound move counts this long after it was last listed: by then every market snapshot shows the new balances. */
const shownWithinSeconds = 30

/** A move of an order, when it was last listed, and whether its reward is part of `bookedMicroUsd` already. */
export type ListedMove = {
  readonly move: RewardedMove
  readonly isBooked: boolean
  readonly listedAtSeconds: number
}

/** Moves of orders that a deposit was bound to, by request id, and their sum. */
export class BoundMoves {
  readonly net: NetMoves = new Map()
  readonly #listed = new Map<Hex, ListedMove>()

  get(requestId: Hex): ListedMove | undefined {
    return this.#listed.get(requestId)
  }

  /** Lists a move, perhaps again. A request's move never changes, so it is added to the sum only once. */
  put(requestId: Hex, listed: ListedMove): void {
    if (!this.#listed.has(requestId)) addMove(this.net, listed.move, 1n)
    this.#listed.set(requestId, listed)
  }

  prune(nowSeconds: number): void {
    for (const [requestId, { move, listedAtSeconds }] of this.#listed) {
      if (listedAtSeconds + shownWithinSeconds >= nowSeconds) continue
      addMove(this.net, move, -1n)
      this.#listed.delete(requestId)
    }
  }

  /** Rewards that are not booked yet. */
  pendingMicroUsd(): bigint {
    let pending = 0n
    for (const { move, isBooked } of this.#listed.values()) if (!isBooked) pending += move.microUsd
    return pending
  }
}

/** The move of an unexpired quote. `OpenMoves.name` writes `requestId`, once the quote is stored. */
export type OpenMove = {
  readonly move: RewardedMove
  /** The caller has an API key; other quotes may hold only a part of the rewards. */
  readonly hasKey: boolean
  readonly endsAtSeconds: number
  requestId: Hex | undefined
}

/** Moves of this process's unexpired quotes and their sums. Their rewards are held in the budget. */
export class OpenMoves {
  readonly keyedNet: NetMoves = new Map()
  readonly keylessNet: NetMoves = new Map()
  readonly #budget: RewardBudget
  readonly #openByEndSeconds = new Map<number, Set<OpenMove>>()
  readonly #named = new Map<Hex, OpenMove>()
  #prunedAtSeconds = 0

  constructor(budget: RewardBudget) {
    this.#budget = budget
  }

  hold(open: OpenMove): void {
    const withSameEnd = this.#openByEndSeconds.get(open.endsAtSeconds) ?? new Set()
    this.#openByEndSeconds.set(open.endsAtSeconds, withSameEnd.add(open))
    addMove(this.#netOf(open), open.move, 1n)
    this.#budget.hold(open.move.microUsd, open)
  }

  /** A move that ended before it was named stays released. */
  name(open: OpenMove, requestId: Hex): void {
    open.requestId = requestId
    if (this.#openByEndSeconds.get(open.endsAtSeconds)?.has(open) === true) this.#named.set(requestId, open)
  }

  /** Does nothing for a move that was released before. */
  release(open: OpenMove): void {
    const withSameEnd = this.#openByEndSeconds.get(open.endsAtSeconds)
    if (withSameEnd?.delete(open) !== true) return
    if (withSameEnd.size === 0) this.#openByEndSeconds.delete(open.endsAtSeconds)
    if (open.requestId !== undefined) this.#named.delete(open.requestId)
    addMove(this.#netOf(open), open.move, -1n)
    this.#budget.release(open.move.microUsd, open)
  }

  releaseNamed(requestId: Hex): void {
    const open = this.#named.get(requestId)
    if (open !== undefined) this.release(open)
  }

  prune(nowSeconds: number): void {
    if (nowSeconds <= this.#prunedAtSeconds) return
    this.#prunedAtSeconds = nowSeconds
    for (const [endSeconds, ended] of this.#openByEndSeconds)
      if (endSeconds < nowSeconds) for (const open of ended) this.release(open)
  }

  #netOf({ hasKey }: Pick<OpenMove, 'hasKey'>): NetMoves {
    return hasKey ? this.keyedNet : this.keylessNet
  }
}
