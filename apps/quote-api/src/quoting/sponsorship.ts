import { QuoteError } from './errors.ts'

/** The sponsorship fields of a quote request. */
export type SponsorshipRequest = {
  readonly user: string
  readonly subsidizeFees?: boolean | undefined
  readonly depositFeePayer?: string | undefined
  readonly useDepositAddress?: boolean | undefined
}

/** What is known of the caller's key. */
export type SponsorKey = { readonly sponsor?: string }

/**
 * Refuses sponsored quotes that cannot be sponsored. Balances and holds are decided later.
 * @throws QuoteError UNAUTHORIZED without a key, UNSUPPORTED_EXECUTION_TYPE while no ledger is
 * connected, INVALID_ADDRESS for a fee payer that is the user or where no Solana origin is quoted
 * @source quote-api.md 7, rows 2, 3, 30, 31
 */
export function checkSponsorship(request: SponsorshipRequest, key: SponsorKey | null): void {
  if (request.depositFeePayer !== undefined) {
    const reason =
      request.depositFeePayer === request.user ? 'it must differ from user' : 'it serves Solana origins only'
    throw new QuoteError('INVALID_ADDRESS', `depositFeePayer is not allowed: ${reason}.`, {
      data: { field: 'depositFeePayer' },
    })
  }
  if (request.subsidizeFees !== true) return
  if (key === null) {
    throw new QuoteError('UNAUTHORIZED', 'A sponsored quote needs a valid x-api-key.')
  }
  throw new QuoteError('UNSUPPORTED_EXECUTION_TYPE', 'Sponsored quotes cannot be executed yet.', {
    data: { field: 'subsidizeFees' },
  })
}
