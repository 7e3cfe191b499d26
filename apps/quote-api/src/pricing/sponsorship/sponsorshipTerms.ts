import {
  type FeePart,
  feeParts,
  type Hex,
  partsBoughtBy,
  type SponsoredComponent,
  type SponsoredWord,
  sponsoredComponents,
  sponsorRule,
} from '@causeway/core'
import { QuoteError } from '../errors.ts'

/**
 * Sponsorship members of a request, beside its `x-api-key`; the cap in micro-USDC.
 * @source rules Q-quote-req-09 to Q-quote-req-14
 */
export type SponsorshipRequest = {
  readonly subsidizeFees: boolean
  readonly capMicroUsd: bigint | undefined
  readonly subsidizeRent: boolean
  /** Account that pays the network for the deposit; the terms do not depend on it. */
  readonly depositFeePayer: string | undefined
  /** Fees named for the sponsor; undefined: none is. Naming a fee that cannot be sponsored has no effect. */
  readonly components: readonly SponsoredWord[] | undefined
}

/** Reason that a request that asked for a sponsor has none, or less than all. @source rule L-50 */
export type SponsorshipReason =
  | 'INSUFFICIENT_BALANCE'
  | 'CAP_BELOW_FEES'
  | 'RENT_NOT_SUBSIDIZED'
  | 'NOTHING_TO_SPONSOR'
  | `POLICY_${string}`

/** Key of the request, and the wallet it is linked to. */
export type SponsorshipCaller = { readonly keyId: string; readonly wallet: Hex | undefined }

/** Terms that a sponsor agreed to before any price is known. */
export type SponsorshipTerms = {
  readonly apiKeyId: string
  readonly sponsor: Hex
  readonly selected: ReadonlySet<FeePart>
  readonly capMicroUsd: bigint | undefined
  /** If the cap is below the fees, the sponsor pays nothing instead of it. True for deposit addresses. */
  readonly allOrNothing: boolean
}

/** A request that asked about sponsorship and gets none, before any price is known. */
export type Unsponsored = { readonly reason: SponsorshipReason }

/**
 * Sponsorship terms of a request, or the reason that there is no sponsor.
 * @throws QuoteError UNAUTHORIZED without a key, FORBIDDEN for a key without a linked wallet
 * @source rules
 */
export function sponsorshipTerms(
  request: SponsorshipRequest,
  caller: SponsorshipCaller | null,
  { useDepositAddress }: { readonly useDepositAddress: boolean },
): SponsorshipTerms | Unsponsored {
  if (!request.subsidizeFees) {
    // `subsidizeRent` has no effect without `subsidizeFees`: rent stays with the user, as the reason tells.
    const selectedAlone = sponsoredComponents.find((component) => request[sponsorRule(component).selectedBy])
    return { reason: (selectedAlone && sponsorRule(selectedAlone).requiredElse) ?? 'NOTHING_TO_SPONSOR' }
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
    selected: selectedParts(request, useDepositAddress),
    capMicroUsd: request.capMicroUsd,
    allOrNothing: useDepositAddress,
  }
}

/**
 * Fee parts that the sponsor is to pay: those that the request names. If it names none, or is for a deposit
 * address, which cannot choose, they are the parts of the word `relayer`. `subsidizeRent` adds those of rent.
 * @source
 */
function selectedParts(request: SponsorshipRequest, useDepositAddress: boolean): ReadonlySet<FeePart> {
  const components = (useDepositAddress ? undefined : request.components) ?? ['relayer']
  const added = sponsoredComponents.filter((component) => {
    const { selectedBy } = sponsorRule(component)
    // `subsidizeFees` is set here always, and the fees that it selects are those of `components`.
    return selectedBy !== 'subsidizeFees' && request[selectedBy]
  })
  return new Set([...components, ...added].flatMap(partsBoughtBy))
}

/** Selected fees, as HTTP answers and histories name them. */
export function componentsOf({
  selected,
}: Pick<SponsorshipTerms, 'selected'>): readonly SponsoredComponent[] {
  const ofParts = new Set(feeParts.filter(({ name }) => selected.has(name)).map(({ component }) => component))
  return sponsoredComponents.filter((component) => ofParts.has(component))
}

/** Rebuilds the fields of a deposit address's request from the selection that its order stores. */
export function selectingFields(
  selected: readonly SponsoredComponent[],
): Pick<SponsorshipRequest, 'subsidizeFees' | 'subsidizeRent'> {
  const fields = new Set(selected.map((component) => sponsorRule(component).selectedBy))
  return {
    // A deposit address cannot choose fees, so it selects none exactly where no sponsor was asked for.
    subsidizeFees: selected.length > 0,
    subsidizeRent: fields.has('subsidizeRent'),
  }
}
