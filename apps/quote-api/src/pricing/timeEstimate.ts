import { depthMs, depthRuleFor } from '@causeway/core'
import type { QuotableChain } from './registry.ts'

type Paced = Pick<QuotableChain, 'config'>

/** Time from a pinned deposit to a broadcast fill, while a route has too few fills to learn from. */
const defaultReactionMs = 1_000

/**
 * Seconds from the user's transaction to the recipient's funds, at least 1: the depth that the
 * pin policy asks for this size, the solver's reaction, one destination block. What is learned replaces the
 * reaction alone: an estimate is never below what the chains themselves take.
 * @param args.reactionMs of the route's fills, `undefined` before enough were seen
 * @source F-40
 */
export function timeEstimateSeconds(args: {
  origin: Paced
  destination: Paced
  selfExecuted: boolean
  valueMicroUsd: bigint
  reactionMs: number | undefined
  /** The solver makes the deposit of what it sees: two transactions of the origin, each as deep. */
  isSwept: boolean
}): number {
  const { origin, destination, selfExecuted, valueMicroUsd, reactionMs = defaultReactionMs, isSwept } = args
  if (selfExecuted) return Math.max(Math.ceil(origin.config.blockTimeMs / 1_000), 1)
  const depositMs = (origin.config.blockTimeMs + pinWaitMs(origin, valueMicroUsd)) * (isSwept ? 2 : 1)
  const totalMs = depositMs + reactionMs + destination.config.blockTimeMs
  return Math.max(Math.ceil(totalMs / 1_000), 1)
}

/** Time until a transaction of this size is acted on, its own block included. @source F-40 */
export function pinWaitMs({ config }: Paced, valueMicroUsd: bigint): number {
  return depthMs(depthRuleFor(config.pinPolicy, valueMicroUsd), config)
}
