export { Counter, Gauge, Histogram } from 'prom-client'
export { type AdminListenerOptions, checkAdminKey, createAdminListener } from './adminListener.ts'
export {
  type ApiKeyLookup,
  createApiKeys,
  formatApiKey,
  hashApiKey,
  type ParsedApiKey,
  parseApiKey,
  type StoredApiKey,
} from './apiKeyFormat.ts'
export { unauthorized } from './apiKeyHook.ts'
export { type ApiKeyRecord, type ApiKeys, apiKeyHeader, checkKeySetting, noApiKeys } from './apiKeys.ts'
export type { ServerLimits } from './bareApp.ts'
export { createHttpApp, type HttpAppOptions } from './createHttpApp.ts'
export type { Deprecation } from './deprecation.ts'
export { describeFailure, type ErrorPolicy, type FailureAnswer } from './describeFailure.ts'
export { type ErrorBody, errorBodySchema, errorResponses } from './errorBody.ts'
export { type FrameworkFailure, RequestFailure } from './failure.ts'
export type { HttpApp, RouteErrors } from './fastifyTypes.ts'
export { holdRequest } from './holding.ts'
export { answerJson } from './json.ts'
export {
  createGauges,
  createHttpMetrics,
  type HttpMetrics,
  type Series,
  watchPool,
  watchSeries,
} from './metrics.ts'
export type { OperationExamples } from './openApiDocument.ts'
export { interfaceVersion, type OpenApiOptions } from './openapi.ts'
export { openListener } from './openListener.ts'
export { createOpsListener } from './opsListener.ts'
export type { KeyedAnswer } from './overload.ts'
export { type PageFile, registerPages } from './pages.ts'
export { callerOf, type RateLimit, type RateLimitOptions } from './rateLimit.ts'
export {
  createReadiness,
  type Readiness,
  type ReadinessCheck,
  type ReadinessReport,
  readinessSchema,
} from './readiness.ts'
export type { TracedRequests } from './requestLine.ts'
export { noteSubject } from './requestSubject.ts'
export { parseSecurityContact } from './securityText.ts'
export type { ClaimUnits, SharedLimits, UnitClaim, UnitGrant } from './sharedWindows.ts'
export { standardErrorPolicy } from './standardErrorPolicy.ts'
export { type RequestTrace, type SpanAttributes, type Tracing, traced } from './tracing.ts'
export { parseTrustedProxies } from './trustedProxies.ts'
export type { OpenSocket, SocketSession, WebsocketRoute } from './websockets.ts'
