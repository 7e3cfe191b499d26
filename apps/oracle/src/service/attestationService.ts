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

/** An answer with this oracle's own signatures, and where its facts were read. */
export type LocalAttestation<Response> = {
  readonly response: Response
  readonly evidence: readonly Evidence[]
  /** Every chain that was asked, whether now or when what is kept of it was read. */
  readonly chains: readonly string[]
  /** False for an answer that has nothing to sign: no deposits. */
  readonly isSigned: boolean
  /** The order that a fill or a refund is of. */
  readonly orderId?: Hex
}

/** Attests with this oracle alone. */
export interface AttestationService {
  /**
   * @param options.signal of the caller: who leaves ends nothing that others wait for
   * @throws DomainError for everything that readers, rules and the signer refuse; AttestationError
   * `OVERLOADED`, `REQUEST_TIMED_OUT`, `CHAIN_HALTED`
   */
  attest<Request extends RequestSwitches, Response extends object>(
    definition: AttestationDefinition<Request, Response>,
    request: Request,
    options: { readonly signal: AbortSignal },
  ): Promise<LocalAttestation<Response>>
  /**
   * Result of `use` on the kept answer to a request; `undefined` if none is kept or `use` returns it, and then it does
   * not count as given. Asks no chain.
   * @throws DomainError as `attest`, for a halt
   */
  useKept<Request extends RequestSwitches, Response extends object, Result>(
    definition: AttestationDefinition<Request, Response>,
    request: Request,
    use: (response: Response) => Result | undefined,
  ): Result | undefined
  /** Forgets every kept answer: a chain was rewritten. */
  forgetAll(): void
}

export type AttestationServiceOptions = {
  readonly context: AttestationContext
  readonly watch: ChainWatch
  readonly signer: Signer
  readonly metrics: OracleMetrics
  /** Asked before anything that lets value out is signed. */
  readonly guard: SigningGuard
  /** Asked before a fill or a refund is signed. */
  readonly orders: SettledOrders
  readonly inFlightMax: number
  /** Final answers that are kept; 0 signs every one anew. Default 10 000. */
  readonly keptMax?: number
  /** Time limit of one attestation from its start in milliseconds, readings and signatures included. */
  readonly deadlineMs: number
}

const keptMaxDefault = 10_000
const keptWeightMax = 64 * 1024 * 1024

/**
 * A request passes one cache, one flight and one deadline, all by the request in its one spelling.
 *
 * - The **cache** keeps signed answers that cannot change. What is not final, and what is held at a cap or because
 *   its order is settled, is never in it: that is judged anew each time. All of it goes when a final block of any
 *   chain changed, or a halt was lifted; one answer is not used when a chain of it was not followed and not looked
 *   at since (`ChainWatch.useKept`); the one used longest ago goes first beyond number and weight.
 * - The **flight** makes identical requests one piece of work with one place among `inFlightMax`. Who leaves ends
 *   nothing that others wait for; the last one who leaves ends the work.
 * - The **deadline** is that of the work: readers, the guard and the signer have its signal. Who joins has what is
 *   left of it, else work that hangs could be kept alive by asking again and again. Work that does not heed it is
 *   left alone and gives up its place.
 *
 * Whatever is about to leave, kept or new, is refused when a chain it rests on is not ready any more, or when its
 * endpoints do not agree on a head any more: what is kept must not outlive the chain's last working endpoint. Readers
 * remember final transactions below this: they are facts that several requests share, a deposit and its fill, and
 * what is held asks nobody for them again.
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
    return observed(metrics, { definition, asked: rawRequest, signal }, async () => {
      watch.refuseUnlessReady(context.hub.id)
      const { name } = definition.kind
      const request = definition.canonical?.(rawRequest, context) ?? rawRequest
      const key = keyOf(name, request)
      const keptAttestation = this.#keptAnswer(key)
      if (keptAttestation !== undefined) {
        if (!watch.hasHeads(keptAttestation.chains))
          await endWith(signal, watch.requireHeads(keptAttestation.chains))
        metrics.countKept(name)
      }
      const attestation =
        keptAttestation ??
        (await this.#flights.run(key, signal, (ending) =>
          this.#slots.run(() => endWith(ending, this.#work(definition, request, key, ending))),
        ))
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

  async #work<Request extends RequestSwitches, Response extends object>(
    definition: AttestationDefinition<Request, Response>,
    request: Request,
    key: string,
    signal: AbortSignal,
  ): Promise<LocalAttestation<object>> {
    const { context, watch, keptMax = keptMaxDefault } = this.#options
    const readChains = new Set<string>()
    const attested = await definition.attest(request, noteChains(context, readChains), { signal })
    const { unsigned, evidence, isFinal } = attested
    watch.observe(evidence)
    for (const { chainId } of evidence) readChains.add(chainId)
    const chains = [...readChains]
    // Readers keep what is final: nothing of it may have been read now.
    if (!watch.hasHeads(chains)) await watch.requireHeads(chains)
    const { kind } = definition
    const holdReason = await whyHeld(definition, attested, this.#options, signal)
    const answer = holdReason === undefined ? unsigned : kind.withoutExecution(unsigned, holdReason)
    const orderId = attested.settles?.orderId
    const attestation = {
      ...(await signResponse(kind, answer, this.#options, { signal })),
      ...(orderId !== undefined && { orderId }),
      ...{ evidence, chains },
    }
    // Its text is kept beside it once it was asked for.
    if (isFinal && holdReason === undefined) {
      const size = key.length + 2 * JSON.stringify(attestation.response).length
      this.#kept.set(key, attestation, { size })
      if (this.#kept.size > keptMax) this.#kept.pop()
    }
    return attestation
  }

  #keptAnswer(key: string): LocalAttestation<object> | undefined {
    const keptAttestation = this.#kept.get(key)
    // Each chain is told: all of them are followed again from now on.
    const used = keptAttestation?.chains.map((chainId) => this.#options.watch.useKept(chainId)) ?? []
    return used.includes(false) ? undefined : keptAttestation
  }

  #refuseUnlessReady({ chains }: LocalAttestation<object>): void {
    const { context, watch } = this.#options
    watch.refuseUnlessReady(context.hub.id)
    for (const chainId of chains) watch.refuseUnlessReady(chainId)
  }
}

/** Tells how an attestation ended, and how long it took. */
async function observed<Request extends RequestSwitches, Response extends object, Result>(
  metrics: OracleMetrics,
  attesting: {
    readonly definition: AttestationDefinition<Request, Response>
    readonly asked: Request
    readonly signal: AbortSignal
  },
  run: () => Promise<Result>,
): Promise<Result> {
  const { definition, asked: request, signal } = attesting
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
    const unforeseen = signal.aborted ? 'aborted' : 'failed'
    observe(error instanceof DomainError ? error.code : unforeseen)
    throw error
  }
}

