import { divideUp, maxBigint } from '@causeway/core'
import type { Finality } from '@causeway/core/config'
import { reachedBy } from '@causeway/rpc'
import type { EvmHeader } from './answers.ts'

/** When a block of the chain counts as final; `mode` says which of the other members are used. */
export type FinalityRule = {
  readonly mode: Finality['mode']
  readonly tag: 'finalized' | 'safe'
  readonly blocks: bigint
  readonly seconds: bigint
}

/** The public protocol's rule. @source rule O-147 */
const defaults = { mode: 'depth-and-time', tag: 'finalized', blocks: 10, seconds: 60 } as const

/** The rule of a configured chain: `finality` takes precedence over the older `additionalData`. */
export function finalityRule(chain: {
  readonly finality?: Finality | undefined
  readonly additionalData?: {
    readonly finalizationBlocks?: number | undefined
    readonly finalizationTime?: number | undefined
  }
}): FinalityRule {
  const { finality, additionalData } = chain
  return {
    mode: finality?.mode ?? defaults.mode,
    tag: finality?.tag ?? defaults.tag,
    blocks: BigInt(finality?.blocks ?? additionalData?.finalizationBlocks ?? defaults.blocks),
    seconds: BigInt(finality?.seconds ?? additionalData?.finalizationTime ?? defaults.seconds),
  }
}

/** The rule in words, for evidence. */
export function describeFinality({ mode, tag, blocks, seconds }: FinalityRule): string {
  switch (mode) {
    case 'tag':
      return `tag ${tag}`
    case 'depth':
      return `${blocks} blocks`
    case 'time':
      return `${seconds} seconds`
    case 'depth-and-time':
      return `${blocks} blocks and ${seconds} seconds`
  }
}

/** Newest block of one endpoint, and its block with the rule's tag (only in mode `tag`). */
export type Heads = { readonly latest: EvmHeader; readonly tagged: EvmHeader | undefined }

/** Agreed after the first round: the height at which all endpoints are read, and the time by which ages are judged. */
export type FinalHeight = {
  /** Highest block that can be final; in mode `time` the head, since only timestamps decide there. */
  readonly height: bigint
  readonly headNumber: bigint
  readonly headSeconds: bigint
}

/**
 * Final height by the blocks that at least `threshold` endpoints have reached, so that a single endpoint far ahead or
 * behind does not move it.
 * @source rule P-107
 */
export function pinFinalHeight(rule: FinalityRule, threshold: number, heads: readonly Heads[]): FinalHeight {
  const headNumber = reachedBy(
    threshold,
    heads.map(({ latest }) => latest.number),
  )
  const headSeconds = reachedBy(
    threshold,
    heads.map(({ latest }) => latest.timestampSeconds),
  )
  if (rule.mode === 'time') return { height: headNumber, headNumber, headSeconds }
  if (rule.mode !== 'tag') return { height: headNumber - rule.blocks, headNumber, headSeconds }
  // In this mode every endpoint's heads have a tagged block: -1 is for the types alone.
  const taggedHeights = heads.map(({ tagged }) => tagged?.number ?? -1n)
  return { height: reachedBy(threshold, taggedHeights), headNumber, headSeconds }
}

/** Heads in an endpoint's first round. */
export function headsOf<AnyHeads>(firstRound: { readonly heads: AnyHeads }): AnyHeads {
  return firstRound.heads
}

/** True if the rule counts seconds and a block of this timestamp is not old enough. */
export function isTooYoung(rule: FinalityRule, pin: FinalHeight, blockSeconds: bigint): boolean {
  return countsSeconds(rule) && pin.headSeconds - blockSeconds < rule.seconds
}

/** True if the rule asks for an age, so that the pinned height alone tells of no block that it is final. */
export function countsSeconds({ mode, seconds }: FinalityRule): boolean {
  return (mode === 'time' || mode === 'depth-and-time') && seconds > 0n
}

/**
 * Estimated distance in blocks from this block back to one that is old enough for the rule, by the average time between
 * blocks since this one; 0 if this one is old enough.
 */
export function blocksUntilOldEnough(
  rule: FinalityRule,
  pin: FinalHeight,
  block: { readonly number: bigint; readonly timestampSeconds: bigint },
): bigint {
  if (!isTooYoung(rule, pin, block.timestampSeconds)) return 0n
  const age = pin.headSeconds - block.timestampSeconds
  const missing = rule.seconds - age
  const distance = pin.headNumber - block.number
  // The timestamps show no time between blocks, so the distance from the head is doubled.
  if (age <= 0n) return distance + 1n
  return maxBigint(divideUp(missing * distance, age), 1n)
}

/**
 * Seconds that a caller should wait before asking again, from 1 to 600: the seconds that the block still lacks, or its
 * missing blocks at a guess of two seconds each, whichever is more.
 * @param block its timestamp may be absent; it counts only in rules that ask for an age
 */
export function secondsToFinality(
  rule: FinalityRule,
  pin: FinalHeight,
  block: { readonly number: bigint; readonly timestampSeconds?: bigint },
): number {
  const blocksLeft = rule.mode === 'time' ? 0n : block.number - pin.height
  const secondsLeft =
    block.timestampSeconds === undefined || !countsSeconds(rule)
      ? 0n
      : block.timestampSeconds + rule.seconds - pin.headSeconds
  const wait = [1n, 2n * blocksLeft, secondsLeft].reduce((most, one) => (one > most ? one : most))
  return wait > 600n ? 600 : Number(wait)
}
