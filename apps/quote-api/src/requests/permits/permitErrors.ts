import { DomainError } from '@causeway/core'

/** A signature that makes no deposit; the message says what to do. @source quote-api.md 5 */
export class PermitFailedError extends DomainError {
  readonly code = 'PERMIT_FAILED'
  readonly kind = 'invalid_request'
}
