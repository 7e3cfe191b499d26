import { DomainError } from '@causeway/core'
import type { RefusalReason } from './sighting.ts'

type ErrorSubject = { readonly chainId: string; readonly transactionId?: string | undefined }

/** No block of the chain holds the transaction (yet). */
export class TransactionMissingError extends DomainError {
  readonly code = 'TRANSACTION_MISSING'
  readonly kind = 'invalid_request'

  constructor({ chainId, transactionId = '' }: ErrorSubject) {
    super(`Missing transaction ${transactionId} on chain ${chainId}.`, {
      data: { chainId, transactionId },
      retryAfterSeconds: 5,
    })
  }
}

/** No endpoint lists the outputs of a Bitcoin address, because it has too many. */
export class AddressRefusedError extends DomainError {
  readonly code = 'INVALID_ADDRESS'
  readonly kind = 'invalid_request'

  constructor(chainId: string, address: string) {
    super(
      `${address} has more unspent outputs than are listed on chain ${chainId}: combine them, or name another address.`,
      { data: { chainId } },
    )
  }
}

/** The transaction failed: it moved nothing. */
export class TransactionRevertedError extends DomainError {
  readonly code = 'TRANSACTION_REVERTED'
  readonly kind = 'invalid_request'

  constructor({ chainId, transactionId = '' }: ErrorSubject) {
    super(`Reverted transaction ${transactionId} on chain ${chainId}.`, { data: { chainId, transactionId } })
  }
}

/** The transaction holds more events than one attestation reads. */
export class TransactionTooLargeError extends DomainError {
  readonly code = 'TRANSACTION_TOO_LARGE'
  readonly kind = 'invalid_request'

  constructor({ chainId, transactionId = '' }: ErrorSubject) {
    super(`Transaction ${transactionId} on chain ${chainId} holds too many events.`, {
      data: { chainId, transactionId },
    })
  }
}

/** The receipt is too long to be read, and the logs that can be read alone do not prove the payment. */
export class PaymentTooLargeError extends DomainError {
  readonly code = 'PAYMENT_TOO_LARGE'
  readonly kind = 'upstream_unavailable'

  constructor({ chainId, transactionId = '' }: ErrorSubject) {
    super(
      `Transaction ${transactionId} on chain ${chainId} holds too many events, and is neither a record of the chosen fill contract nor a plain transfer.`,
      { data: { chainId, transactionId }, retryAfterSeconds: 600 },
    )
  }
}

/** The transaction is of a version or a form that this release does not read. */
export class TransactionUnreadableError extends DomainError {
  readonly code = 'TRANSACTION_UNREADABLE'
  readonly kind = 'invalid_request'

  constructor({ chainId, transactionId = '' }: ErrorSubject) {
    super(
      `Transaction ${transactionId} on chain ${chainId} cannot be read: this release does not read its version or its form.`,
      { data: { chainId, transactionId } },
    )
  }
}

/** The transaction is in a block that is not final yet. `waitSeconds` is an estimate. */
export class TransactionNotFinalError extends DomainError {
  readonly code = 'TRANSACTION_NOT_FINAL'
  readonly kind = 'not_final'

  constructor({ chainId, transactionId = '', waitSeconds }: ErrorSubject & { readonly waitSeconds: number }) {
    super(`Transaction ${transactionId} on chain ${chainId} is not finalized.`, {
      data: { chainId, transactionId },
      retryAfterSeconds: waitSeconds,
    })
  }
}

/** Error for callers, by the reason for which enough endpoints have no facts. */
export function refusalError(reason: RefusalReason, where: ErrorSubject): DomainError {
  switch (reason) {
    case 'missing':
      return new TransactionMissingError(where)
    case 'reverted':
      return new TransactionRevertedError(where)
    case 'too_large':
      return new TransactionTooLargeError(where)
    case 'unreadable':
      return new TransactionUnreadableError(where)
  }
}
