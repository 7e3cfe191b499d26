import { formatAmount, formatRate, mulDivDown, sponsoredComponents } from '@causeway/core'
import { z } from 'zod'
import { findCurrency, type QuoteRegistry } from '../../pricing/registry.ts'
import type { SponsorCurrency } from '../../pricing/sponsorship/sponsorCurrency.ts'
import type { SponsorshipReason } from '../../pricing/sponsorship/sponsorshipTerms.ts'
import type { RequestRecord, RequestTransaction } from '../../requests/history/requestHistory.ts'
import {
  type CurrencyWire,
  currencyAmountSchema,
  currencyToWire,
  valuedAmountToWire,
} from './currencyAmount.ts'
import { feeSponsorshipToWire, type SharedFees } from './feeSponsorship.ts'

// Parts that /requests/v2 and /requests/v3 share.

/** The two sides of a request, as they were quoted. */
export const requestMetadataSchema = z.object({
  sender: z.string(),
  recipient: z.string(),
  currencyIn: currencyAmountSchema,
  currencyOut: currencyAmountSchema,
  rate: z.string(),
})

export function requestMetadata(registry: QuoteRegistry, record: RequestRecord) {
  const { quoted, originChainId, destinationChainId } = record
  const { amountIn, amountOut, amountOutMin, units } = quoted
  return {
    sender: record.user,
    recipient: record.recipient,
    currencyIn: valuedAmountToWire(
      pastCurrency(registry, originChainId, quoted.originCurrency, units.in.decimals),
      units.in,
      amountIn,
    ),
    currencyOut: valuedAmountToWire(
      pastCurrency(registry, destinationChainId, quoted.destinationCurrency, units.out.decimals),
      units.out,
      amountOut,
      amountOutMin,
    ),
    rate: formatRate({
      amountIn,
      decimalsIn: units.in.decimals,
      amountOut,
      decimalsOut: units.out.decimals,
    }),
  }
}

/** View of a request for one caller. */
export type RequestView = {
  readonly includeOrderData: boolean
  /** Currency of the debits of sponsors. */
  readonly sponsorCurrency: SponsorCurrency
  /** The caller's key; undefined without one. */
  readonly apiKeyId: string | undefined
}

/** True for the key that made the request: only it is shown the sponsor and the referrer. @source Q-104 */
export function isOwn({ apiKeyId }: RequestRecord, view: RequestView): boolean {
  return apiKeyId !== undefined && apiKeyId === view.apiKeyId
}

/** The member beside `orderData`, if the order was signed. */
export function signatureMember({ orderSignature }: RequestRecord): { readonly orderSignature?: string } {
  return orderSignature === undefined ? {} : { orderSignature }
}

/** Asset id of the currency of all fees but origin gas; empty once it is not configured any more. */
export function pastFeeAsset(registry: QuoteRegistry, { originChainId, quoted }: RequestRecord): string {
  const chain = registry.chainById.get(originChainId)
  return (chain && findCurrency(chain, quoted.feeCurrency))?.asset.id ?? ''
}

/** The currency of all fees but origin gas. */
export function pastFeeCurrency(
  registry: QuoteRegistry,
  { originChainId, quoted }: RequestRecord,
): CurrencyWire {
  return pastCurrency(registry, originChainId, quoted.feeCurrency, quoted.units.fee.decimals)
}

/** A currency as it is configured, or what is still known of one that no longer is. */
function pastCurrency(
  registry: QuoteRegistry,
  chainId: number,
  address: string,
  decimals: number,
): CurrencyWire {
  const chain = registry.chainById.get(chainId)
  const currency = chain === undefined ? undefined : findCurrency(chain, address)
  if (currency !== undefined) return currencyToWire(currency)
  return { chainId, address, symbol: '', name: '', decimals }
}

const microUsdDecimals = 6

/**
 * Quoted shares of user and sponsor, and those of the deposit with the sponsor's payment; undefined where the
 * request asked for no sponsorship. A smaller deposit than the quoted one was debited less than
 * `debitMicroUsd`, and has that part of each amount, rounded down. @source rule L-10
 */
export function pastFeeSponsorship(
  registry: QuoteRegistry,
  record: RequestRecord,
  sponsorCurrency: SponsorCurrency,
) {
  const { sponsorship, quoted } = record
  if (sponsorship === undefined) return undefined
  const { selected, capMicroUsd, capHit, reason, fees, sponsored } = sponsorship.quoted
  const currency = pastFeeCurrency(registry, record)
  const shared: SharedFees = {
    unit: quoted.units.fee,
    selected,
    capMicroUsd,
    parts: quoted.fees,
    sponsorable: fees,
    isHeldAtDeposit: sponsorship.isHeldAtDeposit,
    allocation: {
      sponsored,
      total: sponsoredComponents.reduce((sum, component) => sum + sponsored[component], 0n),
      capHit,
      // CAST: written from a reason by `toStoredSponsorship`.
      reason: reason as SponsorshipReason | undefined,
    },
  }
  const wire = feeSponsorshipToWire(currency, shared)
  const { debitMicroUsd, debitedMicroUsd: debited } = sponsorship
  if (debited === undefined) return wire
  const sponsorPayment = {
    amount: debited.toString(),
    amountFormatted: formatAmount(debited, microUsdDecimals),
    address: sponsorCurrency.currency,
    chainId: sponsorCurrency.chainId,
  }
  // Only a hold is debited, and none is made of 0: the divisor is above 0.
  const { quoted: shares } = feeSponsorshipToWire(currency, shared, (value) =>
    mulDivDown(value, debited, debitMicroUsd),
  )
  return { ...wire, actual: { ...shares, sponsorPayment } }
}

/** Transactions of a request: incoming from the user, outgoing to recipient or refund. */
export function splitTransactions(record: RequestRecord): {
  incoming: readonly RequestTransaction[]
  outgoing: readonly RequestTransaction[]
} {
  return {
    incoming: record.transactions.filter(({ role }) => role === 'deposit'),
    outgoing: record.transactions.filter(({ role }) => role !== 'deposit'),
  }
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
