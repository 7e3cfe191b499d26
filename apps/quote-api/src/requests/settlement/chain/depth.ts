import {
  type DepthRule,
  deepestRule,
  depthMs,
  depthRuleFor,
  type MissingDepth,
  missingDepth,
} from '@causeway/core'
import { paceMs } from '@causeway/core/config'
import type { BlockRef } from '@causeway/families'
import { createLruCache } from '@causeway/rpc'
import type { QuotableChain } from '../../../pricing/registry.ts'
import type { PaymentReading, SettlementChain } from './settlementChain.ts'

/** The block of a deposit or payment, whose depth decides whether money may be paid for it. */
export type SeenBlock = {
  readonly number: bigint
  /** Its own timestamp, in Unix seconds. */
  readonly seconds: number
  /** Number of blocks on top of it. */
  readonly onTop: number
  /** Seconds since this service first saw it, with fractions. */
  readonly seenSeconds: number
}

const rememberedBlocksMax = 20_000

/** Remembers when this process first saw each block. A forgotten block counts as new, which only costs time. */
export function createBlockSights(now: () => number = () => performance.now()) {
  const firstSeenMs = createLruCache<number>(rememberedBlocksMax)
  return {
    /** Seconds since the first call for a block. Number and hash identify it, as some chains have one hash for all. */
    seenSeconds({ number, hash }: BlockRef): number {
      const block = `${number} ${hash}`
      const sinceMs = firstSeenMs.get(block)
      if (sinceMs === undefined) firstSeenMs.set(block, now())
      return sinceMs === undefined ? 0 : (now() - sinceMs) / 1_000
    },
  }
}

export type BlockSights = ReturnType<typeof createBlockSights>

/** Facts of a chain's newest blocks, each read at most once and only if it is needed. */
export type ChainEnd = {
  /** Unix seconds of the newest block. */
  seconds(): Promise<number>
  /** Height of the newest final block. */
  finalized(): Promise<bigint>
}

export function openChainEnd(
  chain: Pick<SettlementChain, 'headSeconds' | 'finalSeconds' | 'taggedHeight' | 'finalHeight'>,
  signal: AbortSignal,
): ChainEnd {
  let seconds: Promise<number> | undefined
  let finalized: Promise<bigint> | undefined
  return {
    // Families without `headSeconds` go by their final block, and those without a tag by `finalHeight`.
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

/** The pin depth that a chain requires for a value. */
export function depthRuleOf({ config }: Pick<QuotableChain, 'config'>, valueMicroUsd: bigint): DepthRule {
  return depthRuleFor(config.pinPolicy, valueMicroUsd)
}

/** Ample for every chain: rollups become final after some hundred of their blocks. */
const finalityBlocks = 1_000

/** Seconds within which a deposit or payment surely becomes final, for waits after an order's deadline. @source F-42 */
export function finalitySecondsOf({ config }: Pick<QuotableChain, 'config'>): number {
  const rule = deepestRule(config.pinPolicy)
  // A chain may announce finality late.
  const deepestMs = depthMs(rule, config) * (rule.isFinalized ? 2 : 1)
  return Math.ceil(Math.max(finalityBlocks * paceMs(config), deepestMs) / 1_000)
}

/**
 * Reads what a block still lacks for a depth rule; undefined if it is deep enough. The chain is asked only for what the rule
 * needs, and only once the other known facts suffice.
 * @throws upstream errors
 * @source F-101
 */
export async function readMissingDepth(
  rule: DepthRule,
  { number, seconds, onTop: blocksOnTop, seenSeconds }: SeenBlock,
  end: ChainEnd,
): Promise<MissingDepth | undefined> {
  const observation = { blocksOnTop, seenSeconds }
  // If depth is missing even with the best answers that the chain could give, it need not be asked.
  const missingAtBest = missingDepth(rule, {
    ...observation,
    headerSeconds: Number.MAX_SAFE_INTEGER,
    isFinalized: true,
  })
  if (missingAtBest !== undefined) return missingAtBest
  const [headSeconds, finalized] = await Promise.all([
    rule.seconds > 0 ? end.seconds() : seconds,
    rule.isFinalized ? end.finalized() : number,
  ])
  const headerSeconds = headSeconds - seconds
  return missingDepth(rule, { ...observation, headerSeconds, isFinalized: number <= finalized })
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
    number,
    seconds: Number(facts.blockTimestampSeconds),
    onTop: confirmations - 1,
    seenSeconds: chain.sights.seenSeconds({ number, hash }),
  }
  const rule = depthRuleOf(chain.chain, valueMicroUsd)
  return (await readMissingDepth(rule, block, openChainEnd(chain, signal))) === undefined
}
