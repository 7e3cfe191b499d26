import { DomainError } from '@causeway/core'

/** A final transaction that cannot be attested as a deposit. */
export class BitcoinDepositError extends DomainError {
  readonly code: 'NO_VALUE_TO_DEPOSITORY' | 'MULTIPLE_DEPOSITORIES_FUNDED' | 'DEPOSITOR_UNKNOWN'
  readonly kind = 'invalid_request'

  constructor(code: BitcoinDepositError['code'], transactionId: string) {
    super(depositProblems[code], { data: { transactionId } })
    this.code = code
  }
}

const depositProblems = {
  NO_VALUE_TO_DEPOSITORY: 'The transaction sends no value to a depository.',
  MULTIPLE_DEPOSITORIES_FUNDED: 'The transaction funds more than one depository.',
  DEPOSITOR_UNKNOWN: 'The transaction names no depositor, and its first input has no address.',
} as const

/** An output of a withdrawal is spent by an unknown transaction. */
export class BitcoinWithdrawalError extends DomainError {
  readonly code = 'SPENDING_TRANSACTION_UNKNOWN'
  readonly kind = 'invalid_request'

  constructor(withdrawalId: string) {
    super(
      'An output of the withdrawal is spent by a transaction that no endpoint names: send its transactionId.',
      { data: { withdrawalId } },
    )
  }
}
