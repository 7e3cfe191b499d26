import { answerJson, apiKeyHeader, errorResponses, type HttpApp } from '@causeway/http'
import type { z } from 'zod'
import { AttestationError } from '../attestations/errors.ts'
import type { PeerAggregator } from '../peers/peerAggregator.ts'
import type { AttestationService } from '../service/attestationService.ts'
import type { AttestationDefinition, RequestSwitches } from '../service/definitions.ts'
import type { OracleMetrics } from '../service/oracleMetrics.ts'
import { evidenceToWire } from '../wire/evidence.ts'
import { publishedExample } from '../wire/publishedExample.ts'
import { responseExamples } from '../wire/responseExamples.ts'

export type AttestationRouteDependencies = {
  readonly service: AttestationService
  readonly peers: PeerAggregator
  readonly metrics: OracleMetrics
  /** Time of a whole request, peers included. */
  readonly requestTimeoutMs: number
}

/** Who asks: for `force`, logs and `pass-through`. */
type Caller = { readonly keyLabel: string | undefined; readonly presentedKey: string | undefined }

type RouteLog = { warn(fields: object, message: string): void }

/**
 * POST one attestation route: authorise, attest here and, when asked to, at the peers as well.
 * @source attestation-oracle.md, Endpoints; oracle-protocol.md 3
 */
export function registerAttestation<Request extends RequestSwitches, Response extends object>(
  app: HttpApp,
  definition: AttestationDefinition<Request, Response>,
  dependencies: AttestationRouteDependencies,
): void {
  const { kind, requestSchema, summary, bodyBytesMax } = definition
  const schema: RouteSchema = {
    tags: ['attestations'],
    summary,
    security: [{}, { apiKey: [] }],
    body: requestSchema,
    response: {
      200: kind.responseSchema.meta(publishedExample(responseExamples[kind.name])),
      ...errorResponses,
    },
  }
  const config = { handlerTimeoutMs: dependencies.requestTimeoutMs }
  // Final answers are kept as objects and asked for again and again: each is written out once.
  const texts = new WeakMap<object, string>()
  const limit = bodyBytesMax === undefined ? {} : { bodyLimit: bodyBytesMax }
  app.post(kind.path, { schema, config, ...limit }, (request, reply) => {
    const answer = async (): Promise<string> => {
      const presented = request.headers[apiKeyHeader]
      const caller: Caller = {
        keyLabel: request.apiKey?.label,
        presentedKey: typeof presented === 'string' ? presented : undefined,
      }
      // CAST: the validator compiler has just parsed the body with `requestSchema`.
      const body = request.body as Request
      authoriseForce(body, caller, { kind: kind.name, log: request.log, metrics: dependencies.metrics })
      const { response, matched, required } = await dependencies.peers.run({
        kind,
        body,
        callerApiKey: caller.presentedKey,
        requestId: request.id,
        signal: request.cancellation,
        local: (signal) => attestHere(definition, body, dependencies.service, signal),
      })
      if (body.requestPeerSignatures === true) {
        reply.header('x-quorum-matched', matched).header('x-quorum-required', required)
      }
      const text = texts.get(response) ?? String(reply.serialize(response))
      texts.set(response, text)
      return text
    }
    answerJson(reply, answer())
  })
}

/** Kept apart from the handler's types: the definition ties body and answer together instead. */
type RouteSchema = {
  readonly tags: string[]
  readonly summary: string
  readonly security: Record<string, string[]>[]
  readonly body: z.ZodType
  readonly response: Record<number, z.ZodType>
}

/** `force` settles by deposits alone, so it needs somebody who is known and is written down. */
function authoriseForce(
  { force }: RequestSwitches,
  { keyLabel }: Caller,
  { kind, log, metrics }: { kind: string; log: RouteLog; metrics: OracleMetrics },
): void {
  if (force !== true) return
  if (keyLabel === undefined) {
    throw new AttestationError('FORCE_UNAUTHORIZED', 'The force option needs a valid API key.')
  }
  metrics.countForce(kind)
  log.warn({ event: 'force_accepted', keyLabel, kind }, 'force accepted')
}

/** This oracle's own answer, with its evidence when the caller wants to see it. */
async function attestHere<Request extends RequestSwitches, Response extends object>(
  definition: AttestationDefinition<Request, Response>,
  body: Request,
  service: AttestationService,
  signal: AbortSignal,
): Promise<Response> {
  const { response, evidence } = await service.attest(definition, body, { signal })
  return body.includeEvidence === true ? { ...response, evidence: evidenceToWire(evidence) } : response
}
