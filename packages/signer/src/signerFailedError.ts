import { DomainError } from '@causeway/core'

/** The key's holder refused, was late, or answered with a signature that is not the key's. */
export class SignerFailedError extends DomainError {
  readonly code = 'SIGNER_FAILED'
  readonly kind = 'upstream_unavailable'

  constructor(reason: string, options: { cause?: unknown } = {}) {
    super(`The signature could not be made: ${reason}.`, { retryAfterSeconds: 1, ...options })
  }
}
