import { depthMs, depthRuleFor } from '@causeway/core'
import type { QuotableChain } from './registry.ts'

type ChainTiming = Pick<QuotableChain, 'config'>

/** Time from a pinned deposit to a broadcast fill, while a route has too few fills to learn from. */
const defaultReactionMs = 1_000

/**
 * Seconds from the user's transaction to the recipient's funds, at least 1: one origin block, the depth that
 * the pin policy asks for this size, the solver's reaction, one destination block. Measured fills change only
 * the reaction, so an estimate is never below what the chains themselves take.
 * @param args.reactionMs measured on the route's recent fills; `undefined` after too few
 * @source F-40
 */
export function timeEstimateSeconds(args: {
  origin: ChainTiming
  destination: ChainTiming
  selfExecuted: boolean
  valueMicroUsd: bigint
  reactionMs: number | undefined
  /** A deposit address is used: the payment and then the solver's sweep must both reach the depth. */
  isSwept: boolean
}): number {
  const { origin, destination, selfExecuted, valueMicroUsd, reactionMs = defaultReactionMs, isSwept } = args
  if (selfExecuted) return Math.max(Math.ceil(origin.config.blockTimeMs / 1_000), 1)
  const depositMs = (origin.config.blockTimeMs + pinWaitMs(origin, valueMicroUsd)) * (isSwept ? 2 : 1)
  const totalMs = depositMs + reactionMs + destination.config.blockTimeMs
  return Math.max(Math.ceil(totalMs / 1_000), 1)
}

/** Time until a transaction of this size is acted on, its own block included. @source F-40 */
export function pinWaitMs({ config }: ChainTiming, valueMicroUsd: bigint): number {
  return depthMs(depthRuleFor(config.pinPolicy, valueMicroUsd), config)
}
