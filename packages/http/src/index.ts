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
export { denyListCheck, logDenyList, watchDenyList } from './denyListWatch.ts'
export type { Deprecation } from './deprecation.ts'
export { describeFailure, type ErrorPolicy, type FailureAnswer } from './describeFailure.ts'
export { type NeighbourWatch, watchNeighbours, watchOracleSigners } from './doctor/neighbourWatch.ts'
export {
  describeSilence,
  examineCompanions,
  examineFolder,
  examineOracle,
  examineOracles,
  examinePorts,
  type Neighbour,
} from './doctor/surroundings.ts'
export {
  admitStart,
  type Examination,
  type ExaminedService,
  endStart,
  modeOfFile,
  runDoctor,
  silenceWarnings,
  tellOverridden,
} from './doctor/tellReport.ts'
export { createEndpointMetrics, watchPushes } from './endpointWatch.ts'
export { type ErrorBody, errorBodySchema, errorResponses } from './errorBody.ts'
export { type FrameworkFailure, RequestFailure } from './failure.ts'
export type { HttpApp } from './fastifyTypes.ts'
export { holdRequest } from './holding.ts'
export { answerJson } from './json.ts'
export { createLogger, type LoggerOptions } from './logger.ts'
export { createAgreementMetrics, watchMarket } from './marketWatch.ts'
export {
  createGauges,
  createHttpMetrics,
  type HttpMetrics,
  type Series,
  watchPool,
  watchSeries,
} from './metrics.ts'
export type { OperationExamples } from './openApiDocument.ts'
export { interfaceVersion, type OpenApiOptions, type RouteErrors } from './openapi.ts'
export { openListener } from './openListener.ts'
export { createOpsListener } from './opsListener.ts'
export type { KeyedAnswer } from './overload.ts'
export { type PageFile, registerPages } from './pages.ts'
export { parseSecretsFile } from './parseSecretsFile.ts'
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
export { scrubUrls } from './scrubUrls.ts'
export { defaultSecretsDirectory, foreignKeys, loadSecrets } from './secretsLoader.ts'
export { parseSecurityContact } from './securityText.ts'
export { createServiceMetrics, watchDroppedLines } from './serviceMetrics.ts'
export type { ClaimUnits, SharedLimits, UnitClaim, UnitGrant } from './sharedWindows.ts'
export { type Closer, installShutdown, type ShutdownOptions } from './shutdown.ts'
export { standardErrorPolicy } from './standardErrorPolicy.ts'
export { openTracing, tracedDatabase, tracedSigner } from './tracing/openTracing.ts'
export { type Tracing, traced } from './tracing/tracing.ts'
export { type TracingSettings, tracingSettings, tracingVariables } from './tracing/tracingSettings.ts'
export { parseTrustedProxies } from './trustedProxies.ts'
export type { OpenSocket, SocketSession, WebsocketRoute } from './websockets.ts'
