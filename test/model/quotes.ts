// Promises of quotes, and what is booked of them. Prices are the model's own and simple: a unit of every currency is
// worth one, a fill costs a flat sum. Earnings, what a deposit buys and what is booked follow the shipped rules.
import { bpsDenominator, bpsDown, type Hex, minBigint } from '@causeway/core'
import { afterMoves, assetInventory, skewCostUsd } from '../../apps/quote-api/src/pricing/market/inventory.ts'
import type { HeldReward, OpenRewards } from '../../apps/quote-api/src/pricing/openQuotes/openRewards.ts'
import type { RewardedMove } from '../../apps/quote-api/src/pricing/openQuotes/rewardedMoves.ts'
import type { RatedMove } from '../../apps/quote-api/src/pricing/openQuotes/rewardLimit.ts'
import type { LatePrice } from '../../apps/quote-api/src/requests/settlement/amounts/lateDeposit.ts'
import { chainNumbers, type UserChainId, userChainIds } from './network.ts'
import type { Rules } from './rules.ts'

export type AskedQuote = {
  readonly origin: UserChainId
  readonly destination: UserChainId
  readonly amount: bigint
  readonly recipients: number
  readonly slippageBps: bigint
  readonly appFeeBps: bigint
  /** Whole micro-USD that a sponsor pays at most. */
  readonly subsidy: bigint
  readonly hasKey: boolean
}

export type Quoted = {
  readonly requestId: Hex
  readonly quotedInput: bigint
  readonly leastInput: bigint
  /** Outputs of all payments together: for the quoted and for the least input. */
  readonly expected: bigint
  readonly least: bigint
  readonly appFees: readonly { readonly recipient: string; readonly feeBps: string }[]
  readonly debit: bigint
  readonly expiresAtSeconds: number
  readonly move: EarningMove | undefined
  readonly held: HeldReward | undefined
  /** Whole units. */
  reward: bigint
  /** Reward of the move after all others that are live: by the list of requests, not by the service's memory. */
  earnable: bigint
}

/** A move, and the reward that it was promised. */
export type EarningMove = RatedMove & Pick<RewardedMove, 'microUsd'>

/** A move that earns a reward, until its deposit can be seen no more or the inventory shows it. */
export type LiveMove = { readonly requestId: Hex; readonly move: RatedMove }

const unitX18 = 10n ** 12n
const quoteSeconds = 60
const seenWithinSeconds = 60
const flatBps = 500n
const assetId = 'usd'
/** More than a run can earn: what rewards give away in a day has tests of its own. */
const perDayMicroUsd = 10n ** 12n
const inventoryRules = { kappaBps: 500n, rewardCapBps: 1_000n, maxSkewBps: 10_000n, reserveBps: 0n }

