import { Counter, Gauge, Histogram, type HttpMetrics } from '@causeway/http'
import type { QuorumEndpointHealth } from '@causeway/rpc'
import type { GuardMetrics } from '../caps/signingGuard.ts'
import type { PeerMetrics } from '../peers/peerEvents.ts'
import type { ForceRefusal } from './force.ts'

/** Metrics of the oracle beside HTTP. Labels come from closed sets. @source rule O-194 */
export type OracleMetrics = PeerMetrics &
  GuardMetrics &
  AheadMetrics & {
    observeAttestation(observation: {
      readonly kind: string
      /** Chain of the request; one that is not configured is reported as `other`. */
      readonly chain: string
      /** `signed`, an error code, `aborted`, or `failed` for a bug. */
      readonly outcome: string
      readonly seconds: number
    }): void
    /** Counts an answer from the cache. */
    countKept(kind: string): void
    /** Counts an answer by `force`; `key` is the label of the caller's key. */
    countForce(kind: string, key: string): void
    countForceRefused(kind: string, reason: ForceRefusal): void
    observeSigning(seconds: number, outcome: 'signed' | 'failed'): void
    // Each `watch…` registers gauges whose values are read when they are scraped.
    /** Attestations that are being worked on. */
    watchWork(read: () => number): void
    /** True if all state that must outlive the process is in `STATE_DIR`. */
    watchState(read: () => boolean): void
    /** `WatchStatus` of each chain, or `unavailable`. */
    watchChains(read: () => readonly { readonly chain: string; readonly status: string }[]): void
    /** See `ChainWatch.keptWindows`. */
    watchKept(read: () => readonly { readonly chain: string; readonly ageMs: number }[]): void
    /** See `ChainWatch.finalHeads`. */
    watchFinal(
      read: () => readonly { readonly chain: string; readonly number: bigint; readonly ageMs: number }[],
    ): void
    /** Endpoints are named by alias, never by URL. */
    watchEndpoints(read: () => readonly ({ readonly chain: string } & QuorumEndpointHealth)[]): void
  }

const durationBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Outcomes of transactions that are attested or read before anyone asks; see `createAttestAhead`. */
export const aheadOutcomes = ['prepared', 'remembered', 'empty', 'failed', 'dropped'] as const
export type AheadOutcome = (typeof aheadOutcomes)[number]

export type AheadMetrics = {
  countAhead(chain: string, outcome: AheadOutcome): void
  /** Registers the number of waiting transactions. */
  watchAhead(read: () => number): void
}

function aheadMetrics({ registers }: Registered): AheadMetrics {
  const prepared = new Counter({
    name: 'oracle_ahead_transactions_total',
    help: 'Deposits and payments that were looked at before anyone asked, by what became of them',
    labelNames: ['chain', 'outcome'] as const,
    registers,
  })
  return {
    countAhead: (chain, outcome) => prepared.inc({ chain, outcome }),
    watchAhead(read) {
      new Gauge({
        name: 'oracle_ahead_waiting',
        help: 'Deposits, signatures of peers and payments that wait to be prepared',
        registers,
        collect() {
          this.set(read())
        },
      })
    },
  }
}

/** Registries in which a metric is registered. */
type Registered = { readonly registers: HttpMetrics['registry'][] }

/** @param options.signer lower-case address, for an info metric */
export function createOracleMetrics(options: {
  readonly registry: HttpMetrics['registry']
  readonly signer: string
  readonly chainIds: readonly string[]
  /** Names of the configured peers. */
  readonly peerNames: readonly string[]
}): OracleMetrics {
  const registers = [options.registry]
  new Gauge({
    name: 'oracle_signer_info',
    help: 'Address that this oracle signs with; always 1',
    labelNames: ['signer'] as const,
    registers,
  }).set({ signer: options.signer }, 1)
  return {
    ...answerMetrics({ registers }, new Set(options.chainIds)),
    ...peerMetrics({ registers }, options.peerNames),
    ...capMetrics({ registers }),
    ...workMetrics({ registers }),
    ...aheadMetrics({ registers }),
    ...endpointMetrics({ registers }),
    ...chainMetrics({ registers }),
  }
}

