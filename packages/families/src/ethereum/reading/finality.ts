import type { Finality } from '@causeway/core/config'
import { reachedBy } from '@causeway/rpc'
import type { EvmHeader } from './answers.ts'

/** When a block of the chain counts as final. */
export type FinalityRule = {
  readonly mode: Finality['mode']
  readonly tag: 'finalized' | 'safe'
  readonly blocks: bigint
  readonly seconds: bigint
}

/** The public protocol's rule. @source oracle-protocol.md 5.1 */
const defaults = { mode: 'depth-and-time', tag: 'finalized', blocks: 10, seconds: 60 } as const

/** `finality` rules over the older members of `additionalData`. @source design.md 7.4 */
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

/** For evidence. */
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

/** The chain's end as one endpoint sees it. */
export type Heads = { readonly latest: EvmHeader; readonly tagged: EvmHeader | undefined }

/** The height at which all endpoints are asked, and the clock by which all of them are judged. */
export type FinalPin = {
  /** Highest block that can be final. Modes that only count seconds: the head. */
  readonly height: bigint
  readonly headNumber: bigint
  readonly headSeconds: bigint
}

/**
 * Height that at least `threshold` endpoints have reached: a single one far ahead or far behind moves nothing.
 * @source ledger-and-safety.md 4.3
 */
export function pinFinalHeight(rule: FinalityRule, threshold: number, heads: readonly Heads[]): FinalPin {
  const headNumber = reachedBy(
    threshold,
    heads.map(({ latest }) => latest.number),
  )
  const headSeconds = reachedBy(
    threshold,
    heads.map(({ latest }) => latest.timestampSeconds),
  )
  const height =
    rule.mode === 'tag'
      ? reachedBy(
          threshold,
          heads.map(({ tagged }) => tagged?.number ?? -1n),
        )
      : rule.mode === 'time'
        ? headNumber
        : headNumber - rule.blocks
  return { height, headNumber, headSeconds }
}

export function headsOf<Seen>(view: { readonly heads: Seen }): Seen {
  return view.heads
}

/** True when seconds count and `blockSeconds` is not old enough. */
export function isTooYoung(rule: FinalityRule, pin: FinalPin, blockSeconds: bigint): boolean {
  const countsSeconds = rule.mode === 'time' || rule.mode === 'depth-and-time'
  return countsSeconds && pin.headSeconds - blockSeconds < rule.seconds
}

/**
 * Estimated distance in blocks from this block back to one that is old enough for the rule, at the pace of the chain
 * since this one; 0 if this one is old enough.
 */
export function blocksUntilOldEnough(
  rule: FinalityRule,
  pin: FinalPin,
  block: { readonly number: bigint; readonly timestampSeconds: bigint },
): bigint {
  if (!isTooYoung(rule, pin, block.timestampSeconds)) return 0n
  const age = pin.headSeconds - block.timestampSeconds
  const missing = rule.seconds - age
  const distance = pin.headNumber - block.number
  // No pace to go by: twice as far as so far.
  if (age <= 0n) return distance + 1n
  const blocks = (missing * distance + age - 1n) / age
  return blocks > 1n ? blocks : 1n
}

/**
 * Seconds that a caller should wait before asking again, from 1 to 600: the rest of the rule's seconds, or of its
 * blocks at one every two seconds, a guess between fast and slow chains.
 */
export function secondsToFinality(
  rule: FinalityRule,
  pin: FinalPin,
  block: { readonly number: bigint; readonly timestampSeconds?: bigint },
): number {
  const blocksLeft = rule.mode === 'time' ? 0n : block.number - pin.height
  const secondsLeft =
    block.timestampSeconds === undefined ? 0n : block.timestampSeconds + rule.seconds - pin.headSeconds
  const wait = [1n, 2n * blocksLeft, secondsLeft].reduce((most, one) => (one > most ? one : most))
  return wait > 600n ? 600 : Number(wait)
}
