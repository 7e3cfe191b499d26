import { blockedWallet } from '@causeway/chains'
import { orderRefused } from '@causeway/core'

/**
 * Every reason that a request, deposit or refund can have, with its meaning in one sentence. Statuses, webhooks, histories,
 * timelines and operators see only these.
 * @source rules L-58, O-50
 */
export const reasonTexts = {
  // Reasons of a deposit.
  DEPOSITED_AMOUNT_TOO_LOW_TO_FILL: 'The deposit was less than the quoted input.',
  DOUBLE_SPEND: 'Another deposit had paid for the request already.',
  INCORRECT_DEPOSIT_CURRENCY: 'The deposit came in another currency than the quoted one.',
  PROTOCOL_DEADLINE_EXPIRED: 'The deposit came after the deadline of its order.',
  AMOUNT_TOO_LOW_TO_REFUND: 'The deposit was less than what giving it back costs.',
  UNSUPPORTED_CURRENCY: 'Nobody can give back the currency that was deposited.',
  DEPOSIT_REORGED: 'The deposit left its chain, and nothing came in its place.',
  QUOTE_EXPIRED_PRICE_MOVED: 'The deposit came after the quote had expired, and by then it bought less.',
  QUOTE_EXPIRED_NOT_QUOTABLE:
    'The deposit came after the quote had expired, and could not be quoted by then.',
  QUOTE_EXPIRED_MARKET_UNAVAILABLE:
    'The deposit came after the quote had expired, and the market could not be read.',
  SPONSOR_BALANCE_TOO_LOW: 'The sponsor could not pay its share any more when the deposit came.',
  // Reasons of a fill, a permit, or calls that the user sends.
  EXECUTION_REVERTED: 'The transaction reverts, in its trial or once sent.',
  QUOTED_GAS_LIMIT_EXCEEDED: 'The payment would have cost more gas than was charged for it.',
  TTL_EXPIRED: 'No solver paid before the deadline.',
  TRANSACTION_NOT_INCLUDED: 'The transaction that was sent reached no block before the deadline.',
  TRANSACTION_REVERTED: 'The transaction reverted.',
  TRANSACTION_SUBMISSION_FAILED: 'The solver could not send the transaction.',
  SIGNATURE_EXPIRED: 'The signature of the user ended before it was sent.',
  // Reasons of a refund.
  MANUAL_REFUND_REQUIRED: 'The refund did not succeed: an operator looks at it.',
  DEPOSIT_RECOVERABLE: 'Its depositor recovers it on the hub; nobody fills or refunds the order any more.',
  // Reasons of a request that waits for an operator.
  RECOVERY_WAITS: 'The order was given up, and its promise or its way to the hub waits.',
  [blockedWallet]:
    'The deny list, here or of the solver, names an account of it: nothing was paid, and nothing was given back.',
  SEEN_BUT_DENIED: 'We see the fill, and so many oracles deny it that no quorum is left.',
  ATTESTED_BUT_NOT_SEEN: 'Oracles sign a fill that our endpoints do not show.',
  FILL_NOT_SEEN: 'Our endpoints do not show the fill.',
  ATTESTATION_TIMED_OUT: 'Too few oracles signed the fill before the hold ended.',
  FILLED_LATE: 'The recipient was paid after the deadline: nobody attests that.',
  FILL_RECORDED:
    'The fill contract says that the order was paid, and no transaction that was reported proves it.',
  REFUND_FAILED: 'The solver could not refund.',
  HOLD_ALREADY_VOIDED: 'The fill was attested after the hold of its sponsor had been given back.',
  HOLD_EXPIRED: 'The fill was attested after the hold of its sponsor had ended.',
  HOLD_EXCEEDS_HOLD: 'The debit would be more than the hold of its sponsor.',
  HOLD_UNKNOWN_HOLD: 'The sponsor holds nothing for the request.',
  // Reasons of a standstill.
  CHAIN_STOPPED: 'An operator stopped a chain of it, or oracles halted it.',
  CHAIN_STANDS: 'A chain of it makes no blocks, or its endpoints do not agree on one.',
  DEPOSIT_CONFIRMATION_TIMEOUT:
    'The chain of the deposit makes no blocks, or its endpoints do not agree on one: confirmations do not come.',
  UNDECIDED: 'A price, a key or an endpoint is missing, so that nothing could be decided.',
  PAYMENT_NOT_SWEPT: 'The solver does not fetch what was paid to the deposit address.',
  SOLVER_SILENT: 'The solver has not begun it, and says nothing.',
  SOLVER_WAITS: 'The solver has not begun it, for the reason in its report.',
  [orderRefused]: 'The solver refuses it, because its settings and those of this service differ.',
  SOLVER_BALANCE_TOO_LOW: 'The solver does not have what it is to pay.',
  DOES_NOT_PAY: 'The transaction that the solver reported does not pay what is owed.',
  ATTESTATION_MISSING: 'Too few oracles sign that the recipient was paid.',
  HOLD_STAYS: 'The hold of the sponsor has ended, and its money is not free.',
  TRANSACTION_UNREADABLE: 'A transaction that names the depository cannot be read.',
} as const

export type Reason = keyof typeof reasonTexts

export const isReason = (text: string): text is Reason => Object.hasOwn(reasonTexts, text)

/** Text of a reason. Reasons of an earlier release have no text, so their name is shown. */
export const reasonText = (reason: string): string =>
  isReason(reason) ? reasonTexts[reason] : `An earlier release gave the reason ${reason}.`

/** Event that ends a standstill of a reason; for all others an operator decides. */
const endTexts: Readonly<Partial<Record<Reason, string>>> = {
  RECOVERY_WAITS: 'What requests explain names in recovery, or the solver in work, is there.',
  CHAIN_STOPPED: 'An operator ends the stop (causeway go), or at enough oracles the halt (halted clear).',
  CHAIN_STANDS: 'The chain makes blocks again, or enough endpoints agree (causeway doctor).',
  DEPOSIT_CONFIRMATION_TIMEOUT: 'The chain makes blocks again, or enough endpoints agree (causeway doctor).',
  UNDECIDED: 'What is missing comes back (causeway doctor; the log has the cause).',
  PAYMENT_NOT_SWEPT: 'The solver sweeps the address (solver status).',
  SOLVER_SILENT: 'The solver takes it (solver status).',
  SOLVER_WAITS: 'What the solver waits for is there; it takes it by itself.',
  [orderRefused]: 'Both services agree again (causeway doctor); the solver tries again by itself.',
  SOLVER_BALANCE_TOO_LOW: 'The fill wallet is filled up; the solver tries again by itself.',
  TRANSACTION_SUBMISSION_FAILED: 'What the solver said is mended; it tries again by itself.',
  TRANSACTION_REVERTED: 'The account can take it again; the solver tries again by itself.',
  TRANSACTION_NOT_INCLUDED: 'A block takes the transaction, or the solver sends another one.',
  DOES_NOT_PAY: 'The solver pays the rest; of a claim, an operator ends it (claims end).',
  ATTESTATION_MISSING: 'Enough oracles sign; it is debited by itself.',
  FILL_NOT_SEEN: 'Our endpoints show the fill.',
  HOLD_STAYS: 'The job `sweeper` frees it.',
  TRANSACTION_UNREADABLE: 'A release that reads it.',
}

export const endText = (reason: Reason): string =>
  endTexts[reason] ?? 'An operator decides: requests explain says what is possible.'
