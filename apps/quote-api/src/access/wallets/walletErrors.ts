import { DomainError } from '@causeway/core'

/** A challenge was used, has expired, or was made for another key or wallet. */
export class InvalidNonceError extends DomainError {
  readonly code = 'INVALID_NONCE'
  readonly kind = 'invalid_request'

  constructor() {
    super('The nonce is unknown, used or expired; ask for a new challenge.', { data: { field: 'nonce' } })
  }
}

/** The wallet did not sign the challenge as it was given. */
export class InvalidSignatureError extends DomainError {
  readonly code = 'INVALID_SIGNATURE'
  readonly kind = 'invalid_request'

  constructor() {
    super('The wallet did not sign this message; ask for a new challenge and sign its text unchanged.', {
      data: { field: 'signature' },
    })
  }
}

/** There is no link to take away. */
export class WalletNotLinkedError extends DomainError {
  readonly code = 'WALLET_NOT_LINKED'
  readonly kind = 'conflict'

  constructor() {
    super('No wallet is linked to this API key.')
  }
}