export class Market {
  readonly openRewards: OpenRewards
  /** In parts of ten thousand of what a fill cost when the run began. */
  costBps = bpsDenominator
  isReadable = true
  readonly #units = new Map<UserChainId, bigint>([
    ['base', 8_000n],
    ['optimism', 2_000n],
  ])
  #quotes = 0

  constructor(rules: Rules) {
    this.openRewards = rules.rewardsOf({ processes: 1, keylessBps: 5_000, perDayMicroUsd })
    this.showBound([], 0)
  }

  /** Shows what processes read again and again of all of them. */
  showBound(moves: readonly (readonly [Hex, EarningMove])[], nowSeconds: number): void {
    const bound = moves.map(([requestId, move]) => [requestId, { ...move, isBooked: false }] as const)
    const read = { bookedMicroUsd: 0n, claimedMicroUsd: 0n }
    this.openRewards.putBound({ moves: new Map(bound), ...read }, nowSeconds)
    this.openRewards.confirmClaim()
  }

  /** @returns undefined where its least deposit would buy nothing */
  quote(asked: AskedQuote, live: readonly LiveMove[], nowSeconds: number): Quoted | undefined {
    const { amount: quotedInput, slippageBps, appFeeBps, recipients, hasKey } = asked
    const leastInput = (quotedInput * (bpsDenominator - slippageBps)) / bpsDenominator
    const appFees = appFeeBps === 0n ? [] : [{ recipient: 'app', feeBps: String(appFeeBps) }]
    const fees = this.#costOf(quotedInput) + feesOf(appFees, quotedInput)
    const debit = minBigint(asked.subsidy, fees)
    const terms = { quotedInput, appFees, debit }
    const least = this.#outputFor(leastInput, terms)
    if (leastInput <= 0n || least < BigInt(recipients)) return undefined
    const move = this.#moveOf(asked)
    const reward = move === undefined ? 0n : this.#rewardOf(move, { hasKey, nowSeconds })
    this.#quotes += 1
    const requestId: Hex = `0x${this.#quotes.toString(16).padStart(64, '0')}`
    const expiresAtSeconds = nowSeconds + quoteSeconds
    const endsAtSeconds = expiresAtSeconds + seenWithinSeconds
    const earning = reward > 0n && move ? { ...move, microUsd: reward } : undefined
    const held = earning && this.openRewards.hold(earning, { hasKey, endsAtSeconds })
    held?.name(requestId)
    return {
      requestId,
      quotedInput,
      leastInput,
      least,
      appFees,
      debit,
      expiresAtSeconds,
      held,
      reward,
      expected: this.#outputFor(quotedInput, terms) + reward,
      move: earning,
      earnable: move === undefined ? 0n : this.earnable(move, live),
    }
  }

  /** Price of a late deposit now. */
  priceLate(quoted: Quoted, deposited: bigint, nowSeconds: number): LatePrice {
    if (!this.isReadable) return { state: 'unknown' }
    const { requestId, move } = quoted
    const without = this.#outputFor(minBigint(deposited, quoted.quotedInput), quoted)
    const reward =
      move === undefined ? 0n : this.#rewardOf(move, { hasKey: true, nowSeconds, without: requestId })
    if (move !== undefined) this.openRewards.bind(requestId, move, nowSeconds)
    return without <= 0n ? { state: 'refused' } : { state: 'priced', amountOut: without + reward }
  }

  /** Reward in a promise: the part that the prices of now do not cover. */
  rewardIn(quoted: Quoted, deposited: bigint, promised: bigint): bigint {
    const uncovered = promised - this.#outputFor(minBigint(deposited, quoted.quotedInput), quoted)
    return uncovered > 0n ? uncovered : 0n
  }

  /** Whole units that a move earns in a row after the moves that are live. */
  earnable({ received, paid, usdX18 }: RatedMove, live: readonly LiveMove[]): bigint {
    const moved = new Map<number, bigint>()
    for (const { move } of live) {
      moved.set(move.received.chainId, (moved.get(move.received.chainId) ?? 0n) + move.usdX18)
      moved.set(move.paid.chainId, (moved.get(move.paid.chainId) ?? 0n) - move.usdX18)
    }
    const asset = afterMoves(this.#asset(), moved)
    const cost = skewCostUsd(
      { asset, chainId: received.chainId, deltaUsd: usdX18 },
      { asset, chainId: paid.chainId, deltaUsd: -usdX18 },
    )
    return cost < 0n ? -cost / unitX18 : 0n
  }

  isHeld({ expiresAtSeconds }: Quoted, nowSeconds: number): boolean {
    return nowSeconds <= expiresAtSeconds + seenWithinSeconds
  }

  /** The fill stands: the next snapshot shows it. */
  show(origin: UserChainId, destination: UserChainId, units: bigint): void {
    this.#units.set(origin, (this.#units.get(origin) ?? 0n) + units)
    this.#units.set(destination, (this.#units.get(destination) ?? 0n) - units)
  }

  #rewardOf(
    move: RatedMove,
    { nowSeconds, ...asker }: { hasKey: boolean; nowSeconds: number; without?: Hex },
  ): bigint {
    const asset = this.#asset()
    const [received, paid] = [
      { ...move.received, asset },
      { ...move.paid, asset },
    ]
    const { usdX18 } = move
    const cost = skewCostUsd({ ...received, deltaUsd: usdX18 }, { ...paid, deltaUsd: -usdX18 })
    if (cost >= 0n) return 0n
    const bound = this.openRewards.limitOf({ ...asker, nowSeconds })
    return -bound.rewardOf(cost, { received, paid, usdX18 }) / unitX18
  }

  #moveOf({ origin, destination, amount }: AskedQuote): RatedMove | undefined {
    if (origin === destination) return undefined
    const asset = this.#asset()
    return {
      received: { assetId, chainId: chainNumbers[origin], asset },
      paid: { assetId, chainId: chainNumbers[destination], asset },
      usdX18: amount * unitX18,
    }
  }

  #asset() {
    return assetInventory(
      inventoryRules,
      userChainIds.map((id) => ({
        chainId: chainNumbers[id],
        shareBps: 5_000n,
        balanceUsd: (this.#units.get(id) ?? 0n) * unitX18,
      })),
    )
  }

  #outputFor(
    input: bigint,
    { quotedInput, appFees, debit }: Pick<Quoted, 'quotedInput' | 'appFees' | 'debit'>,
  ): bigint {
    const sponsored = quotedInput === 0n ? 0n : (debit * input) / quotedInput
    return input - feesOf(appFees, input) - this.#costOf(quotedInput) + sponsored
  }

  #costOf(quotedInput: bigint): bigint {
    return (quotedInput * flatBps * this.costBps) / (bpsDenominator * bpsDenominator) + 1n
  }
}

function feesOf(appFees: Quoted['appFees'], input: bigint): bigint {
  return appFees.reduce((sum, { feeBps }) => sum + bpsDown(input, BigInt(feeBps)), 0n)
}
