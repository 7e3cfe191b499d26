export {
  chainsAtDepth,
  connectQuotingChain,
  contractPayingFamily,
  headSeconds,
  isReadable,
  linePayingFamily,
  missingSettings,
  networkContradictions,
  openFamilyChain,
  openNetworkReaders,
  openQuotingChain,
  openSettlingChain,
  openSignedDeposits,
  payingApiKeySettings,
  payingFamily,
  payingKeySettings,
  payingSeconds,
  readNetworkFacts,
} from './chainFamilies.ts'
export { type ChainRegistry, type ChainSources, loadChains } from './config/chainRegistry.ts'
export { type ConfigSource, examineConfigFile, loadConfigFile, readConfigFile } from './config/configFile.ts'
export { environmentFileNames, readEnvironmentFiles } from './config/environmentFiles.ts'
export { type Placeholder, resolvePlaceholders, type Variables } from './config/placeholders.ts'
export { readSigningCaps } from './config/signingCaps.ts'
export { fillInByDeploying, fillInByHand, unfilledPlaces } from './config/unfilled.ts'
export {
  blockedWallet,
  type DenyList,
  isDenied,
  parseDenyList,
  refuseReplacement,
  unionOfDenyLists,
} from './denyList/denyList.ts'
export { type DenyListSettings, denyListSettings, denyListVariables } from './denyList/denyListSettings.ts'
export {
  type DenyListEvent,
  type DenyListHealth,
  examineDenyList,
  type KeptDenyList,
  openDenyList,
} from './denyList/keepDenyList.ts'
export { examineClock, examineEndpoints, examineHeadPushes } from './examineEndpoints.ts'
export { followNewHeads } from './followNewHeads.ts'
export {
  addressesIn,
  chainNotes,
  checkForeignAddresses,
  checkLocalEndpoints,
  joinProblems,
  verifyChain,
} from './guards.ts'
export { createHubRecoveries, type HubRecoveries, OraclesRefusedError } from './oracles/hubRecoveries.ts'
export {
  createNonceMappings,
  statementTimeoutMs,
  vouchForMapping,
  vouchTimeoutMs,
} from './oracles/nonceMappings.ts'
export { createOracleClient, type OracleAnswer, type OracleClient } from './oracles/oracleClient.ts'
export { askHalts, askHaltsEveryMs, keepHalts } from './oracles/oracleHalts.ts'
export { type OracleSettings, parseOracles } from './oracles/oracleSettings.ts'
export { createOracleSight, type OracleSight } from './oracles/oracleSight.ts'
export type { VouchingOracles } from './oracles/vouching.ts'
export {
  type ChainCheck,
  type ChainGate,
  checkChainsAtStart,
  findContradictions,
  type StartCheckLog,
} from './startChecks.ts'
