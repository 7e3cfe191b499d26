import { DomainError } from '@causeway/core'

/** A signer could not sign: the key's holder refused, was late, or answered with anything but its own signature. */
export class SignerFailedError extends DomainError {
  readonly code = 'SIGNER_FAILED'
  readonly kind = 'upstream_unavailable'

  constructor(options: { cause?: unknown } = {}) {
    super('The service could not sign; nothing was signed.', { ...options, retryAfterSeconds: 1 })
  }
}
