import type { Hex, SponsoredComponent } from '@causeway/core'
import { QuoteError } from '../errors.ts'
import type { SponsorshipReason, SponsorshipRequest } from './sponsorshipRequest.ts'

/** Who asks: the key of the request, and the wallet it is linked to. */
export type SponsorshipCaller = { readonly keyId: string; readonly wallet: Hex | undefined }

/** What a sponsor agreed to pay, before any price is known. */
export type SponsorshipTerms = {
  readonly apiKeyId: string
  readonly sponsor: Hex
  readonly selected: ReadonlySet<SponsoredComponent>
  readonly capMicroUsd: bigint | undefined
  /** A cap below the fees pays nothing at all: requests by deposit address. */
  readonly allOrNothing: boolean
}

/** A request that asked about sponsorship and gets none, before any price is known. */
export type Unsponsored = { readonly reason: SponsorshipReason }

/**
 * What the sponsor of a request pays for, or why nobody does.
 * @throws QuoteError UNAUTHORIZED without a key, FORBIDDEN for a key without a linked wallet
 * @source quote-api.md 7, rows 1, 2, 5, 12, 14, 19 to 23, 28
 */
export function sponsorshipTerms(
  request: SponsorshipRequest,
  caller: SponsorshipCaller | null,
  { useDepositAddress }: { readonly useDepositAddress: boolean },
): SponsorshipTerms | Unsponsored {
  if (!request.subsidizeFees) {
    return { reason: request.subsidizeRent ? 'RENT_NOT_SUBSIDIZED' : 'NOTHING_TO_SPONSOR' }
  }
  if (caller === null) {
    throw new QuoteError('UNAUTHORIZED', 'A sponsored quote needs a valid x-api-key.')
  }
  if (caller.wallet === undefined) {
    throw new QuoteError('FORBIDDEN', 'The API key has no sponsorship wallet; link one first.')
  }
  return {
    apiKeyId: caller.keyId,
    sponsor: caller.wallet,
    selected: selectedComponents(request, useDepositAddress),
    capMicroUsd: request.capMicroUsd,
    allOrNothing: useDepositAddress,
  }
}

/** A deposit address cannot choose components. `subsidizeRent` is the older name of `rent`. */
function selectedComponents(
  { components, subsidizeRent }: SponsorshipRequest,
  useDepositAddress: boolean,
): ReadonlySet<SponsoredComponent> {
  const selected = new Set<SponsoredComponent>()
  if (components === undefined || useDepositAddress) {
    selected.add('execution').add('swap').add('relay')
  } else {
    for (const component of components) if (component !== 'app') selected.add(component)
  }
  if (subsidizeRent) selected.add('rent')
  return selected
}
