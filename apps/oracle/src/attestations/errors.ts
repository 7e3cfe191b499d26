import { DomainError, type DomainErrorOptions, type ErrorKind } from '@causeway/core'

/**
 * Every error code of the attestation routes, with its kind. Callers depend on the codes: they must not change.
 * @source rule P-90
 */
export const attestationErrorKinds = {
  ALLOCATOR_NOT_CONFIGURED: 'invalid_request',
  CALLS_NOT_SUPPORTED: 'invalid_request',
  CHAIN_HALTED: 'upstream_disagreement',
  CHAIN_NOT_CHECKED: 'upstream_unavailable',
  CHAIN_UNAVAILABLE: 'invalid_request',
  DEADLINE_PASSED: 'invalid_request',
  DEPOSIT_CURRENCY_MISMATCH: 'invalid_request',
  DEPOSITORY_NOT_CONFIGURED: 'invalid_request',
  DEPOSIT_NOT_FOUND: 'invalid_request',
  DEPOSIT_NOT_HELD: 'invalid_request',
  DEPOSIT_ORDER_MISMATCH: 'invalid_request',
  DEPOSIT_WITHOUT_ORDER: 'invalid_request',
  DUPLICATE_ONCHAIN_ID: 'invalid_request',
  FILL_CONTRACT_UNKNOWN: 'invalid_request',
  FORCE_DISABLED: 'invalid_request',
  FORCE_UNAUTHORIZED: 'unauthorized',
  GENERIC_MAPPING_NOT_CONFIGURED: 'invalid_request',
  HUB_BALANCE_MISMATCH: 'invalid_request',
  HUB_BALANCE_NOT_FINAL: 'not_final',
  INSUFFICIENT_FILL: 'invalid_request',
  INSUFFICIENT_HUB_BALANCE: 'invalid_request',
  INSUFFICIENT_REFUND: 'invalid_request',
  INVALID_INPUT: 'invalid_request',
  INVALID_ORDER: 'invalid_request',
  INVALID_ORDER_SIGNATURE: 'invalid_request',
  INVALID_OWNER_SIGNATURE: 'invalid_request',
  INVALID_REFUND: 'invalid_request',
  INVALID_SOLVER_SIGNATURE: 'invalid_request',
  INVALID_WALLET_SIGNATURE: 'invalid_request',
  MISSING_ACTIONS: 'invalid_request',
  MISSING_CALLS: 'invalid_request',
  MISSING_INPUT: 'invalid_request',
  MISSING_ORDER: 'invalid_request',
  MISSING_REFUND: 'invalid_request',
  NO_FILL_PROMISE_MISSING: 'invalid_request',
  ORDER_NOT_REFERENCED: 'invalid_request',
  OVERLOADED: 'overloaded',
  OWNER_CHAIN_NOT_SUPPORTED: 'invalid_request',
  PAYER_NOT_LISTED: 'invalid_request',
  RECOVERY_TOO_EARLY: 'not_final',
  REQUEST_TIMED_OUT: 'upstream_unavailable',
  SHARED_STATE_UNAVAILABLE: 'upstream_unavailable',
  SIGNATURE_CHAIN_NOT_SUPPORTED: 'invalid_request',
  SOLVER_CHAIN_NOT_SUPPORTED: 'invalid_request',
  WALLET_CHAIN_NOT_SUPPORTED: 'invalid_request',
  TRANSACTION_DOES_NOT_EXECUTE_WITHDRAWAL: 'invalid_request',
  WITHDRAWAL_NOT_ISSUED: 'invalid_request',
  WITHDRAWAL_PAYLOAD_MISMATCH: 'invalid_request',
  WITHDRAWAL_REQUEST_MISMATCH: 'invalid_request',
  ZERO_AMOUNT: 'invalid_request',
} as const satisfies Record<string, ErrorKind>

export type AttestationErrorCode = keyof typeof attestationErrorKinds

/** Why an attestation is refused. `data` holds facts that help the caller mend the request. */
export class AttestationError extends DomainError {
  readonly code: AttestationErrorCode
  readonly kind: ErrorKind

  constructor(code: AttestationErrorCode, message: string, options: DomainErrorOptions = {}) {
    super(message, options)
    this.code = code
    this.kind = attestationErrorKinds[code]
  }
}
