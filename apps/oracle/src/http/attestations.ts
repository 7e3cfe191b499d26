import type { DepositsResponse } from '@causeway/attestations'
import type { Evidence, Hex } from '@causeway/core'
import {
  answerJson,
  apiKeyHeader,
  errorResponses,
  type HttpApp,
  noteSubject,
  type RouteErrors,
} from '@causeway/http'
import type { z } from 'zod'
import type { PeerAggregator } from '../peers/peerAggregator.ts'
import type { PreparedQuorums } from '../peers/preparedQuorums.ts'
import type { AttestationService } from '../service/attestationService.ts'
import type { AttestationDefinition, RequestSwitches } from '../service/definitions.ts'
import { createForceGuard } from '../service/force.ts'
import type { OracleMetrics } from '../service/oracleMetrics.ts'
import { publishedExample } from '../wire/requestExamples.ts'
import { responseExamples } from '../wire/responseExamples.ts'
import { attestationErrors, attestationOperationId } from './routeErrors.ts'

export type AttestationRouteDependencies = {
  readonly service: AttestationService
  /** Absent where no peer is configured. Used only for requests with `requestPeerSignatures`. */
  readonly peers?: PeerAggregator | undefined
  /** Signatures that peers made ahead; absent if nothing is prepared. */
  readonly prepared?: PreparedQuorums | undefined
  /** For `x-quorum-required`. */
  readonly signaturesRequired: number
  readonly metrics: OracleMetrics
  /** `FORCE`. */
  readonly allowsForce: boolean
  /** Time of a whole request, peers included. */
  readonly requestTimeoutMs: number
}

/**
 * Registers the POST route of one attestation: authorise, attest here and, when asked to, at the peers as well. The
 * work ends when the caller leaves or the request's time is over (`request.cancellation`).
 * @source rules O-route-10, O-quorum-01
 */
export function registerAttestation<Request extends RequestSwitches, Response extends object>(
  app: HttpApp,
  definition: AttestationDefinition<Request, Response>,
  dependencies: AttestationRouteDependencies,
): void {
  const { kind, requestSchema, summary, bodyBytesMax } = definition
  const schema: RouteSchema = {
    operationId: attestationOperationId(kind.name),
    tags: ['attestations'],
    errors: attestationErrors(kind.name),
    summary,
    security: [{}, { apiKey: [] }],
    body: requestSchema,
    response: {
      200: kind.responseSchema.meta(publishedExample(responseExamples[kind.name])),
      ...errorResponses,
    },
  }
  const { signaturesRequired, metrics, allowsForce: isAllowed } = dependencies
  const force = createForceGuard({ isAllowed, kind: kind.name, metrics })
  const config = { handlerTimeoutMs: dependencies.requestTimeoutMs }
  // Cached answers are given many times as the same object: each is serialised once.
  const texts = new WeakMap<object, string>()
  const bodyLimit = bodyBytesMax === undefined ? {} : { bodyLimit: bodyBytesMax }
  app.post(kind.path, { schema, config, ...bodyLimit }, (request, reply) => {
    const answer = async (): Promise<string> => {
      const caller = { keyLabel: request.apiKey?.label, scopes: request.apiKey?.scopes }
      // CAST: the validator compiler has just parsed the body with `requestSchema`.
      const body = request.body as Request
      const paymentId = definition.paidBy?.(body)
      if (paymentId !== undefined) noteSubject(request, { transactionHash: paymentId })
      if (body.force === true) force.authorise(caller, request.log)
      const { response, matched } = await attestAsAsked(definition, body, dependencies, request)
      if (body.force === true) force.answered(caller, definition.forcedBy?.(body) ?? {}, request.log)
      if (body.requestPeerSignatures === true) {
        reply.header('x-quorum-matched', matched).header('x-quorum-required', signaturesRequired)
      }
      const text = texts.get(response) ?? String(reply.serialize(response))
      texts.set(response, text)
      return text
    }
    answerJson(reply, answer())
  })
}

/** Gives a prepared answer, else attests now: here, and by the peers as well where the caller asks for them. */
async function attestAsAsked<Request extends RequestSwitches, Response extends object>(
  definition: AttestationDefinition<Request, Response>,
  body: Request,
  { service, peers, prepared }: Pick<AttestationRouteDependencies, 'service' | 'peers' | 'prepared'>,
  request: Parameters<typeof noteSubject>[0],
): Promise<{ readonly response: Response; readonly matched: number }> {
  const isForPeers = body.requestPeerSignatures === true
  // Prepared answers hold no evidence, and were not forced.
  if (isForPeers && body.force !== true && body.includeEvidence !== true) {
    const preparedAnswer = findPrepared(definition, body, { service, prepared })
    if (preparedAnswer !== undefined) return preparedAnswer
  }
  const attest = async (signal: AbortSignal) => {
    const attested = await attestHere(definition, body, service, signal)
    // For the log: no request names the order's id, as callers send the order itself.
    if (attested.orderId !== undefined) noteSubject(request, { orderId: attested.orderId })
    return attested
  }
  if (peers === undefined || !isForPeers) return attest(request.cancellation)
  const callerApiKey = request.headers[apiKeyHeader]
  return peers.run({
    kind: definition.kind,
    body,
    callerApiKey: typeof callerApiKey === 'string' ? callerApiKey : undefined,
    requestId: request.id,
    signal: request.cancellation,
    local: async (signal) => (await attest(signal)).response,
  })
}

/** Finds an answer that this oracle and its peers signed before anyone asked. */
function findPrepared<Request extends RequestSwitches, Response extends object>(
  definition: AttestationDefinition<Request, Response>,
  body: Request,
  { service, prepared }: Pick<AttestationRouteDependencies, 'service' | 'prepared'>,
): { readonly response: Response; readonly matched: number } | undefined {
  if (prepared === undefined || !definition.isPreparedAhead) return undefined
  const { kind } = definition
  return service.useKept(definition, body, (ownResponse) => prepared.find({ kind, body, own: ownResponse }))
}

/** Schema of a route without the types of body and answer, so that the handler does not infer them. */
type RouteSchema = {
  readonly operationId: string
  readonly tags: string[]
  readonly errors: RouteErrors
  readonly summary: string
  readonly security: Record<string, string[]>[]
  readonly body: z.ZodType
  readonly response: Record<number, z.ZodType>
}

/** An answer with this oracle's signature; `matched` is 1, or 0 where there was nothing to sign. */
type AttestedHere<Response> = {
  readonly response: Response
  readonly matched: number
  readonly orderId: Hex | undefined
}

/** Attests by this oracle alone; with evidence where the caller asks for it. */
async function attestHere<Request extends RequestSwitches, Response extends object>(
  definition: AttestationDefinition<Request, Response>,
  body: Request,
  service: AttestationService,
  signal: AbortSignal,
): Promise<AttestedHere<Response>> {
  const { response, evidence, isSigned, orderId } = await service.attest(definition, body, { signal })
  const matched = isSigned ? 1 : 0
  if (body.includeEvidence !== true) return { response, matched, orderId }
  return { response: { ...response, evidence: evidenceToWire(evidence) }, matched, orderId }
}

/** Evidence in its JSON form. */
function evidenceToWire(evidence: readonly Evidence[]): NonNullable<DepositsResponse['evidence']> {
  return evidence.map(({ chainId, blockHash, blockNumber, finalityRule, agreeingEndpoints }) => ({
    chainId,
    ...(blockHash !== undefined && { blockHash }),
    ...(blockNumber !== undefined && { blockNumber: blockNumber.toString() }),
    finalityRule,
    agreeingEndpoints: [...agreeingEndpoints],
  }))
}
