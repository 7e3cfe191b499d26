/** The depth that a block must have before money follows what stands in it. */
export type DepthRule = {
  /** On top of its own block. */
  readonly blocks: number
  /** Since its block: a block on top of it is part of the rule where this is more than 0. */
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
  /** Its own block and those on top of it, where work has no seconds. */
  readonly confirmations?: number | undefined
}

/** The depth of a block, as far as it is known. */
export type DepthFacts = {
  /** 0 of the newest block. */
  readonly blocksOnTop: number
  /** Between its timestamp and that of the newest block that enough endpoints have; whole seconds, as headers tell. */
  readonly headerSeconds: number
  /** Since this service saw the block first. */
  readonly seenSeconds: number
  readonly isFinalized: boolean
}

/** The rest that is missing of a rule; 0 and false: nothing of that kind. */
export type MissingDepth = DepthRule

/**
 * The rest that is missing of the rule; undefined: the block is deep enough. After a stop of a sequencer blocks come
 * faster than their timestamps, and a sequencer may write times ahead of its clock: so both ages count, and the lesser
 * decides. No such burst makes a block that the chain calls final: there the timestamps are enough.
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

/** The rule for a value; above the last bound, and where no row is, the strictest that any row asks for. Pure. */
export function depthRuleFor(policy: readonly DepthRow[], valueMicroUsd: bigint): DepthRule {
  const row = policy.find(({ upToMicroUsd }) => upToMicroUsd === undefined || valueMicroUsd <= upToMicroUsd)
  return row === undefined ? deepestRule(policy) : ruleOf(row)
}

/** The strictest of each that any row asks for. */
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

/** Time that a block takes to be as deep, its own included, at a pace of the chain. */
export function depthMs(
  { blocks, seconds }: Pick<DepthRule, 'blocks' | 'seconds'>,
  { blockTimeMs }: { readonly blockTimeMs: number },
): number {
  return Math.max((blocks + 1) * blockTimeMs, seconds * 1_000)
}

/** Blocks on top of one that come in the time of the rule, where nothing but heights can be asked for. */
export function depthBlocks(rule: DepthRule, chain: { readonly blockTimeMs: number }): bigint {
  return BigInt(Math.ceil(depthMs(rule, chain) / chain.blockTimeMs) - 1)
}
