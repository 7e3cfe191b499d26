import { createHash } from 'node:crypto'
import {
  type HoldOutcome,
  type HoldRequest,
  minBigint,
  sponsorableFees,
  sponsoredComponents,
} from '@causeway/core'
import type { QuoteAsset } from '@causeway/core/config'
import type { Sponsors } from '../../access/wallets/sponsors.ts'
import { refuseUnsupportedExecution } from '../../pricing/execution/executionMode.ts'
import type { RewardLimit } from '../../pricing/openQuotes/rewardLimit.ts'
import { priceRequest } from '../../pricing/priceRequest.ts'
import type { QuoteRequest } from '../../pricing/request.ts'
import { refuseDeniedRequest } from '../../pricing/routes/deniedParties.ts'
import type { Route } from '../../pricing/routes/route.ts'
import { checkSponsorCost } from '../../pricing/solverRoute/ceilings.ts'
import { type Allocation, unpaid } from '../../pricing/sponsorship/allocateSubsidy.ts'
import { depositFeePayer, refusedFeePayer } from '../../pricing/sponsorship/depositFeePayer.ts'
import { refusalReason, type SponsorshipOutcome } from '../../pricing/sponsorship/sponsorshipOutcome.ts'
import {
  componentsOf,
  type SponsorshipRequest,
  type SponsorshipTerms,
  sponsorshipTerms,
} from '../../pricing/sponsorship/sponsorshipTerms.ts'
import { toMicroUsdUp } from '../../pricing/sponsorship/sponsorUnit.ts'
import { pricedUsdc, shareOf, subsidyRule } from '../../pricing/sponsorship/subsidyRule.ts'
import { holdGraceSeconds } from '../timings.ts'
import { type QuoteCaller, whileOpen, withAllowance, withReward } from './createQuote.ts'
import { draftQuote, type Quote, type QuoteDependencies, type QuoteRecord } from './draftQuote.ts'

/** Outcome of storing a quote; `no_hold`: it was stored and needed no hold. */
export type StoreOutcome = HoldOutcome | { readonly status: 'no_hold' }

export type SponsoredQuoteDependencies = QuoteDependencies & {
  readonly sponsors: Sponsors
  /** Asset in which sponsors' balances are kept; undefined where no price of it is configured. */
  readonly sponsorAsset: QuoteAsset | undefined
  /** Stores the record and takes the hold in one commit; stores nothing when the hold is refused. */
  readonly storeSponsored: (record: QuoteRecord, hold: HoldRequest | undefined) => Promise<StoreOutcome>
  /** Told of a quote whose user can keep the rent that the fee payer pays, so that operators see it. */
  readonly onExploitableFeePayer: (keyId: string | undefined) => void
}

type SponsoredRequest = QuoteCaller & {
  readonly request: QuoteRequest
  readonly sponsorship: SponsorshipRequest
}

/**
 * Makes the quote of a request with a sponsorship field. It is priced with the sponsor's share and stored together with
 * the hold on the sponsor's balance. If the sponsor cannot or need not pay, it is priced again with all fees on the user.
 * @throws QuoteError UNAUTHORIZED, FORBIDDEN, INVALID_ADDRESS, SPONSOR_COST_TOO_HIGH and those of `createQuote`
 * @source rules L-1, L-50
 */
export async function createSponsoredQuote(
  dependencies: SponsoredQuoteDependencies,
  body: SponsoredRequest,
): Promise<Quote> {
  const sponsoredRequest = withFeePayer(dependencies, body)
  const { request, sponsorship } = sponsoredRequest
  refuseDeniedRequest(dependencies, request, sponsoredRequest.keyId)
  const terms = sponsorshipTerms(sponsorship, await callerOf(dependencies, sponsoredRequest), request)
  // Both prices use one snapshot, so that the second differs only in who pays.
  const snapshot = dependencies.snapshot()
  const withOneSnapshot = { ...dependencies, snapshot: () => snapshot }
  return withAllowance(withOneSnapshot, sponsoredRequest, (ports) =>
    withReward(ports, sponsoredRequest, (rewards) =>
      'reason' in terms
        ? quoteUserPaid(ports, sponsoredRequest, { allocation: unpaid(terms.reason), rewards })
        : quoteSponsored(ports, sponsoredRequest, terms, rewards),
    ),
  )
}

