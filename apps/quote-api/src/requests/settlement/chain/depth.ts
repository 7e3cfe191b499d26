import {
  type DepthRule,
  deepestRule,
  depthMs,
  depthRuleFor,
  type MissingDepth,
  missingDepth,
} from '@causeway/core'
import { paceMs } from '@causeway/core/config'
import type { BlockMark } from '@causeway/families'
import { createLruCache } from '@causeway/rpc'
import type { QuotableChain } from '../../../pricing/registry.ts'
import type { PaymentReading, SettlementChain } from './settlementChain.ts'

/** A block that money may follow. */
export type SeenBlock = {
  readonly number: bigint
  readonly seconds: number
  /** 0 of the newest block. */
  readonly onTop: number
  /** Seconds since it was first seen here, with fractions. */
  readonly seenSeconds: number
}

const sightsMax = 20_000

/** Remembers when this process saw blocks first. One that is forgotten counts as new, which only waits. */
export function createBlockSights(now: () => number = () => performance.now()) {
  const seenAtMs = createLruCache<number>(sightsMax)
  return {
    /** Seconds since the first call for a block; exchanges have one hash for all of theirs. */
    seenSeconds({ number, hash }: BlockMark): number {
      const block = `${number} ${hash}`
      const sinceMs = seenAtMs.get(block)
      if (sinceMs === undefined) seenAtMs.set(block, now())
      return sinceMs === undefined ? 0 : (now() - sinceMs) / 1_000
    },
  }
}

export type BlockSights = ReturnType<typeof createBlockSights>

/** Answers of the end of a chain, each asked for at most once. */
export type ChainEnd = {
  /** Unix seconds of the newest block. */
  seconds(): Promise<number>
  /** Newest block that the chain itself calls final. */
  finalized(): Promise<bigint>
}

export function openChainEnd(
  chain: Pick<SettlementChain, 'headSeconds' | 'finalSeconds' | 'taggedHeight' | 'finalHeight'>,
  signal: AbortSignal,
): ChainEnd {
  let seconds: Promise<number> | undefined
  let finalized: Promise<bigint> | undefined
  return {
    seconds() {
      seconds ??= chain.headSeconds?.(signal) ?? chain.finalSeconds(signal)
      return seconds
    },
    finalized() {
      finalized ??= chain.taggedHeight?.(signal) ?? chain.finalHeight(signal)
      return finalized
    },
  }
}

/** The depth that a chain asks for a value. */
export function depthRuleOf({ config }: Pick<QuotableChain, 'config'>, valueMicroUsd: bigint): DepthRule {
  return depthRuleFor(config.pinPolicy, valueMicroUsd)
}

/** Generous for every chain: finality of rollups comes after some hundred of their blocks. */
const finalityBlocks = 1_000

/** Seconds that a settlement may take after its deadline: never less than the deepest deposit takes. @source F-42 */
export function finalitySecondsOf({ config }: Pick<QuotableChain, 'config'>): number {
  const rule = deepestRule(config.pinPolicy)
  // The word of a chain may come late.
  const deepestMs = depthMs(rule, config) * (rule.isFinalized ? 2 : 1)
  return Math.ceil(Math.max(finalityBlocks * paceMs(config), deepestMs) / 1_000)
}

/**
 * Reads what is missing until a block is deep enough; undefined: nothing. The chain is asked for no more than the rule
 * needs, and for nothing before blocks on top and the time here are enough.
 * @throws upstream errors
 * @source F-101
 */
export async function readMissingDepth(
  rule: DepthRule,
  { number, seconds, onTop: blocksOnTop, seenSeconds }: SeenBlock,
  end: ChainEnd,
): Promise<MissingDepth | undefined> {
  const observation = { blocksOnTop, seenSeconds }
  // As if the chain had said the most: what is missing even then needs no question.
  const earlyAnswer = missingDepth(rule, {
    ...observation,
    headerSeconds: Number.MAX_SAFE_INTEGER,
    isFinalized: true,
  })
  if (earlyAnswer !== undefined) return earlyAnswer
  const [headSeconds, finalized] = await Promise.all([
    rule.seconds > 0 ? end.seconds() : seconds,
    rule.isFinalized ? end.finalized() : number,
  ])
  return missingDepth(rule, {
    ...{ ...observation, headerSeconds: headSeconds - seconds, isFinalized: number <= finalized },
  })
}

/**
 * True if a payment that was just read has the confirmations that its chain requires for a value.
 * @throws upstream errors
 */
export async function isPaymentDeep(
  chain: SettlementChain,
  valueMicroUsd: bigint,
  payment: PaymentReading,
  signal: AbortSignal,
): Promise<boolean> {
  if (payment.state !== 'included') return false
  const { facts, confirmations } = payment
  const { blockNumber: number, blockHash: hash } = facts.evidence
  const block = {
    ...{ number, seconds: Number(facts.blockTimestampSeconds), onTop: confirmations - 1 },
    seenSeconds: chain.sights.seenSeconds({ number, hash }),
  }
  const rule = depthRuleOf(chain.chain, valueMicroUsd)
  return (await readMissingDepth(rule, block, openChainEnd(chain, signal))) === undefined
}