/** The context, which notes each chain whose reader a rule asks for. */
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

/** Reason that the execution of an answer must not be signed now; `undefined` if it may be. Counts those that may. */
async function whyHeld<Request extends RequestSwitches, Response extends object>(
  { kind, letsNothingOut }: AttestationDefinition<Request, Response>,
  { unsigned, payout, settles }: Attested<Response>,
  { orders, guard, metrics }: Pick<AttestationServiceOptions, 'orders' | 'guard' | 'metrics'>,
  signal: AbortSignal,
): Promise<HeldExecution | undefined> {
  const execution = kind.executionOf(unsigned)
  if (execution !== undefined && settles !== undefined) {
    if (!(await orders.admit(settles, execution.idempotencyKey))) {
      metrics.countHeld(kind.name, 'settled')
      return 'ORDER_SETTLED'
    }
  }
  if (letsNothingOut === true) return undefined
  return (await guard.admit({ kind: kind.name, execution, payout }, { signal })) ? undefined : 'SIGNING_CAP'
}

/** Everything that the answer depends on, in one spelling. */
function keyOf(kind: string, request: RequestSwitches): string {
  return `${kind} ${canonicalJson({ ...request, requestPeerSignatures: undefined, includeEvidence: undefined })}`
}

function lateError(): AttestationError {
  return new AttestationError('REQUEST_TIMED_OUT', 'The chains did not answer in time.', {
    retryAfterSeconds: 1,
  })
}

/** Ends with `signal`, for its reason: a reader that was aborted may report the abort in its own words. */
async function endWith<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  try {
    return await Promise.race([work, whenAborted(signal)])
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
}

/** Bounds the attestations that are being worked on; what is beyond is refused at once, never queued. */
interface WorkSlots {
  /** @throws AttestationError `OVERLOADED` */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  readonly inUse: number
}

/** @source ledger-and-safety.md 4.7 */
function createWorkSlots(slotsMax: number): WorkSlots {
  let inUse = 0
  return {
    get inUse() {
      return inUse
    },
    async run(work) {
      if (inUse >= slotsMax) {
        throw new AttestationError('OVERLOADED', 'Too many attestations are being worked on.', {
          retryAfterSeconds: 1,
        })
      }
      inUse += 1
      try {
        return await work()
      } finally {
        inUse -= 1
      }
    },
  }
}
