export { logDenyList, registerDenyList } from './denyListWatch.ts'
export {
  type NeighbourWatch,
  registerNeighbours,
  watchNeighbours,
  watchOracleSigners,
} from './doctor/neighbourWatch.ts'
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
  type Examination,
  exitAfterFailedStart,
  printOverridden,
  readFileMode,
  runDoctor,
  silenceWarnings,
} from './doctor/tellReport.ts'
export { createEndpointMetrics, watchPushes } from './endpointWatch.ts'
export { createLifetime, type Ending, type Lifetime, type Stage, stages } from './lifetime.ts'
export { createLogger, type LoggerOptions } from './logger.ts'
export { createAgreementMetrics, watchMarket } from './marketWatch.ts'
export { composeService, type OpenService, openListeners, type ServiceParts } from './openService.ts'
export { runService } from './runService.ts'
export { findForeignKeys, loadSecrets } from './secretsLoader.ts'
export { watchDroppedLines } from './serviceMetrics.ts'
export { installShutdown, type ShutdownOptions } from './shutdown.ts'
export { openTracing, traceDatabase, traceSigner } from './tracing/openTracing.ts'
export { readTracingSettings, type TracingSettings, tracingVariables } from './tracing/tracingSettings.ts'
