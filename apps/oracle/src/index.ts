export { loadConfig, type OracleConfig } from './compose/config.ts'
export { createOracle, type ListenAddresses, type Oracle } from './compose/createOracle.ts'
