/** The depth that a block must have before the services act with money on what stands in it. All parts must hold. */
export type DepthRule = {
  /** Blocks on top of it. */
  readonly blocks: number
  /** Age, measured up to the newest block: more than 0 needs a block on top of it. */
  readonly seconds: number
  /** The chain itself calls its block final: by a tag, a milestone, votes, or the exchange's word. */
  readonly isFinalized: boolean
}

/** A row of `pinPolicy`: the rule up to a size in micro-USD, for all sizes without it. */
export type DepthRow = {
  readonly upToMicroUsd?: bigint | undefined
  readonly blocks?: number | undefined
  readonly seconds?: number | undefined
  readonly finalized?: true | undefined
  /** Stands alone and counts the block itself too; for proof of work, whose rules have no seconds. */
  readonly confirmations?: number | undefined
}

/** The depth that a block has, as far as it is known. */
export type DepthFacts = {
  /** 0 for the newest block. */
  readonly blocksOnTop: number
  /** Timestamp of the newest block that enough endpoints have, less that of this block, in whole seconds. */
  readonly headerSeconds: number
  /** Seconds since this service first saw the block. */
  readonly seenSeconds: number
  readonly isFinalized: boolean
}

/** The part of a rule that a block still lacks; 0 or false: it lacks nothing of that kind. */
export type MissingDepth = DepthRule

/**
 * The part of the rule that a block still lacks; undefined: it is deep enough. Timestamps alone can overstate its age:
 * after a stop a sequencer makes blocks faster than their timestamps tell, and it may write times ahead of its clock.
 * So the lesser of both ages decides. If the rule asks for finality as well, timestamps are enough.
 * @source F-100, F-101
 */
export function missingDepth(rule: DepthRule, facts: DepthFacts): MissingDepth | undefined {
  const { headerSeconds, seenSeconds } = facts
  const ageSeconds = rule.isFinalized ? headerSeconds : Math.min(headerSeconds, seenSeconds)
  const missing = {
    blocks: Math.max(0, rule.blocks - facts.blocksOnTop),
    seconds: Math.max(0, rule.seconds - ageSeconds),
    isFinalized: rule.isFinalized && !facts.isFinalized,
  }
  return missing.blocks > 0 || missing.seconds > 0 || missing.isFinalized ? missing : undefined
}

/** The rule for a value; `deepestRule` where it is above the bounds of all rows. */
export function depthRuleFor(policy: readonly DepthRow[], valueMicroUsd: bigint): DepthRule {
  const row = policy.find(({ upToMicroUsd }) => upToMicroUsd === undefined || valueMicroUsd <= upToMicroUsd)
  return row === undefined ? deepestRule(policy) : ruleOf(row)
}

/** The strictest blocks, seconds and finality that any row asks for; nothing where there is no row. */
export function deepestRule(policy: readonly DepthRow[]): DepthRule {
  const rules = policy.map(ruleOf)
  return {
    blocks: Math.max(0, ...rules.map(({ blocks }) => blocks)),
    seconds: Math.max(0, ...rules.map(({ seconds }) => seconds)),
    isFinalized: rules.some(({ isFinalized }) => isFinalized),
  }
}

function ruleOf({ blocks = 0, seconds = 0, finalized, confirmations }: DepthRow): DepthRule {
  return {
    blocks: confirmations === undefined ? blocks : Math.max(0, confirmations - 1),
    seconds,
    isFinalized: finalized === true,
  }
}

/** Estimated time until a transaction that is sent now is as deep as the rule asks, its own block included. */
export function depthMs(
  { blocks, seconds }: Pick<DepthRule, 'blocks' | 'seconds'>,
  { blockTimeMs }: { readonly blockTimeMs: number },
): number {
  return Math.max((blocks + 1) * blockTimeMs, seconds * 1_000)
}

/** The rule in blocks on top alone, for readers that compare heights only: its seconds are converted by the block time. */
export function depthBlocks(
  { blocks, seconds }: DepthRule,
  { blockTimeMs }: { readonly blockTimeMs: number },
): bigint {
  return BigInt(Math.max(blocks, Math.ceil((seconds * 1_000) / blockTimeMs)))
}
