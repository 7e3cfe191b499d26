import type { AttestationKind } from '@causeway/attestations'
import type { PeerAggregator, PeerResult } from './peerAggregator.ts'
import type { AheadPeers } from './settings.ts'

export type PreparedQuorumsOptions = AheadPeers & {
  readonly peers: PeerAggregator
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/**
 * Peers' signatures of answers that this oracle has kept, made ahead of any request. They are dropped with the kept
 * answer.
 */
export interface PreparedQuorums {
  /** Asks the peers with keys of their own about an answer that this oracle has kept. @returns false where too few of them signed it */
  prepare<Response extends object>(question: Prepared<Response>, signal: AbortSignal): Promise<boolean>
  /**
   * Prepared result for exactly this answer; `undefined` if too few peers signed it. Missing signatures are asked for
   * again in the background.
   */
  find<Response extends object>(question: Prepared<Response>): PeerResult<Response> | undefined
}

export type Prepared<Response> = {
  readonly kind: AttestationKind<Response>
  /** As a caller writes it, for peers. */
  readonly body: object
  /** The kept answer itself. */
  readonly own: Response
}

/** A peer that gave nothing is asked again so often at most. */
const againAfterMs = 60_000
/** Peers have a time of their own, and the caller has his answer. */
const unending = new AbortController().signal

export function createPreparedQuorums(options: PreparedQuorumsOptions): PreparedQuorums {
  const { peers, isEnough, all, now } = options
  const preparedResults = new WeakMap<
    object,
    { readonly result: PeerResult<object>; readonly askedAtMs: number }
  >()

  async function prepare<Response extends object>(
    { kind, body, own }: Prepared<Response>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const askedAtMs = now()
    const before = preparedResults.get(own)
    // While it runs nobody begins another.
    if (before !== undefined) preparedResults.set(own, { ...before, askedAtMs })
    const result = await peers.run({ kind, body, signal, isAhead: true, local: async () => own })
    if (before === undefined || result.matched >= before.result.matched)
      preparedResults.set(own, { result, askedAtMs })
    return isEnough(result.matched)
  }

  return {
    prepare,
    find<Response extends object>(question: Prepared<Response>) {
      const preparedEntry = preparedResults.get(question.own)
      if (preparedEntry === undefined || !isEnough(preparedEntry.result.matched)) return undefined
      const { result, askedAtMs } = preparedEntry
      if (result.matched < all && now() - askedAtMs > againAfterMs)
        void prepare(question, unending).catch(() => undefined)
      // CAST: it was made of this very answer.
      return result as PeerResult<Response>
    },
  }
}
