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

export class WalletNotLinkedError extends DomainError {
  readonly code = 'WALLET_NOT_LINKED'
  readonly kind = 'conflict'

  constructor() {
    super('No wallet is linked to this API key.')
  }
}

export class WalletSponsorsNothingError extends DomainError {
  readonly code = 'FORBIDDEN'
  readonly kind = 'forbidden'

  constructor() {
    super('This wallet is linked to no API key.')
  }
}

export class TooManySessionsError extends DomainError {
  readonly code = 'RATE_LIMITED'
  readonly kind = 'rate_limited'

  constructor() {
    // The oldest session ends within an hour, at a time that is not read here: six tries an hour find it.
    super('This wallet has signed in too often within an hour.', { retryAfterSeconds: 600 })
  }
}

/** A session is unknown, expired or ended, or its wallet was unlinked since. */
export class SessionOverError extends DomainError {
  readonly code = 'UNAUTHORIZED'
  readonly kind = 'unauthorized'

  constructor() {
    super('Sign in with the linked wallet.')
  }
}
