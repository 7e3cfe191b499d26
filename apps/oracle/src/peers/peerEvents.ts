import type { Aggregate } from './aggregation.ts'
import type { PeerFailure } from './peerClient.ts'

/** Structured log with pino's methods. The field `event` is stable; the sentence may change. */
export interface PeerLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

export type PeerOutcome = PeerFailure | 'merged' | 'mismatch' | 'held' | 'own_signer' | 'aborted'

/** Metrics of aggregation. Labels come from closed sets: peers of the configuration, routes, outcomes. */
export interface PeerMetrics {
  /** Called once per peer and request. `seconds`: from the request to its end. */
  observePeer(observation: { peer: string; outcome: PeerOutcome; seconds: number }): void
  /** Called once per request with peers, when it has an answer. */
  observeQuorum(observation: { route: string; matched: number; required: number }): void
  countShadow(observation: { peer: string; agrees: boolean }): void
}

/** Reports what happens to one request with peers, to log and metrics. @source rule O-events-01 */
export function createPeerEvents(options: {
  log: PeerLog
  metrics: PeerMetrics
  route: string
  requestId: string | undefined
}) {
  const { log, metrics, route } = options
  const common = { route, ...(options.requestId !== undefined && { httpRequestId: options.requestId }) }
  return {
    peerFailed(peer: string, failure: PeerFailure, seconds: number, status?: number): void {
      metrics.observePeer({ peer, outcome: failure, seconds })
      const detail = { reason: failure, ...(status !== undefined && { status }) }
      log.warn({ ...eventOf(failure), peer, ...detail, ...common }, 'a peer has no part in the answer')
    },
    peerAborted(peer: string, seconds: number): void {
      metrics.observePeer({ peer, outcome: 'aborted', seconds })
    },
    localFailed(error: unknown): void {
      log.warn({ event: 'local_attestation_failed', err: error, ...common }, 'answering by peers alone')
    },
    /** @param answered seconds that each peer took whose answer could be read */
    concluded(aggregate: Aggregate<unknown>, answered: ReadonlyMap<string, number>): void {
      const { matched, required, mismatched, held, shadows } = aggregate
      for (const [peer, seconds] of answered) {
        metrics.observePeer({ peer, outcome: outcomeOf(aggregate, peer), seconds })
      }
      for (const peer of new Set(aggregate.sharing)) {
        log.warn(
          { event: 'peer_shares_signer', peer, ...common },
          'a peer signs with the key of this oracle: it counts once, and a key belongs to one oracle',
        )
      }
      for (const peer of held) {
        log.warn({ event: 'peer_held', peer, ...common }, 'a peer holds its execution at its signing cap')
      }
      for (const peer of mismatched.filter((name) => !held.includes(name))) {
        log.warn(
          { event: 'peer_mismatch', peer, ...common },
          'a peer says something else, or signs nothing that counts',
        )
      }
      for (const shadow of shadows) {
        metrics.countShadow({ peer: shadow.peer, agrees: shadow.agrees })
        log.info(
          { event: 'shadow_agreement', ...shadow, ...common },
          'a signer that does not count was compared',
        )
      }
      metrics.observeQuorum({ route, matched, required })
      if (matched < required) {
        log.warn({ event: 'quorum_shortfall', matched, required, ...common }, 'fewer signers than required')
      }
    },
    noGroup(required: number): void {
      metrics.observeQuorum({ route, matched: 0, required })
      log.warn({ event: 'quorum_shortfall', matched: 0, required, ...common }, 'nothing to answer with')
    },
  }
}

/** Outcome of a peer's answer. */
function outcomeOf({ mismatched, held, sharing }: Aggregate<unknown>, peer: string): PeerOutcome {
  if (sharing.includes(peer)) return 'own_signer'
  if (held.includes(peer)) return 'held'
  return mismatched.includes(peer) ? 'mismatch' : 'merged'
}

function eventOf(failure: PeerFailure): { readonly event: string } {
  if (failure === 'timeout') return { event: 'peer_timeout' }
  const isNotAsked = failure === 'busy' || failure === 'breaker_open' || failure === 'force'
  return isNotAsked ? { event: 'peer_skipped' } : { event: 'peer_failed' }
}