type AnswerMetrics = Pick<
  OracleMetrics,
  'observeAttestation' | 'countKept' | 'countForce' | 'countForceRefused'
>

/** @param chainIds chains that are configured */
function answerMetrics({ registers }: Registered, chainIds: ReadonlySet<string>): AnswerMetrics {
  const attestations = new Histogram({
    name: 'oracle_attestation_duration_seconds',
    help: 'Time of this oracle alone per attestation, by what became of it',
    labelNames: ['kind', 'chain', 'outcome'] as const,
    buckets: durationBuckets,
    registers,
  })
  const keptAnswers = new Counter({
    name: 'oracle_kept_answers_total',
    help: 'Attestations answered from final results that were kept',
    labelNames: ['kind'] as const,
    registers,
  })
  const forced = new Counter({
    name: 'oracle_forced_attestations_total',
    help: 'Answers that left by force, by the label of the key that authorised them',
    labelNames: ['kind', 'key'] as const,
    registers,
  })
  const forceRefused = new Counter({
    name: 'oracle_force_refused_total',
    help: 'Requests with force that were refused: it is off, or the key is missing or of a peer',
    labelNames: ['kind', 'reason'] as const,
    registers,
  })
  return {
    observeAttestation({ kind, chain, outcome, seconds }) {
      attestations.observe({ kind, chain: chainIds.has(chain) ? chain : 'other', outcome }, seconds)
    },
    countKept: (kind) => keptAnswers.inc({ kind }),
    countForce: (kind, key) => forced.inc({ kind, key }),
    countForceRefused: (kind, reason) => forceRefused.inc({ kind, reason }),
  }
}

function peerMetrics({ registers }: Registered, peerNames: readonly string[]): PeerMetrics {
  const quorums = new Counter({
    name: 'oracle_quorum_total',
    help: 'Aggregated answers, by whether they hold the required number of signatures',
    labelNames: ['route', 'reached'] as const,
    registers,
  })
  const peerRequests = new Histogram({
    name: 'oracle_peer_request_duration_seconds',
    help: 'Time of one peer in one request, by what became of its answer',
    labelNames: ['peer', 'outcome'] as const,
    buckets: durationBuckets,
    registers,
  })
  // Alerts look at the growth of a series, and one that first appears at 1 has not grown: so the usual ones begin at 0.
  for (const peer of peerNames)
    for (const outcome of ['merged', 'mismatch', 'own_signer', 'timeout', 'unreachable'])
      peerRequests.zero({ peer, outcome })
  const shadows = new Counter({
    name: 'oracle_shadow_answers_total',
    help: 'Answers of signers that do not count, by whether they agree',
    labelNames: ['peer', 'agrees'] as const,
    registers,
  })
  return {
    observePeer: ({ peer, outcome, seconds }) => peerRequests.observe({ peer, outcome }, seconds),
    observeQuorum({ route, matched, required }) {
      quorums.inc({ route, reached: matched >= required ? 'yes' : 'no' })
    },
    countShadow: ({ peer, agrees }) => shadows.inc({ peer, agrees: agrees ? 'yes' : 'no' }),
  }
}

function capMetrics({ registers }: Registered): GuardMetrics {
  const heldCounter = new Counter({
    name: 'oracle_executions_held_total',
    help: 'Answers without their execution: over a signing cap, of a currency without one, or overdrawn',
    labelNames: ['kind', 'reason'] as const,
    registers,
  })
  const released = new Counter({
    name: 'oracle_executions_released_total',
    help: 'Held executions that were signed because the operator released them',
    labelNames: ['kind'] as const,
    registers,
  })
  return {
    countHeld: (kind, reason) => heldCounter.inc({ kind, reason }),
    countReleased: (kind) => released.inc({ kind }),
    watchHeld(read) {
      new Gauge({
        name: 'oracle_executions_held',
        help: 'Different executions that wait for the operator, or for their cap',
        registers,
        collect() {
          this.set(read())
        },
      })
    },
    watchCaps(read) {
      const gauge = (name: string, help: string, member: 'amount' | 'signed') =>
        new Gauge({
          name,
          help,
          labelNames: ['chain', 'currency'] as const,
          registers,
          collect() {
            for (const cap of read())
              this.set({ chain: cap.chain, currency: cap.currency }, Number(cap[member]))
          },
        })
      const unit = 'in smallest units of the currency'
      gauge('oracle_signing_cap', `The most that is signed within an hour, ${unit}`, 'amount')
      gauge('oracle_signed_value', `Signed within the last hour, ${unit}`, 'signed')
    },
  }
}

