import { DomainError } from '@causeway/core'

/** Nobody whose signature counts said anything about the request. */
export class NoSignerGroupError extends DomainError {
  readonly code = 'NO_SIGNER_GROUP'
  readonly kind = 'invalid_request'

  constructor() {
    super('No listed oracle signed an answer to this request.')
  }
}