/** Quotes with the sponsor's share; falls back to `quoteUserPaid` where the share is zero or its hold is refused. */
async function quoteSponsored(
  dependencies: SponsoredQuoteDependencies,
  sponsoredRequest: SponsoredRequest,
  terms: SponsorshipTerms,
  rewards: RewardLimit,
): Promise<Quote> {
  const { request } = sponsoredRequest
  const snapshot = dependencies.snapshot()
  const usdc = pricedUsdc(snapshot, dependencies.sponsorAsset)
  const { waits } = dependencies
  const priced = await priceRequest(dependencies, request, {
    subsidy: subsidyRule(terms, usdc),
    rewards,
    waits,
  })
  refuseUnsupportedExecution(priced.route, request, { isSponsored: true })
  const { allocation, unit: feeUnit } = shareOf(terms, priced, usdc)
  if (allocation.total === 0n)
    return quoteUserPaid(dependencies, sponsoredRequest, { allocation, rewards, terms })
  checkSponsorCost(dependencies.ceilings, snapshot, priced, allocation)
  const uncappedMicroUsd = toMicroUsdUp(feeUnit, allocation.total)
  const outcome: SponsorshipOutcome = {
    sponsor: terms.sponsor,
    selected: componentsOf(terms),
    capMicroUsd: terms.capMicroUsd,
    sponsorable: sponsorableFees(priced.split.parts),
    allocation,
    // Rounding up must not exceed the cap.
    debitMicroUsd: minBigint(uncappedMicroUsd, terms.capMicroUsd ?? uncappedMicroUsd),
  }
  const { keyId: apiKeyId } = sponsoredRequest
  return whileOpen(dependencies, priced, sponsoredRequest, async (takeBack) => {
    const record = await draftQuote(dependencies, request, priced, { apiKeyId, sponsorship: outcome })
    const hold = holdRequest(dependencies, terms, record, outcome)
    const stored = await dependencies.storeSponsored(record, hold)
    const refusal = stored.status === 'no_hold' ? undefined : refusalReason(stored)
    if (refusal === undefined) {
      if (stored.status !== 'at_deposit') return record.quote
      return { ...record.quote, sponsorship: { ...outcome, isHeldAtDeposit: true } }
    }
    // The refused quote is not answered, so it must not count as open beside the next one, which counts
    // itself.
    takeBack()
    return quoteUserPaid(dependencies, sponsoredRequest, { allocation: unpaid(refusal), rewards, terms })
  })
}

/** The caller's key, with its sponsor wallet if fees are to be subsidized; null without a key. */
async function callerOf({ sponsors }: SponsoredQuoteDependencies, { sponsorship, keyId }: SponsoredRequest) {
  if (keyId === undefined) return null
  return { keyId, wallet: sponsorship.subsidizeFees ? await sponsors.walletOf(keyId) : undefined }
}

/** Checks the account that is to pay the deposit's network fee, and adds it to the request. @throws QuoteError INVALID_ADDRESS */
function withFeePayer(
  dependencies: SponsoredQuoteDependencies,
  sponsoredRequest: SponsoredRequest,
): SponsoredRequest {
  const { request, sponsorship, keyId } = sponsoredRequest
  const origin = dependencies.registry.chainById.get(request.originChainId)
  // Pricing refuses an unknown origin.
  if (sponsorship.depositFeePayer === undefined || origin === undefined) return sponsoredRequest
  const { user, destinationChainId } = request
  const payer = depositFeePayer({ account: sponsorship.depositFeePayer, user, origin, destinationChainId })
  if (!origin.quoting.canSign(payer.account)) throw refusedFeePayer('it has no key')
  if (payer.isExploitable) dependencies.onExploitableFeePayer(keyId)
  return { ...sponsoredRequest, request: { ...request, depositFeePayer: payer.account } }
}

/** Quotes with all fees on the user. `allocation` says why the sponsor pays nothing; `terms` what was asked of it. */
async function quoteUserPaid(
  dependencies: SponsoredQuoteDependencies,
  sponsoredRequest: SponsoredRequest,
  {
    allocation,
    rewards,
    terms,
  }: {
    readonly allocation: Allocation
    readonly rewards: RewardLimit
    readonly terms?: SponsorshipTerms
  },
): Promise<Quote> {
  const { request, sponsorship, keyId } = sponsoredRequest
  const priced = await priceRequest(dependencies, request, { rewards, waits: dependencies.waits })
  refuseUnsupportedExecution(priced.route, request, { isSponsored: false })
  const outcome: SponsorshipOutcome = {
    sponsor: undefined,
    selected: terms === undefined ? [] : componentsOf(terms),
    capMicroUsd: sponsorship.capMicroUsd,
    sponsorable: sponsorableFees(priced.split.parts),
    allocation,
    debitMicroUsd: 0n,
  }
  return whileOpen(dependencies, priced, sponsoredRequest, async () => {
    const record = await draftQuote(dependencies, request, priced, { apiKeyId: keyId, sponsorship: outcome })
    await dependencies.storeSponsored(record, undefined)
    return record.quote
  })
}

function holdRequest(
  dependencies: SponsoredQuoteDependencies,
  terms: SponsorshipTerms,
  { quote, request }: QuoteRecord,
  { allocation, debitMicroUsd }: SponsorshipOutcome,
): HoldRequest {
  const { route } = quote.priced
  const { origin, destination } = route
  return {
    requestId: quote.requestId,
    sponsor: terms.sponsor,
    apiKeyId: terms.apiKeyId,
    user: origin.codec.canonicalAddress(route.user),
    recipient: destination.codec.canonicalAddress(route.recipient),
    originChainId: origin.chainId,
    destinationChainId: destination.chainId,
    components: sponsoredComponents.filter((component) => allocation.sponsored[component] > 0n),
    amountMicroUsd: debitMicroUsd,
    lifetimeSeconds: dependencies.quoteLifetimeSeconds + holdGraceSeconds,
    requoteKey: requoteKey(terms.apiKeyId, route, request),
  }
}

/**
 * Equal for quotes of which a user executes only one, so that a newer hold may replace an older one: same key, user,
 * recipient, currencies with their chains, and trade type. 64 hex digits. @source rule L-44
 */
function requoteKey(apiKeyId: string, route: Route, { tradeType }: QuoteRequest): string {
  const { origin, destination, currencyIn, currencyOut, user, recipient } = route
  const parts = [
    apiKeyId,
    origin.codec.canonicalAddress(user),
    destination.codec.canonicalAddress(recipient),
    currencyIn.key,
    currencyOut.key,
    tradeType,
  ]
  return createHash('sha256').update(parts.join('\n')).digest('hex')
}
