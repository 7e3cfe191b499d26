export type { Ledger } from '@causeway/core'
export { type AppFeeAccrual, accrueAppFees } from './appFees/accrueAppFees.ts'
export {
  type AppFeeClaimTerms,
  type ClaimEnd,
  endAppFeeClaim,
  type OpenClaimOutcome,
  openAppFeeClaim,
} from './appFees/claims.ts'
export {
  type AppFeeClaim,
  type ClaimableBalance,
  listAppFeeClaims,
  listPendingAppFeeClaims,
  type PendingAppFeeClaim,
  readAppFeeClaim,
  readClaimableAppFees,
} from './appFees/readAppFees.ts'
export { writeCheckpoints } from './audit/checkpoints.ts'
export { exportTransfers } from './audit/exportTransfers.ts'
export type { Invariant, LedgerFinding } from './audit/finding.ts'
export { clearHalt, haltReservations, type LedgerHalt, readHalt } from './audit/halt.ts'
export { verifyLedger } from './audit/verifyLedger.ts'
export { createLedger } from './createLedger.ts'
export {
  type BalanceEvent,
  type BalanceEventContext,
  type BalanceEventQuery,
  balanceEventContexts,
  balanceEvents,
  type CurrencyFilter,
} from './history/balanceEvents.ts'
export {
  type AccountStatement,
  balanceKinds,
  readStatement,
  type Statement,
  type StatementGroup,
  type StatementLine,
  type StatementQuery,
  StatementTooLongError,
  statementGroups,
  statementKinds,
} from './history/statements.ts'
export { explainPolicy, type PolicyExplanation } from './holds/explainPolicy.ts'
export { defaultHoldCaps, type HoldCaps } from './holds/holdCaps.ts'
export { type OpenHold, readOpenHolds } from './holds/openHolds.ts'
export { hasDueHolds } from './holds/resolve.ts'
export { ledgerMigrations } from './ledgerMigrations.ts'
export { enqueue, finishOutbox, type OutboxMessage, takeOutbox } from './outbox.ts'
export { InvalidPolicyError, type PolicyRules, policyRulesSchema } from './policies/policySchema.ts'
export {
  type PolicyUsage,
  readPolicy,
  readPolicyUsage,
  readPolicyVersions,
  type StoredPolicy,
  setPolicy,
} from './policies/policyStore.ts'
export type { RuleCheck } from './policies/ruleCheck.ts'
export {
  haltTopUps,
  listHaltedTopUps,
  lockTopUpCursor,
  moveFinalCursor,
  moveLiveCursor,
  openTopUpCursor,
  readTopUpCursor,
  resumeTopUps,
  type TopUpAccount,
  type TopUpCursor,
} from './topUps/cursor.ts'
export {
  findTopUps,
  listFinalTopUps,
  listSeenTopUps,
  listSuspendedTopUps,
  listWalletTopUps,
  type TopUpEvent,
} from './topUps/events.ts'
export {
  type ClaimOutcome,
  claimTopUp,
  finalizeTopUp,
  type ObservedTopUp,
  orphanTopUp,
  recordTopUp,
  reverseTopUp,
  type SightingOutcome,
} from './topUps/topUps.ts'
export {
  type AccountKind,
  type LedgerAsset,
  openAccount,
  registerAsset,
  setSponsorFrozen,
  usdcAssetId,
} from './transfers/accounts.ts'
export { bookFoundFill } from './transfers/foundFills.ts'
export { bookLostDeposit } from './transfers/lostDeposits.ts'
export { transferId } from './transfers/transferId.ts'
export {
  resolveTransfer,
  type TransferOutcome,
  type TransferRequest,
  type TransferResolution,
  writeTransfer,
} from './transfers/transfers.ts'
