export { loadConfig, type OracleConfig } from './compose/config.ts'
export { createOracle } from './compose/createOracle.ts'
export type { ListenAddresses, Oracle } from './compose/listeners.ts'
