import type { HeldExecution } from '@causeway/attestations'
import { canonicalJson, DomainError, type Evidence, type Hex, type Signer, whenAborted } from '@causeway/core'
import { createLruCache, SingleFlight } from '@causeway/rpc'
import type { AttestationContext, Attested } from '../attestations/context.ts'
import { AttestationError } from '../attestations/errors.ts'
import type { SettledOrders } from '../caps/settledOrders.ts'
import type { SigningGuard } from '../caps/signingGuard.ts'
import type { ChainWatch } from '../halt/chainWatch.ts'
import type { AttestationDefinition, RequestSwitches } from './definitions.ts'
import type { OracleMetrics } from './oracleMetrics.ts'
import { signResponse } from './signing.ts'
import { createWorkSlots, type WorkSlots } from './workSlots.ts'

/** An answer with this oracle's own signatures, and the sources of its facts. */
export type LocalAttestation<Response> = {
  readonly response: Response
  readonly evidence: readonly Evidence[]
  /** Ids of all chains from which its facts were read, now or for a cached answer. */
  readonly chains: readonly string[]
  /** False for an answer that has nothing to sign: no deposits. */
  readonly isSigned: boolean
  /** Order of a fill or a refund. */
  readonly orderId?: Hex
}

/** Attests with this oracle's signature alone. */
export interface AttestationService {
  /**
   * Gives the cached answer to a request, or attests anew.
   * @param options.signal of the caller; aborting it does not end work for which other callers wait
   * @throws DomainError for everything that readers, rules and the signer refuse; AttestationError
   * `OVERLOADED`, `REQUEST_TIMED_OUT`, `CHAIN_HALTED`
   */
  attest<Request extends RequestSwitches, Response extends object>(
    definition: AttestationDefinition<Request, Response>,
    request: Request,
    options: { readonly signal: AbortSignal },
  ): Promise<LocalAttestation<Response>>
  /**
   * Calls `use` with the cached answer to a request and returns its result; `undefined` if there is none, or if `use`
   * does not take it. Asks no endpoint.
   * @throws DomainError as `attest`, for a halt
   */
  useKept<Request extends RequestSwitches, Response extends object, Result>(
    definition: AttestationDefinition<Request, Response>,
    request: Request,
    use: (response: Response) => Result | undefined,
  ): Result | undefined
  /** Empties the cache: call it when a chain was rewritten. */
  forgetAll(): void
}

export type AttestationServiceOptions = {
  readonly context: AttestationContext
  readonly watch: ChainWatch
  readonly signer: Signer
  readonly metrics: OracleMetrics
  /** Counts what lets value out, before it is signed. */
  readonly guard: SigningGuard
  /** Records a fill's or refund's settlement, before it is signed. */
  readonly orders: SettledOrders
  /** Most attestations that are worked on at once. */
  readonly inFlightMax: number
  /** Most cached answers; 0: none. Default 10 000. */
  readonly keptMax?: number
  /** Time limit of one attestation from its start in milliseconds, readings and signatures included. */
  readonly deadlineMs: number
}

const keptMaxDefault = 10_000
/** Largest cache, in bytes. */
const keptWeightMax = 64 * 1024 * 1024

/**
 * Makes the service. A request passes a cache, single flight and a deadline, each by the request in canonical spelling.
 *
 * - The **cache** holds signed answers that cannot change. Answers that are not final, or whose execution is held, are
 *   judged anew each time and never cached. The cache is emptied when a final block of any chain changed, or a halt was
 *   lifted. An answer is not used if one of its chains was not followed meanwhile (`ChainWatch.useKept`). The least
 *   recently used answers leave first.
 * - **Single flight**: identical requests at the same time share one piece of work and one slot of `inFlightMax`. A
 *   caller that leaves does not end it for the others; the last one that leaves does.
 * - The **deadline** belongs to the work: readers, guard and signer get its signal. A caller that joins has only the
 *   rest of it, or repeated requests could keep hanging work alive. Work that ignores the signal loses its slot.
 *
 * Every answer, cached or new, is refused if one of its chains is not ready any more, or if the chain's endpoints do not
 * agree on a head any more: a cached answer must not be given after the last working endpoint failed. Below this, the
 * readers cache final transactions, which several requests share, such as a deposit's and its fill's.
 * @source rules P-21, P-94, P-97
 */
