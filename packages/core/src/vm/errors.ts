import type { VmType } from '../chain/vmType.ts'
import { DomainError } from '../errors.ts'

/** A string is not an address (or currency id) of the family it was given for. */
export class InvalidAddressError extends DomainError {
  readonly code = 'INVALID_ADDRESS'
  readonly kind = 'invalid_request'

  constructor(args: { vmType: VmType; reason: string; field?: string }) {
    const { vmType, reason, field } = args
    super(`${field ?? 'The address'} is not a valid ${vmType} address: ${reason}.`, {
      data: { vmType, reason, ...(field !== undefined && { field }) },
    })
  }
}

/** A string is not a transaction id of the family it was given for. */
export class InvalidTransactionIdError extends DomainError {
  readonly code = 'INVALID_TRANSACTION_ID'
  readonly kind = 'invalid_request'

  constructor(args: { vmType: VmType; reason: string }) {
    super(`The transaction id is not valid for ${args.vmType}: ${args.reason}.`, { data: args })
  }
}
