import { DomainError } from '../errors.ts'

/** A string is not an address (or currency id) of the family it was given for. */
export class InvalidAddressError extends DomainError {
  readonly code = 'INVALID_ADDRESS'
  readonly kind = 'invalid_request'
  /** The end of a sentence, which does not repeat the string. */
  readonly reason: string

  constructor(args: { vmType: string; reason: string; field?: string }) {
    const { vmType, reason, field } = args
    super(`${field ?? 'The address'} is not a valid ${vmType} address: ${reason}.`, {
      data: { vmType, reason, ...(field !== undefined && { field }) },
    })
    this.reason = reason
  }
}

/** A string is not a transaction id of the family it was given for. */
export class InvalidTransactionIdError extends DomainError {
  readonly code = 'INVALID_TRANSACTION_ID'
  readonly kind = 'invalid_request'

  constructor(args: { vmType: string; reason: string }) {
    super(`The transaction id is not valid for ${args.vmType}: ${args.reason}.`, { data: args })
  }
}

/** The `withdrawal` bytes of a request are not what the family encodes. */
export class InvalidWithdrawalError extends DomainError {
  readonly code = 'INVALID_WITHDRAWAL'
  readonly kind = 'invalid_request'

  constructor(reason: string) {
    super(`The withdrawal cannot be read: ${reason}.`, { data: { reason } })
  }
}

/** A withdrawal request that the allocator of its family cannot pay out. */
export class InvalidWithdrawRequestError extends DomainError {
  readonly code = 'INVALID_WITHDRAW_REQUEST'
  readonly kind = 'invalid_request'

  constructor(reason: string, field?: string) {
    super(`The withdrawal request is invalid: ${reason}.`, {
      data: { reason, ...(field !== undefined && { field }) },
    })
  }
}
