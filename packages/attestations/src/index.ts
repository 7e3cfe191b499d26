export type { AttestationKind, AttestationKindName, SignaturesAt } from './responses/attestationKind.ts'
export { attestationKinds } from './responses/kinds.ts'
export {
  type DepositsResponse,
  depositsResponseSchema,
  type FillsResponse,
  fillsResponseSchema,
  type HeldExecution,
  type NoFillOrRefundResponse,
  type NonceMappingResponse,
  noFillOrRefundResponseSchema,
  type RecoveryResponse,
  type RefundsResponse,
  type RequestedWithdrawalsResponse,
  recoveryResponseSchema,
  refundsResponseSchema,
  requestedWithdrawalsResponseSchema,
  type WithdrawalInitiatedResponse,
  type WithdrawalInitiationResponse,
  type WithdrawalsResponse,
  withdrawalAddressRequestSchema,
  withdrawalBytesMax,
  withdrawalInitiatedResponseSchema,
  withdrawalInitiationResponseSchema,
  withdrawalsResponseSchema,
} from './responses/schemas.ts'
export type { SignatureArray, SignatureContext } from './responses/signatureArrays.ts'
export type { SignatureClaim, SignatureDomain } from './responses/signatureEntries.ts'
export { type AttestationProblem, type AttestationVerdict, verifyAttestation } from './verifyAttestation.ts'
export { type ProvenRow, verifyRows } from './verifyRows.ts'
