export { loadConfig, type OracleConfig } from './compose/config.ts'
export { createOracle, type Oracle } from './compose/createOracle.ts'