function workMetrics({
  registers,
}: Registered): Pick<OracleMetrics, 'observeSigning' | 'watchWork' | 'watchState'> {
  const signing = new Histogram({
    name: 'oracle_signing_duration_seconds',
    help: 'Time of one signature, by outcome',
    labelNames: ['outcome'] as const,
    buckets: durationBuckets,
    registers,
  })
  return {
    observeSigning: (seconds, outcome) => signing.observe({ outcome }, seconds),
    watchWork(read) {
      new Gauge({
        name: 'oracle_attestations_in_flight',
        help: 'Attestations being worked on; identical requests count once',
        registers,
        collect() {
          this.set(read())
        },
      })
    },
    watchState(read) {
      new Gauge({
        name: 'oracle_state_kept',
        help: '1 while all that must outlive the process stands in STATE_DIR',
        registers,
        collect() {
          this.set(read() ? 1 : 0)
        },
      })
    },
  }
}

function endpointMetrics({ registers }: Registered): Pick<OracleMetrics, 'watchEndpoints'> {
  return {
    watchEndpoints(read) {
      new Gauge({
        name: 'oracle_endpoint_asked',
        help: '1 while an endpoint is asked, 0 while it is avoided after failures or at its own wish',
        labelNames: ['chain', 'endpoint'] as const,
        registers,
        collect() {
          for (const { chain, alias, isAsked } of read())
            this.set({ chain, endpoint: alias }, isAsked ? 1 : 0)
        },
      })
      new Gauge({
        name: 'oracle_endpoint_latency_seconds',
        help: 'Moving average of the time that an endpoint takes to answer',
        labelNames: ['chain', 'endpoint'] as const,
        registers,
        collect() {
          for (const { chain, alias, latencyMs } of read()) {
            if (latencyMs !== undefined) this.set({ chain, endpoint: alias }, latencyMs / 1_000)
          }
        },
      })
    },
  }
}

function chainMetrics({
  registers,
}: Registered): Pick<OracleMetrics, 'watchKept' | 'watchFinal' | 'watchChains'> {
  return {
    watchKept(read) {
      new Gauge({
        name: 'oracle_kept_window_seconds',
        help: 'Time since the look began that last showed the final blocks of a followed chain unchanged',
        labelNames: ['chain'] as const,
        registers,
        collect() {
          this.reset()
          for (const { chain, ageMs } of read()) this.set({ chain }, ageMs / 1_000)
        },
      })
    },
    watchFinal(read) {
      const gauge = (name: string, help: string, value: (head: ReturnType<typeof read>[number]) => number) =>
        new Gauge({
          name,
          help,
          labelNames: ['chain'] as const,
          registers,
          collect() {
            this.reset()
            for (const head of read()) this.set({ chain: head.chain }, value(head))
          },
        })
      gauge('oracle_final_block', 'Newest block that enough endpoints call final', ({ number }) =>
        Number(number),
      )
      gauge(
        'oracle_final_block_age_seconds',
        'Time since that block was first seen to be final',
        ({ ageMs }) => ageMs / 1_000,
      )
    },
    watchChains(read) {
      new Gauge({
        name: 'oracle_chain_status',
        help: '1 for the state a chain is in: unchecked, ready, silent, unsure, halted or unavailable',
        labelNames: ['chain', 'status'] as const,
        registers,
        collect() {
          this.reset()
          for (const { chain, status } of read()) this.set({ chain, status }, 1)
        },
      })
    },
  }
}
