import type { QuoteChain } from '@causeway/core/config'
import type { MarketLimits } from '../limits.ts'
import type { ChainMarket, ChainRefusal } from '../snapshot.ts'
import type { ChainReading } from './chainReading.ts'

/** The newest reading of one chain, from which `chainState` derives whether it may be priced. */
export type ChainFacts = {
  readonly reading: ChainReading
  readonly readAtMs: number
  /** Time of the reading by the one of two clocks that tells less; absent: as `readAtMs`. */
  readonly earliestAtMs?: number | undefined
  /** Time of the first block after the chain had stood still; undefined if it was never seen to stand. */
  readonly wentOnAtSeconds?: number | undefined
}

/** A chain stands still once its head is older than this, and older than its `headMaxAgeMs`. */
const standMs = 120_000

/** Last moment at which a chain's head may still be priced from. */
export function headUsableUntilMs(facts: ChainFacts, config: QuoteChain): number {
  return facts.reading.head.timestampSeconds * 1_000 + config.headMaxAgeMs
}

/** Facts after a new reading: tells whether the chain went on after it had stood. @source F-86 */
export function chainFacts(
  before: ChainFacts | undefined,
  newest: Omit<ChainFacts, 'wentOnAtSeconds'>,
  config: QuoteChain | undefined,
): ChainFacts {
  if (before === undefined || config === undefined) return newest
  const { reading } = newest
  const head = before.reading.head
  const standsFromMs = head.timestampSeconds * 1_000 + Math.max(standMs, config.headMaxAgeMs)
  const { earliestAtMs = before.readAtMs } = before
  const hasGoneOn = earliestAtMs > standsFromMs && reading.head.number > head.number
  return {
    ...newest,
    wentOnAtSeconds: hasGoneOn ? reading.head.timestampSeconds : before.wentOnAtSeconds,
  }
}

/** True if the head's time is further in the future than clocks may differ. */
export function isHeadAhead(facts: ChainFacts, limits: MarketLimits, nowMs: number): boolean {
  return facts.reading.head.timestampSeconds * 1_000 > nowMs + limits.headAheadMaxMs
}

/**
 * The facts of a chain from which prices may be made now, or why none may be. `stale_gas`: endpoints have not
 * answered within the hard age. `stale_head`: they answer, but the newest head is too old, since the chain
 * stands still, or too far in the future.
 * @source rule O-67
 */
export function chainState(args: {
  readonly facts: ChainFacts | undefined
  readonly config: QuoteChain
  readonly limits: MarketLimits
  readonly nowMs: number
}): ChainMarket | ChainRefusal {
  const { facts, config, limits, nowMs } = args
  if (facts === undefined) return { reason: 'no_data' }
  if (nowMs - facts.readAtMs > limits.gasHardMaxAgeMs) return { reason: 'stale_gas' }
  if (nowMs > headUsableUntilMs(facts, config) || isHeadAhead(facts, limits, nowMs)) {
    return { reason: 'stale_head' }
  }
  const { head, shapes, inventory, pools } = facts.reading
  const { fees } = facts.reading.fees
  if ('reason' in fees) return fees
  return {
    chainId: config.chainId,
    head,
    asOfMs: facts.readAtMs,
    fees,
    ...(shapes !== undefined && { shapes }),
    pools,
    inventory,
  }
}

/** The moments at which age alone changes the state. */
export function chainChangesAtMs(
  facts: ChainFacts,
  config: QuoteChain,
  limits: MarketLimits,
): readonly number[] {
  // An age limit is passed one millisecond later. A head that was too far ahead may be used exactly at its
  // limit.
  return [
    facts.readAtMs + limits.gasHardMaxAgeMs + 1,
    headUsableUntilMs(facts, config) + 1,
    facts.reading.head.timestampSeconds * 1_000 - limits.headAheadMaxMs,
  ]
}
