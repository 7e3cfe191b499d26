import { DomainError } from '@causeway/core'

export class WebhookNotFoundError extends DomainError {
  readonly code = 'WEBHOOK_NOT_FOUND'
  readonly kind = 'not_found'

  constructor() {
    super('This API key has no webhook.')
  }
}

/** The URL is not one that messages may be sent to. */
export class InvalidWebhookUrlError extends DomainError {
  readonly code = 'INVALID_WEBHOOK_URL'
  readonly kind = 'invalid_request'

  constructor(problem: string) {
    super(`The URL of a webhook ${problem}.`, { data: { field: 'url' } })
  }
}

/** Secrets of a webhook cannot be opened: their pepper was removed, or they are those of another API key. */
export class UnreadableSecretsError extends DomainError {
  readonly code = 'WEBHOOK_SECRETS_UNREADABLE'
  readonly kind = 'conflict'

  constructor(options?: { readonly cause: unknown }) {
    super('The secrets of this webhook cannot be read; remove the webhook and set it again.', options)
  }
}
