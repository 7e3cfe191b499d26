import { DomainError } from '@causeway/core'

/** No key has this id. */
export class ApiKeyNotFoundError extends DomainError {
  readonly code = 'API_KEY_NOT_FOUND'
  readonly kind = 'not_found'

  constructor() {
    super('No API key has this id; list the keys to see theirs.')
  }
}

/** A revoked key never works again, so nothing about it can be changed. */
export class ApiKeyRevokedError extends DomainError {
  readonly code = 'API_KEY_REVOKED'
  readonly kind = 'conflict'

  constructor() {
    super('This API key is revoked; create a new one.')
  }
}
