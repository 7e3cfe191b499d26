export { loadConfig, type OracleConfig } from './config.ts'
export { createOracle, type ListenAddresses, type Oracle } from './createOracle.ts'
