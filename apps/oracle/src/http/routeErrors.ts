import type { AttestationKindName } from '@causeway/attestations'
import type { RouteErrors } from '@causeway/http'

/** Error codes of all attestation routes, by HTTP status, for the interface document. */
const shared: RouteErrors = {
  400: ['CHAIN_UNAVAILABLE', 'FORCE_DISABLED', 'NO_SIGNER_GROUP', 'UNKNOWN_CHAIN'],
  401: ['FORCE_UNAUTHORIZED'],
  503: [
    'CHAIN_HALTED',
    'CHAIN_NOT_CHECKED',
    'OVERLOADED',
    'RPC_HTTP_ERROR',
    'SHARED_STATE_UNAVAILABLE',
    'UPSTREAM_DISAGREEMENT',
  ],
}

// Codes that several routes have in common, by what raises them.
const transaction = [
  'BALANCE_NOT_EXACT',
  'CURRENCY_DECIMALS_UNKNOWN',
  'INVALID_TRANSACTION_ID',
  'NONCE_MAPPING_MISSING',
  'PERPS_TOKEN_UNSUPPORTED',
  'TRANSACTION_MISSING',
  'TRANSACTION_NOT_FINAL',
  'TRANSACTION_REVERTED',
  'TRANSACTION_TOO_LARGE',
  'TRANSACTION_UNREADABLE',
]
const deposit = [
  ...transaction,
  'DEPOSITOR_UNKNOWN',
  'MULTIPLE_DEPOSITORIES_FUNDED',
  'NO_VALUE_TO_DEPOSITORY',
]
const order = ['INVALID_ADDRESS', 'INVALID_ORDER', 'INVALID_ORDER_SIGNATURE', 'UNKNOWN_ORDER_PART']
const settlement = [
  ...deposit,
  ...order,
  'DEADLINE_PASSED',
  'DEPOSIT_CURRENCY_MISMATCH',
  'DEPOSIT_NOT_FOUND',
  'DEPOSIT_ORDER_MISMATCH',
  'DUPLICATE_ONCHAIN_ID',
  'FILL_CONTRACT_UNKNOWN',
  'INVALID_INPUT',
  'MISSING_ACTIONS',
  'MISSING_INPUT',
  'ORDER_NOT_REFERENCED',
  'PAYER_NOT_LISTED',
  'SOLVER_CHAIN_NOT_SUPPORTED',
]
const withdrawal = [
  'ALLOCATOR_NOT_CONFIGURED',
  'DEPOSITORY_NOT_CONFIGURED',
  'INVALID_ADDRESS',
  'INVALID_OWNER_SIGNATURE',
  'INVALID_WITHDRAW_REQUEST',
  'OWNER_ACCOUNT_NOT_FOUND',
  'OWNER_ACCOUNT_WITHOUT_KEY',
  'OWNER_CHAIN_NOT_SUPPORTED',
  'ZERO_AMOUNT',
]
const initiation = [...withdrawal, 'INSUFFICIENT_HUB_BALANCE']
const initiated = [...withdrawal, 'HUB_BALANCE_MISMATCH', 'HUB_BALANCE_NOT_FINAL']

/** Codes that the rules of each kind throw; the document alone uses them, so they are kept equal by hand. */
const codesByKind: Readonly<Record<AttestationKindName, readonly string[]>> = {
  deposits: [...deposit, 'DEPOSITORY_NOT_CONFIGURED'],
  withdrawals: [
    ...transaction,
    'ALLOCATOR_NOT_CONFIGURED',
    'INVALID_ADDRESS',
    'INVALID_WITHDRAWAL',
    'INVALID_WITHDRAW_REQUEST',
    'SPENDING_TRANSACTION_UNKNOWN',
    'TRANSACTION_DOES_NOT_EXECUTE_WITHDRAWAL',
    'WITHDRAWAL_NOT_FINAL',
    'WITHDRAWAL_NOT_ISSUED',
    'WITHDRAWAL_PAYLOAD_MISMATCH',
    'WITHDRAWAL_REQUEST_MISMATCH',
  ],
  'withdrawals-v2': [
    ...transaction,
    ...withdrawal,
    'SPENDING_TRANSACTION_UNKNOWN',
    'TRANSACTION_DOES_NOT_EXECUTE_WITHDRAWAL',
    'WITHDRAWAL_NOT_FINAL',
    'WITHDRAWAL_NOT_ISSUED',
  ],
  fills: [...settlement, 'CALLS_NOT_SUPPORTED', 'INSUFFICIENT_FILL', 'MISSING_CALLS'],
  refunds: [...settlement, 'INSUFFICIENT_REFUND', 'INVALID_REFUND', 'MISSING_REFUND'],
  'withdrawal-initiation': initiation,
  'withdrawal-initiated': initiated,
  'withdrawal-initiation-v2': initiation,
  'withdrawal-initiated-v2': initiated,
  recovery: [
    ...deposit,
    ...order,
    'DEPOSIT_NOT_FOUND',
    'DEPOSIT_NOT_HELD',
    'DEPOSIT_ORDER_MISMATCH',
    'DEPOSIT_WITHOUT_ORDER',
    'GENERIC_MAPPING_NOT_CONFIGURED',
    'HUB_NOT_FINAL',
    'MISSING_ORDER',
    'NO_FILL_PROMISE_MISSING',
    'RECOVERY_TOO_EARLY',
  ],
  'no-fill-or-refund': ['INVALID_ADDRESS', 'INVALID_SOLVER_SIGNATURE', 'SOLVER_CHAIN_NOT_SUPPORTED'],
  'nonce-mapping': [
    'INVALID_ADDRESS',
    'INVALID_WALLET_SIGNATURE',
    'SIGNATURE_CHAIN_NOT_SUPPORTED',
    'WALLET_CHAIN_NOT_SUPPORTED',
  ],
}

/** Further codes of single routes with status 503. */
const unavailable: Partial<Record<AttestationKindName, readonly string[]>> = {
  fills: ['PAYMENT_TOO_LARGE'],
  refunds: ['PAYMENT_TOO_LARGE'],
}

/** The error codes that one kind of attestation answers with, by status. */
export function attestationErrors(kind: AttestationKindName): RouteErrors {
  return {
    ...shared,
    400: [...new Set([...(shared[400] ?? []), ...codesByKind[kind]])],
    503: [...(shared[503] ?? []), ...(unavailable[kind] ?? [])],
  }
}

/** Operation id in the interface document, e.g. `attestDeposits` for `deposits`. */
export function attestationOperationId(kind: AttestationKindName): string {
  const words = kind.split('-').map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)
  return `attest${words.join('')}`
}
