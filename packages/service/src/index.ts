export { denyListCheck, logDenyList, watchDenyList } from './denyListWatch.ts'
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
export { createLogger, type LoggerOptions } from './logger.ts'
export { createAgreementMetrics, watchMarket } from './marketWatch.ts'
export { parseSecretsFile } from './parseSecretsFile.ts'
export { scrubUrls } from './scrubUrls.ts'
export { defaultSecretsDirectory, foreignKeys, loadSecrets } from './secretsLoader.ts'
export { createServiceMetrics, watchDroppedLines } from './serviceMetrics.ts'
export { type Closer, installShutdown, type ShutdownOptions } from './shutdown.ts'
export { openTracing, tracedDatabase, tracedSigner } from './tracing/openTracing.ts'
export { type TracingSettings, tracingSettings, tracingVariables } from './tracing/tracingSettings.ts'