export const createAttestationService = (options: AttestationServiceOptions): AttestationService =>
  new LocalAttestations(options)

class LocalAttestations implements AttestationService {
  readonly #options: AttestationServiceOptions
  readonly #kept = createLruCache<LocalAttestation<object>>(keptWeightMax)
  readonly #flights: SingleFlight<LocalAttestation<object>>
  readonly #slots: WorkSlots

  constructor(options: AttestationServiceOptions) {
    this.#options = options
    this.#flights = new SingleFlight({ timeoutMs: options.deadlineMs, late: lateError })
    this.#slots = createWorkSlots(options.inFlightMax)
    options.metrics.watchWork(() => this.#slots.inUse)
  }

  attest<Request extends RequestSwitches, Response extends object>(
    definition: AttestationDefinition<Request, Response>,
    rawRequest: Request,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<LocalAttestation<Response>> {
    const { context, watch, metrics } = this.#options
    return measure(metrics, { definition, request: rawRequest, signal }, async () => {
      watch.refuseUnlessReady(context.hub.id)
      const { name } = definition.kind
      const request = definition.canonical?.(rawRequest, context) ?? rawRequest
      const key = keyOf(name, request)
      let attestation = this.#keptAnswer(key)
      if (attestation === undefined) {
        attestation = await this.#flights.run(key, signal, (workSignal) =>
          this.#slots.run(() => orAborted(workSignal, this.#work(definition, request, key, workSignal))),
        )
      } else {
        if (!watch.hasHeads(attestation.chains))
          await orAborted(signal, watch.requireHeads(attestation.chains))
        metrics.countKept(name)
      }
      this.#refuseUnlessReady(attestation)
      // CAST: the key holds the kind's name, so what is found under it is of that kind.
      return attestation as LocalAttestation<never>
    })
  }

  useKept<Request extends RequestSwitches, Response extends object, Result>(
    definition: AttestationDefinition<Request, Response>,
    rawRequest: Request,
    use: (response: Response) => Result | undefined,
  ): Result | undefined {
    const { context, watch, metrics } = this.#options
    watch.refuseUnlessReady(context.hub.id)
    const request = definition.canonical?.(rawRequest, context) ?? rawRequest
    const { name } = definition.kind
    const keptAttestation = this.#keptAnswer(keyOf(name, request))
    if (keptAttestation === undefined || !watch.hasHeads(keptAttestation.chains)) return undefined
    this.#refuseUnlessReady(keptAttestation)
    // CAST: the key holds the kind's name, so what is found under it is of that kind.
    const result = use((keptAttestation as LocalAttestation<never>).response)
    if (result !== undefined) metrics.countKept(name)
    return result
  }

  forgetAll(): void {
    this.#kept.clear()
  }

  /** Reads the facts, judges them by the route's rule, counts the value, signs, and caches an answer that cannot change. */
  async #work<Request extends RequestSwitches, Response extends object>(
    definition: AttestationDefinition<Request, Response>,
    request: Request,
    key: string,
    signal: AbortSignal,
  ): Promise<LocalAttestation<object>> {
    const { context, watch } = this.#options
    const readChains = new Set<string>()
    const attested = await definition.attest(request, noteChains(context, readChains), { signal })
    const { unsigned, evidence, isFinal } = attested
    watch.observe(evidence)
    for (const { chainId } of evidence) readChains.add(chainId)
    const chains = [...readChains]
    // Readers may have taken all facts from their caches, so that no endpoint was asked now.
    if (!watch.hasHeads(chains)) await watch.requireHeads(chains)
    const { kind } = definition
    const holdReason = await whyHeld(definition, attested, this.#options, signal)
    const signable = holdReason === undefined ? unsigned : kind.withoutExecution(unsigned, holdReason)
    const orderId = attested.settlement?.orderId
    const attestation = {
      ...(await signResponse(kind, signable, this.#options, { signal })),
      ...(orderId !== undefined && { orderId }),
      evidence,
      chains,
    }
    if (isFinal && holdReason === undefined) this.#keep(key, attestation)
    return attestation
  }

  #keep(key: string, attestation: LocalAttestation<object>): void {
    const { keptMax = keptMaxDefault } = this.#options
    // The size is doubled, because the HTTP route caches the serialised text of the answer as well.
    const size = key.length + 2 * JSON.stringify(attestation.response).length
    this.#kept.set(key, attestation, { size })
    if (this.#kept.size > keptMax) this.#kept.pop()
  }

  /** The cached answer, unless one of its chains was not followed meanwhile. */
  #keptAnswer(key: string): LocalAttestation<object> | undefined {
    const keptAttestation = this.#kept.get(key)
    // `map`, not `every`: each chain must be marked as used, so that all are followed from now on.
    const areFollowed = keptAttestation?.chains.map((chainId) => this.#options.watch.useKept(chainId)) ?? []
    return areFollowed.includes(false) ? undefined : keptAttestation
  }

  #refuseUnlessReady({ chains }: LocalAttestation<object>): void {
    const { context, watch } = this.#options
    watch.refuseUnlessReady(context.hub.id)
    for (const chainId of chains) watch.refuseUnlessReady(chainId)
  }
}

/** Measures an attestation: its outcome and duration. */
async function measure<Request extends RequestSwitches, Response extends object, Result>(
  metrics: OracleMetrics,
  attesting: {
    readonly definition: AttestationDefinition<Request, Response>
    readonly request: Request
    readonly signal: AbortSignal
  },
  run: () => Promise<Result>,
): Promise<Result> {
  const { definition, request, signal } = attesting
  const startedAt = performance.now()
  const observe = (outcome: string) =>
    metrics.observeAttestation({
      kind: definition.kind.name,
      chain: definition.chainOf(request),
      outcome,
      seconds: (performance.now() - startedAt) / 1000,
    })
  try {
    const result = await run()
    observe('signed')
    return result
  } catch (error) {
    // After an abort the caller may simply have enough answers, so it is not counted as a failure.
    const otherOutcome = signal.aborted ? 'aborted' : 'failed'
    observe(error instanceof DomainError ? error.code : otherOutcome)
    throw error
  }
}

/** The context, which also adds to `readChains` each chain whose reader a rule uses. */
function noteChains(context: AttestationContext, readChains: Set<string>): AttestationContext {
  return {
    ...context,
    readerOf(chainId) {
      const reader = context.readerOf(chainId)
      readChains.add(chainId)
      return reader
    },
  }
}

/**
 * Why the execution of an answer must not be signed now; `undefined` if it may be, and it is then counted. A
 * settlement that is recorded stays so when the guard then holds its execution: later requests find the same
 * key, and are admitted.
 */
async function whyHeld<Request extends RequestSwitches, Response extends object>(
  { kind, letsNothingOut }: AttestationDefinition<Request, Response>,
  { unsigned, payout, settlement }: Attested<Response>,
  { orders, guard, metrics }: Pick<AttestationServiceOptions, 'orders' | 'guard' | 'metrics'>,
  signal: AbortSignal,
): Promise<HeldExecution | undefined> {
  const execution = kind.executionOf(unsigned)
  if (execution !== undefined && settlement !== undefined) {
    if (!(await orders.admit(settlement, execution.idempotencyKey))) {
      metrics.countHeld(kind.name, 'settled')
      return 'ORDER_SETTLED'
    }
  }
  if (letsNothingOut === true) return undefined
  return (await guard.admit({ kind: kind.name, execution, payout }, { signal })) ? undefined : 'SIGNING_CAP'
}

/** Key of cache and flight: everything on which the answer depends. */
function keyOf(kind: string, request: RequestSwitches): string {
  return `${kind} ${canonicalJson({ ...request, requestPeerSignatures: undefined, includeEvidence: undefined })}`
}

function lateError(): AttestationError {
  return new AttestationError('REQUEST_TIMED_OUT', 'The chains did not answer in time.', {
    retryAfterSeconds: 1,
  })
}

/** Awaits the work or an abort. After an abort it throws the signal's reason, as readers may report it in other words. */
async function orAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  try {
    return await Promise.race([work, whenAborted(signal)])
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
}
