import { DomainError } from '@causeway/core'

/** The wallet is owed less in this currency than it claims. */
export class InsufficientAppFeesError extends DomainError {
  readonly code = 'INSUFFICIENT_APP_FEES'
  readonly kind = 'invalid_request'

  /** @param availableAmount smallest units of the currency */
  constructor(availableAmount: bigint) {
    super('The wallet can claim less of this currency; see GET /app-fees/{wallet}/claimable.', {
      data: { field: 'amount', availableAmount: availableAmount.toString() },
    })
  }
}

export class AppFeeClaimNotFoundError extends DomainError {
  readonly code = 'APP_FEE_CLAIM_NOT_FOUND'
  readonly kind = 'not_found'

  constructor() {
    super('There is no such claim, or it was not signed in time; ask for a new one.')
  }
}
