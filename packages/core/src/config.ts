export { type AllocatorDepository, type AllocatorFile, allocatorFileSchema } from './config/allocatorFile.ts'
export {
  type ChainEntry,
  type ChainsFile,
  chainEntrySchema,
  chainsFileSchema,
  type Finality,
} from './config/chainsFile.ts'
export {
  type EnergyModel,
  type FeerateModel,
  type FlatModel,
  feeModelClass,
  type GasModel,
  lacksGasPriceOracle,
  type PriorityFeeModel,
} from './config/feeModels.ts'
export { type HubFile, hubFileSchema } from './config/hubFile.ts'
export { publishedDevelopmentAddresses } from './config/publishedAddresses.ts'
export {
  blocksAtPace,
  type ContractChain,
  contractChain,
  isContractChain,
  leastBetweenReadsMs,
  type PoolConfig,
  paceMs,
  type QuoteChain,
  type QuoteCurrency,
} from './config/quoteChain.ts'
export {
  type ExternalLiquiditySettings,
  type QuoteCeilings,
  type QuoteFile,
  quoteFileSchema,
} from './config/quoteFile.ts'
export {
  type GuardianSet,
  guardianQuorum,
  type PriceFeed,
  type QuoteAsset,
  type QuotePrice,
} from './config/quotePrices.ts'
export {
  chainKey,
  decimalInteger,
  environmentName,
  listenPort,
  portsRefusedByFetch,
} from './config/scalars.ts'
export { type SettlementFile, settlementFileSchema } from './config/settlementFile.ts'
export {
  type ExposureLimits,
  exposureLimitsOf,
  type GasBudgets,
  gasBudgetsOf,
  type SolverChainPolicy,
  type SolverFile,
  solverFileSchema,
} from './config/solverFile.ts'
export {
  clockFindings,
  clockLimitMs,
  createFindings,
  type Finding,
  type FindingCode,
  type Findings,
  findingCodes,
  findingsOf,
  type Severity,
  severities,
  stopsStart,
  UnfitSettingsError,
} from './doctor/finding.ts'
export {
  listEntries,
  type ReadVariables,
  readVariables,
  type SettingEntry,
  shownText,
  splitList,
} from './doctor/readVariables.ts'
export {
  counted,
  type DoctorReport,
  type ExampleVariable,
  exampleVariables,
  hintsOf,
  reportOf,
  reportText,
} from './doctor/report.ts'
