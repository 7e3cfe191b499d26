import { vmTypes } from '@causeway/core/encodings'
import {
  type ApiKeys,
  createHttpApp,
  errorResponses,
  type HttpApp,
  type HttpAppOptions,
  type HttpMetrics,
  type Readiness,
  standardErrorPolicy,
  type Tracing,
} from '@causeway/http'
import { z } from 'zod'
import {
  depositsDefinition,
  fillsDefinition,
  noFillOrRefundDefinition,
  nonceMappingDefinition,
  recoveryDefinition,
  refundsDefinition,
  requestedWithdrawalsDefinition,
  withdrawalInitiatedDefinition,
  withdrawalInitiatedV2Definition,
  withdrawalInitiationDefinition,
  withdrawalInitiationV2Definition,
  withdrawalsDefinition,
} from '../service/definitions.ts'
import { type AttestationRouteDependencies, registerAttestation } from './attestations.ts'

export type AppDependencies = AttestationRouteDependencies & {
  readonly chains: () => readonly ListedChain[]
  readonly apiKeys: ApiKeys
  readonly logger: HttpAppOptions['logger']
  readonly httpMetrics: HttpMetrics
  readonly tracing?: Tracing | undefined
  readonly readiness: Readiness
  /** Lower-case address that attestations are signed with. */
  readonly signer: string
  readonly trustedProxies: readonly string[]
  readonly securityContact?: string | undefined
  /** Requests without a valid key, per client IP and window; a `max` of 0 is off. */
  readonly rateLimit: { readonly max: number; readonly windowMs: number }
}

/** Builds the public HTTP app with all routes. It opens no port and no connection yet. */
export async function buildApp(dependencies: AppDependencies): Promise<HttpApp> {
  const { logger, httpMetrics, readiness, apiKeys, trustedProxies, rateLimit, tracing } = dependencies
  const app = await createHttpApp({
    logger,
    metrics: httpMetrics,
    readiness,
    apiKeys,
    // A request with an unknown key is served like one without a key, within the rate limit.
    // @source rule O-auth-01
    unknownKeys: 'ignore',
    trustedProxies,
    // A caller with a valid key may join its own trace: the operator gave out every key, to himself or to a peer.
    traces: tracing && { tracing, mayJoin: () => true },
    errors: standardErrorPolicy,
    securityContact: dependencies.securityContact,
    cors: false,
    handlerTimeoutMs: dependencies.requestTimeoutMs,
    // A maximum of 0 is no limit.
    rateLimits: {
      windowMs: rateLimit.windowMs,
      classes: { unauthenticated: { perKeyMax: 0, perIpMax: rateLimit.max } },
      defaultClass: 'unauthenticated',
      failedKeysPerMinuteMax: 0,
    },
    openApi: {
      title: 'Causeway attestation oracle',
      description: 'Signed statements about what happened on chains, for settlement on the hub.',
      servers: [{ url: '/', description: 'This oracle' }],
    },
  })
  registerReadiness(app, readiness, dependencies.signer)
  registerChains(app, dependencies.chains)
  registerAttestation(app, depositsDefinition, dependencies)
  registerAttestation(app, withdrawalsDefinition, dependencies)
  registerAttestation(app, fillsDefinition, dependencies)
  registerAttestation(app, refundsDefinition, dependencies)
  registerAttestation(app, withdrawalInitiationDefinition, dependencies)
  registerAttestation(app, withdrawalInitiatedDefinition, dependencies)
  registerAttestation(app, requestedWithdrawalsDefinition, dependencies)
  registerAttestation(app, withdrawalInitiationV2Definition, dependencies)
  registerAttestation(app, withdrawalInitiatedV2Definition, dependencies)
  registerAttestation(app, recoveryDefinition, dependencies)
  registerAttestation(app, noFillOrRefundDefinition, dependencies)
  registerAttestation(app, nonceMappingDefinition, dependencies)
  return app
}

const reportSchema = z.object({
  ready: z.boolean(),
  draining: z.boolean(),
  checks: z.record(z.string(), z.enum(['ok', 'failed'])),
  reasons: z.record(z.string(), z.string()).optional(),
  signer: z.string().describe('Address that attestations are signed with, as the oracle says'),
})

/** GET /lives/ready/v1: whether traffic should be sent here; 503 until all checks hold. */
function registerReadiness(app: HttpApp, readiness: Readiness, signer: string): void {
  const schema = {
    operationId: 'getReadiness',
    tags: ['health'],
    security: [],
    errors: {},
    summary: 'Tell whether the service takes traffic',
    response: { 200: reportSchema, 400: errorResponses[400], 503: reportSchema },
  }
  app.get('/lives/ready/v1', { schema, config: { rateLimitClass: false } }, async (_request, reply) => {
    const report = await readiness.report()
    reply.code(report.ready ? 200 : 503)
    return { ...report, signer }
  })
}

const chainSchema = z.object({
  id: z.string().describe('Names the chain in requests, orders and hashes'),
  vmType: z.enum(vmTypes),
  depository: z.string().optional(),
  additionalDepositories: z.array(z.string()).optional(),
  hubChainId: z.string().describe('Decimal'),
  ready: z.boolean().describe('True when facts of the chain can be attested here now'),
  halted: z
    .boolean()
    .describe('True after a final block changed: nothing is signed until the operator clears it'),
})

export const chainsResponseSchema = z.object({ chains: z.array(chainSchema) })

export type ListedChain = z.infer<typeof chainSchema>

/** GET /chains/v1: every chain of the environment, in the order of its file. Asks no endpoint. */
function registerChains(app: HttpApp, list: () => readonly ListedChain[]): void {
  const schema = {
    operationId: 'listChains',
    tags: ['discovery'],
    security: [],
    errors: {},
    summary: 'List the chains of the selected environment',
    response: { 200: chainsResponseSchema, ...errorResponses },
  }
  app.get('/chains/v1', { schema }, async () => ({ chains: [...list()] }))
}
