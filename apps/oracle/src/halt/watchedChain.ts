import type { FinalBlocks } from '@causeway/core'
import type { HaltStore } from './haltStore.ts'

/** A chain, the hub or the allocator's chain, which is verified before the oracle signs for it, and then watched. */
export type WatchedChain = {
  readonly id: string
  /**
   * Compares the endpoints with the configuration: once, or at every check where there are no blocks to compare.
   * @returns problems that name settings; @throws DomainError when the endpoints do not answer or disagree
   */
  verify(signal: AbortSignal): Promise<readonly string[]>
  /** `undefined` where the family has no blocks, and for the hub. */
  finalBlocks(): FinalBlocks | undefined
  /** Id of another watched chain from which facts of this one are read, too: the hub, where transfers name no order. */
  readonly restsOn?: string | undefined
}

/**
 * - `unchecked`: not compared with its configuration since the start, or since a halt was lifted
 * - `silent`: too few endpoints answered the last check; requests are tried all the same
 * - `unsure`: the chain ends below a block that was final; endpoints may lag, so a second check decides
 * - `halted`: a final block changed, and nothing is signed until an operator clears the halt
 */
export type WatchStatus = 'unchecked' | 'ready' | 'silent' | 'unsure' | 'halted'

/** True while readings of a chain may be signed. */
export function isUsable(status: WatchStatus | undefined): boolean {
  return status === 'ready' || status === 'silent'
}

export type WatchLog = {
  error(fields: object, message: string): void
  warn(fields: object, message: string): void
  info(fields: object, message: string): void
}

/** Chains that were not used for so long are not followed, to save calls of endpoints. */
export const followedAfterUseMs = 600_000

export type WatchOptions = {
  /** Absent without `STATE_DIR` and without a database: a halt then lasts as long as the process. */
  readonly store: HaltStore | undefined
  /** Called when cached answers of a chain may be wrong: it was halted, or its halt was lifted. */
  readonly onForget: (chainId: string) => void
  /** Called when a chain is used that was not followed: the cache of its reader must be dropped. */
  readonly onResume: (chainId: string) => void
  /** Cached answers of a chain are given only so long after enough endpoints last agreed on its head. */
  readonly headAgeMaxMs: number
  readonly checkTimeoutMs: number
  readonly log: WatchLog
}
