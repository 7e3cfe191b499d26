import { bpsDenominator, type Hex } from '@causeway/core'
import { type BudgetReading, createRewardBudget } from './rewardBudget.ts'
import {
  addMove,
  BoundMoves,
  type NetMoves,
  type OpenMove,
  OpenMoves,
  type RewardedMove,
} from './rewardedMoves.ts'
import { createRewardLimit, noReward, type RewardLimit, type Weight } from './rewardLimit.ts'

/**
 * Rewarded moves that are not in the solver's inventory yet. *Open* ones belong to unexpired quotes of this process.
 * *Bound* ones belong to orders of all processes that a deposit was bound to. A new quote earns what both leave.
 *
 * A move is open from `hold` until it is released, its price ends, or `bind` or `putBound` names its request;
 * then it is bound until the inventory shows it. `followBoundRewards` reads the database every second and
 * calls `putBound`, then `confirmClaim` once the claim is stored; after a failure `forgetBound`.
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

/** Caller of a quote, with or without an API key. */
type Asker = { readonly hasKey: boolean }

/** The counted move of one quote. */
export type HeldReward = {
  /** Names the quote's request, so that `bind` of it ends this hold and the move counts once. */
  name(requestId: Hex): void
  /** Ends the hold, for a quote that is not answered after all. */
  release(): void
}

/**
 * Weights: a bound move counts once, since every process reads it from the database. Other processes may have
 * as many open moves as this one, so those of this process count `processes` times. Quotes without a key may
 * hold only `keylessBps` of the rewards, so for them keyless moves count 10 000/`keylessBps` times more.
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
  const processes = BigInt(options.processes)
  const budget = createRewardBudget(options)
  const singleWeight: Weight = { numerator: 1n, denominator: 1n }
  const keyedWeight: Weight = { numerator: processes, denominator: 1n }
  const keylessWeight: Weight = { numerator: processes * bpsDenominator, denominator: BigInt(keylessBps) }
  const open = new OpenMoves(budget)
  const bound = new BoundMoves()
  /** False until the database was read, and after `forgetBound`. */
  let isBoundKnown = false

  return {
    limitOf({ hasKey, nowSeconds, without }) {
      open.prune(nowSeconds)
      if (!isBoundKnown || (!hasKey && keylessBps === 0)) return noReward
      const ownWeight = hasKey ? keyedWeight : keylessWeight
      const minusOwnNet: NetMoves = new Map()
      const ownBound = without && bound.get(without)
      if (ownBound !== undefined) addMove(minusOwnNet, ownBound.move, -1n)
      const counted = [
        { net: bound.net, weight: singleWeight },
        // Takes the own bound move out of the sum before.
        { net: minusOwnNet, weight: singleWeight },
        { net: open.keyedNet, weight: keyedWeight },
        { net: open.keylessNet, weight: ownWeight },
      ]
      // The budget counts a bound reward as pending until it is booked, so the own one is added back.
      const ownMicroUsd = ownBound === undefined || ownBound.isBooked ? 0n : ownBound.move.microUsd
      const leftMicroUsd = budget.left({ hasKey }) + ownMicroUsd
      return createRewardLimit(counted, { ownWeight, leftMicroUsd })
    },
    hold(move, { hasKey, endsAtSeconds }) {
      const held: OpenMove = { move, hasKey, endsAtSeconds, requestId: undefined }
      open.hold(held)
      return { name: (requestId) => open.name(held, requestId), release: () => open.release(held) }
    },
    bind(requestId, move, nowSeconds) {
      const listed = bound.get(requestId)
      // A listed move is part of the figures that `putBound` took already.
      if (listed === undefined) budget.spend(move.microUsd)
      open.releaseNamed(requestId)
      bound.put(requestId, { move, isBooked: listed?.isBooked ?? false, listedAtSeconds: nowSeconds })
    },
    putBound({ moves, ...reading }, nowSeconds) {
      open.prune(nowSeconds)
      isBoundKnown = true
      for (const [requestId, { isBooked, ...move }] of moves) {
        open.releaseNamed(requestId)
        bound.put(requestId, { move, isBooked, listedAtSeconds: nowSeconds })
      }
      bound.prune(nowSeconds)
      return budget.claim(reading, bound.pendingMicroUsd())
    },
    confirmClaim: () => budget.confirm(),
    forgetBound() {
      isBoundKnown = false
    },
  }
}
