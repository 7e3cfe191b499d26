export { type AwsKmsKey, type AwsKmsOptions, createAwsKmsSigner } from './awsKmsSigner.ts'
export { type CapJournal, createCapJournal, hasCapCounts } from './caps/capJournal.ts'
export { createHeldStore, type HeldRecord, type HeldStore, noHeldStore } from './caps/heldStore.ts'
export {
  createLineJournal,
  type LineJournal,
  type LineJournalOptions,
  noJournal,
} from './caps/lineJournal.ts'
export {
  type AuditedChange,
  createOperatorAudit,
  describeAudit,
  type OperatorAudit,
} from './caps/operatorAudit.ts'
export {
  type CapTable,
  type CapVerdict,
  type CountedValue,
  capWindowMinutes,
  createSigningCaps,
  type Excess,
  judgeValue,
  type SigningCaps,
  type SigningCapsOptions,
  type TokenCap,
} from './caps/signingCaps.ts'
export { takeStateDirectory } from './caps/stateDirectory.ts'
export { type ConfiguredSigner, createConfiguredSigner, type SignerSettings } from './configuredSigner.ts'
export { SignerFailedError } from './errors.ts'
export { examineKeySetting, examineSecretSetting, examineSigningKey, type KeyFiles } from './examineKey.ts'
export { checkHubKey, hasHubKey, hubKeyPrefix } from './hubKey.ts'
export { parsePrivateKey, readPrivateKeySetting, readSecretSetting } from './privateKey.ts'
export { createRawKeySigner } from './rawKeySigner.ts'
export { recoverSigner } from './recoverSigner.ts'
export { createThreadedSigner, type ThreadedSigner } from './threadedSigner.ts'
