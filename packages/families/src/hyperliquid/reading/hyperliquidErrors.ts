import { DomainError } from '@causeway/core'

/**
 * The hub has no entry for the nonce of a transfer yet: without it nobody knows which order the transfer is
 * for. `waitSeconds` is how long one may still arrive.
 */
export class NonceMappingMissingError extends DomainError {
  readonly code = 'NONCE_MAPPING_MISSING'
  readonly kind = 'not_final'

  constructor({ nonce, sender, waitSeconds }: { nonce: bigint; sender: string; waitSeconds: number }) {
    super(`No nonce mapping found for nonce ${nonce} and depositor ${sender}.`, {
      data: { nonce: nonce.toString(), sender },
      retryAfterSeconds: waitSeconds,
    })
  }
}

/** A transfer in a currency that cannot be attested. */
export class HyperliquidCurrencyError extends DomainError {
  readonly code: 'PERPS_TOKEN_UNSUPPORTED' | 'CURRENCY_DECIMALS_UNKNOWN'
  readonly kind = 'invalid_request'

  constructor(code: HyperliquidCurrencyError['code']) {
    super(currencyProblems[code])
    this.code = code
  }
}

const currencyProblems = {
  PERPS_TOKEN_UNSUPPORTED: 'Only USDC is supported as a perps token.',
  CURRENCY_DECIMALS_UNKNOWN: 'The exchange lists no token of that id: its decimals are unknown.',
} as const
