import { OneFlight, WeightedCache } from '@causeway/chains'
import {
  canonicalJson,
  DomainError,
  type Evidence,
  type HeldExecution,
  type SignatureContext,
  type Signer,
} from '@causeway/core'
import type { AttestationContext } from '../attestations/context.ts'
import type { SettledOrders } from '../caps/settledOrders.ts'
import type { SigningGuard } from '../caps/signingGuard.ts'
import type { ChainWatch } from '../halt/chainWatch.ts'
import type { AttestationDefinition, RequestSwitches } from './definitions.ts'
import type { OracleMetrics } from './oracleMetrics.ts'
import { signResponse } from './signing.ts'
import { createWorkSlots, withinDeadline } from './workSlots.ts'

/** An answer with this oracle's own signatures, and where its facts were read. */
export type LocalAttestation<Response> = {
  readonly response: Response
  readonly evidence: readonly Evidence[]
}

/** Attests with this oracle alone. */
export interface AttestationService {
  /**
   * @throws DomainError for everything that readers, rules and the signer refuse; AttestationError
   * `OVERLOADED`, `REQUEST_TIMED_OUT`, `CHAIN_HALTED`
   */
  attest<Request extends RequestSwitches, Response extends object>(
    definition: AttestationDefinition<Request, Response>,
    request: Request,
    options: { readonly signal: AbortSignal },
  ): Promise<LocalAttestation<Response>>
  /** Forgets every kept answer: a chain was rewritten. */
  forgetAll(): void
}

export type AttestationServiceOptions = {
  readonly context: AttestationContext
  readonly watch: ChainWatch
  readonly signer: Signer
  readonly signatureContext: SignatureContext
  readonly metrics: OracleMetrics
  /** Asked before anything that lets value out is signed. */
  readonly guard: SigningGuard
  /** Asked before a fill or a refund is signed. */
  readonly orders: SettledOrders
  readonly inFlightMax: number
  /** Final answers that are kept; 0 signs every one anew. Default 10 000. */
  readonly keptMax?: number
  readonly deadlineMs: number
}

const keptMaxDefault = 10_000
const keptWeightMax = 64 * 1024 * 1024

/**
 * Identical requests in flight are one piece of work; answers that cannot change are kept with their
 * signatures. Whatever is about to leave is refused when a chain it rests on is not ready any more.
 * @source design.md 7.5, 7.6; ledger-and-safety.md 4.7
 */
export function createAttestationService(options: AttestationServiceOptions): AttestationService {
  const { context, watch, signer, signatureContext, metrics, guard, orders } = options
  const { inFlightMax, deadlineMs, keptMax = keptMaxDefault } = options
  const kept = new WeightedCache<LocalAttestation<object>>({ entriesMax: keptMax, weightMax: keptWeightMax })
  const flights = new OneFlight<LocalAttestation<object>>()
  const slots = createWorkSlots(inFlightMax)
  metrics.watchWork(() => slots.inUse)

  async function work<Request extends RequestSwitches, Response extends object>(
    definition: AttestationDefinition<Request, Response>,
    request: Request,
    key: string,
    signal: AbortSignal,
  ): Promise<LocalAttestation<object>> {
    const { kind, attest } = definition
    const { unsigned, evidence, isFinal, payout, settles } = await attest(request, context, { signal })
    watch.observe(evidence)
    const execution = kind.executionOf(unsigned)
    let held: HeldExecution | undefined
    if (
      execution !== undefined &&
      settles !== undefined &&
      !orders.admit(settles, execution.idempotencyKey)
    ) {
      metrics.countHeld(kind.name, 'settled')
      held = 'ORDER_SETTLED'
    } else if (
      definition.letsNothingOut !== true &&
      !(await guard.admit({ kind: kind.name, execution, payout }, { signal }))
    ) {
      held = 'SIGNING_CAP'
    }
    const answer = held === undefined ? unsigned : kind.withoutExecution(unsigned, held)
    const response = await signResponse(kind, answer, { signer, context: signatureContext }, { signal })
    const attestation = { response, evidence }
    // Its text is kept beside it once it was asked for. What is held is judged anew each time.
    if (isFinal && held === undefined)
      kept.set(key, attestation, key.length + 2 * JSON.stringify(response).length)
    return attestation
  }

  /** Each chain is told: all of them are followed again from now on. */
  function isFollowed({ evidence }: LocalAttestation<object>): boolean {
    return evidence.map(({ chainId }) => watch.useKept(chainId)).every((wasFollowed) => wasFollowed)
  }

  function refuseUnlessReady({ evidence }: LocalAttestation<object>): void {
    watch.refuseUnlessReady(context.hub.id)
    for (const { chainId } of evidence) watch.refuseUnlessReady(chainId)
  }

  return {
    async attest(definition, request, { signal }) {
      const startedAt = performance.now()
      const { name } = definition.kind
      const observe = (outcome: string) =>
        metrics.observeAttestation({
          kind: name,
          chain: definition.chainOf(request),
          outcome,
          seconds: (performance.now() - startedAt) / 1000,
        })
      try {
        watch.refuseUnlessReady(context.hub.id)
        const key = keyOf(name, request)
        let attestation = kept.get(key)
        if (attestation !== undefined && !isFollowed(attestation)) attestation = undefined
        if (attestation !== undefined) metrics.countKept(name)
        else {
          attestation = await flights.run(key, signal, (workSignal) =>
            slots.run(() =>
              withinDeadline(deadlineMs, workSignal, (bounded) => work(definition, request, key, bounded)),
            ),
          )
        }
        refuseUnlessReady(attestation)
        observe('signed')
        // CAST: the key holds the kind's name, so what is found under it is of that kind.
        return attestation as LocalAttestation<never>
      } catch (error) {
        observe(error instanceof DomainError ? error.code : 'failed')
        throw error
      }
    },
    forgetAll: () => kept.clear(),
  }
}

/** Everything that the answer depends on, in one spelling. */
function keyOf(kind: string, request: RequestSwitches): string {
  return `${kind} ${canonicalJson({ ...request, requestPeerSignatures: undefined, includeEvidence: undefined })}`
}
