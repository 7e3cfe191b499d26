import { DomainError, type DomainErrorOptions, type ErrorKind } from '@causeway/core'

/**
 * Every code that quoting answers with, and its kind. The wording of a message may change, these
 * may not. @source rule Q-139
 */
export const quoteErrorKinds = {
  AMOUNT_TOO_LOW: 'invalid_request',
  CHAIN_DISABLED: 'invalid_request',
  CHAIN_STOPPED: 'upstream_unavailable',
  DESTINATION_TX_FAILED: 'invalid_request',
  EXTRA_TXS_NOT_SUPPORTED: 'invalid_request',
  FORBIDDEN: 'forbidden',
  GAS_PRICE_TOO_HIGH: 'upstream_unavailable',
  INSUFFICIENT_LIQUIDITY: 'invalid_request',
  INVALID_ADDRESS: 'invalid_request',
  INVALID_EXTRA_TXS: 'invalid_request',
  INVALID_GAS_LIMIT_FOR_DEPOSIT_SPECIFIED_TXS: 'invalid_request',
  INVALID_INPUT_CURRENCY: 'invalid_request',
  INVALID_OUTPUT_CURRENCY: 'invalid_request',
  INVALID_RECIPIENT: 'invalid_request',
  INVALID_REQUEST: 'invalid_request',
  NO_SWAP_ROUTES_FOUND: 'invalid_request',
  OPEN_QUOTES_LIMIT: 'invalid_request',
  PRICE_FETCH_FAILED: 'upstream_unavailable',
  RECIPIENT_HAS_CODE: 'invalid_request',
  RELAYER_GAS_TOO_HIGH: 'invalid_request',
  SANCTIONED_WALLET_ADDRESS: 'invalid_request',
  SERVICE_UNAVAILABLE: 'upstream_unavailable',
  SPONSOR_COST_TOO_HIGH: 'invalid_request',
  SWAP_IMPACT_TOO_HIGH: 'invalid_request',
  UNAUTHORIZED: 'unauthorized',
  UNSUPPORTED_CHAIN: 'invalid_request',
  UNSUPPORTED_CURRENCY: 'invalid_request',
  UNSUPPORTED_EXECUTION_TYPE: 'invalid_request',
  UNSUPPORTED_ROUTE: 'invalid_request',
} as const satisfies Record<string, ErrorKind>

export type QuoteErrorCode = keyof typeof quoteErrorKinds

/** A quote that is refused, and how the caller can mend it: limits travel in `data`. */
export class QuoteError extends DomainError {
  readonly code: QuoteErrorCode
  readonly kind: ErrorKind
  /**
   * Approximate maximum for an amount that is too high, in the currency of the request's amount. `acceptedAmount.ts`
   * begins its search there. Not sent to callers.
   */
  readonly nearAmount: bigint | undefined

  constructor(
    code: QuoteErrorCode,
    message: string,
    options: DomainErrorOptions & { readonly nearAmount?: bigint } = {},
  ) {
    const kind = quoteErrorKinds[code]
    super(message, kind === 'upstream_unavailable' ? { retryAfterSeconds: 1, ...options } : options)
    this.code = code
    this.kind = kind
    this.nearAmount = options.nearAmount
  }
}
