import type { AttestationKind } from '@causeway/attestations'
import type { PeerAggregator, PeerResult } from './peerAggregator.ts'
import type { AheadPeers } from './settings.ts'

export type PreparedQuorumsOptions = AheadPeers & {
  readonly peers: PeerAggregator
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/**
 * Peers' signatures of answers in this oracle's cache, gathered before anyone asks. They are kept by the identity of
 * the answer's object, so they go when the cache drops it.
 */
export interface PreparedQuorums {
  /** Gathers signatures of the peers that have a key in `PEERS`. @returns false where too few of them signed */
  prepare<Response extends object>(question: Prepared<Response>, signal: AbortSignal): Promise<boolean>
  /**
   * The answer with peers' signatures; `undefined` if too few peers signed it. Missing ones are gathered again in the
   * background.
   */
  find<Response extends object>(question: Prepared<Response>): PeerResult<Response> | undefined
}

/** A cached answer for which peers' signatures are gathered. */
export type Prepared<Response> = {
  readonly kind: AttestationKind<Response>
  /** Request body, as a caller writes it, for the peers. */
  readonly body: object
  /** The very object from the cache. */
  readonly own: Response
}

/** Pause before missing signatures are gathered again. */
const againAfterMs = 60_000
/** For gathering in the background: the caller has his answer, and peers have a time limit of their own. */
const neverAborted = new AbortController().signal

export function createPreparedQuorums(options: PreparedQuorumsOptions): PreparedQuorums {
  const { peers, isEnough, askedCount, now } = options
  const preparedResults = new WeakMap<
    object,
    { readonly result: PeerResult<object>; readonly askedAtMs: number }
  >()

  async function prepare<Response extends object>(
    { kind, body, own }: Prepared<Response>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const askedAtMs = now()
    const previous = preparedResults.get(own)
    // Set before the run, so that `find` does not begin another one meanwhile.
    if (previous !== undefined) preparedResults.set(own, { ...previous, askedAtMs })
    const result = await peers.run({ kind, body, signal, isAhead: true, local: async () => own })
    if (previous === undefined || result.matched >= previous.result.matched)
      preparedResults.set(own, { result, askedAtMs })
    return isEnough(result.matched)
  }

  return {
    prepare,
    find<Response extends object>(question: Prepared<Response>) {
      const preparedEntry = preparedResults.get(question.own)
      if (preparedEntry === undefined || !isEnough(preparedEntry.result.matched)) return undefined
      const { result, askedAtMs } = preparedEntry
      if (result.matched < askedCount && now() - askedAtMs > againAfterMs)
        void prepare(question, neverAborted).catch(() => undefined)
      // CAST: the result was made of this very answer.
      return result as PeerResult<Response>
    },
  }
}
