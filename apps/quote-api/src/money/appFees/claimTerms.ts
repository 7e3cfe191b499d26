import {
  type AppFeeClaimTypedData,
  appFeeClaimDigest,
  appFeeClaimTypedData,
  bytesToHex,
  convertUp,
  formatAmount,
  type Hex,
} from '@causeway/core'
import type { AccountLack } from '@causeway/families/rules'
import type { MarketSnapshot } from '@causeway/market'
import { QuoteError } from '../../pricing/errors.ts'
import { networkFees, refundCost } from '../../pricing/fees/gas.ts'
import { requirePrice } from '../../pricing/market/marketAccess.ts'
import {
  findCurrency,
  type QuotableChain,
  type QuotableCurrency,
  type QuoteRegistry,
} from '../../pricing/registry.ts'
import { checkRecipient, enabledChain } from '../../pricing/routes/route.ts'
import { InsufficientAppFeesError } from './claimErrors.ts'

/** Claim as a wallet asks for it; the recipient as it was written. */
export type ClaimRequest = {
  /** Lower case. */
  readonly wallet: Hex
  readonly chainId: number
  readonly currency: string
  readonly recipient: string
  /** Smallest units; absent: all that can be claimed. */
  readonly amount: bigint | undefined
}

/** Terms that the wallet's signature covers, every address in the spelling of its chain. */
export type ClaimTerms = ClaimRequest & {
  readonly amount: bigint
  /** A part of the amount that is not paid out: what the recipient takes beyond a plain payment. */
  readonly charged: bigint
}

/** Everything about a claim but its amount. */
export type ClaimPlace = {
  readonly chain: QuotableChain
  readonly currency: QuotableCurrency
  /** Canonical. */
  readonly recipient: string
}

/** @throws QuoteError UNSUPPORTED_CHAIN, CHAIN_DISABLED, UNSUPPORTED_CURRENCY, INVALID_ADDRESS, INVALID_RECIPIENT */
export function resolveClaim(registry: QuoteRegistry, request: ClaimRequest): ClaimPlace {
  const { chainId } = request
  const chain = enabledChain(registry, chainId, 'chainId')
  const currency = findCurrency(chain, request.currency)
  if (currency === undefined) {
    throw new QuoteError('UNSUPPORTED_CURRENCY', `currency is no currency of chain ${chainId}.`, {
      data: { field: 'currency', chainId },
    })
  }
  if (chain.payees.isBurnt(request.recipient)) {
    throw new QuoteError(
      'INVALID_RECIPIENT',
      'recipient is an account that nobody holds: name another one.',
      {
        data: { field: 'recipient', chainId },
      },
    )
  }
  checkRecipient(chain, request.recipient)
  return { chain, currency, recipient: chain.codec.canonicalAddress(request.recipient) }
}

/**
 * Amount of a claim, in smallest units. An amount that costs more gas to pay out than it is worth is refused, so that
 * dust cannot spend the solver's gas.
 * @throws InsufficientAppFeesError, QuoteError AMOUNT_TOO_LOW, PRICE_FETCH_FAILED, SERVICE_UNAVAILABLE
 */
export function claimAmount(args: {
  readonly place: Pick<ClaimPlace, 'chain' | 'currency'>
  readonly snapshot: MarketSnapshot
  readonly claimable: bigint
  readonly asked: bigint | undefined
}): bigint {
  const { place, snapshot, claimable, asked: requestedAmount } = args
  const amount = requestedAmount ?? claimable
  if (amount > claimable || claimable === 0n) throw new InsufficientAppFeesError(claimable)
  requireWorth(place, snapshot, { amount, charged: 0n })
  return amount
}

/** @throws QuoteError AMOUNT_TOO_LOW where paying a claim out costs more than it is worth */
export function requireWorth(
  place: Pick<ClaimPlace, 'chain' | 'currency'>,
  snapshot: MarketSnapshot,
  { amount, charged }: Pick<ClaimTerms, 'amount' | 'charged'>,
): void {
  const minimumAmount = refundCost(snapshot, place.chain, place.currency) + charged
  if (amount <= charged || amount < minimumAmount) {
    throw new QuoteError('AMOUNT_TOO_LOW', 'The amount is too low: paying it out costs more gas.', {
      data: {
        field: 'amount',
        minimumAmount: minimumAmount.toString(),
        currency: place.currency.address,
        chainId: place.chain.chainId,
      },
    })
  }
}

/**
 * The cost of a recipient beyond a plain payment, in smallest units of the claim's currency, rounded up.
 * @param taken units beyond a plain payment, and what the account lacks
 * @source Q-68
 */
export function claimCharge(
  { chain, currency }: Pick<ClaimPlace, 'chain' | 'currency'>,
  snapshot: MarketSnapshot,
  { overheadUnits, lack }: { readonly overheadUnits: bigint; readonly lack: AccountLack },
): bigint {
  const fees = networkFees(snapshot, chain)
  const plain = { kind: 'refund', isNative: currency.isNative } as const
  const cost = fees.costOf({ ...plain, overheadUnits, lack }) + fees.rentOf(lack) - fees.costOf(plain)
  return cost <= 0n
    ? 0n
    : convertUp(cost, requirePrice(snapshot, chain.native), requirePrice(snapshot, currency))
}

/** Charge for the gas of a claim's payout, in smallest units of the native coin. */
export function gasChargedFor(
  { chain, currency }: Pick<ClaimPlace, 'chain' | 'currency'>,
  snapshot: MarketSnapshot,
  { charged }: Pick<ClaimTerms, 'charged'>,
): bigint {
  const plain = networkFees(snapshot, chain).costOf({ kind: 'refund', isNative: currency.isNative })
  if (charged === 0n) return plain
  return plain + convertUp(charged, requirePrice(snapshot, currency), requirePrice(snapshot, chain.native))
}

/**
 * Typed data of a claim and its 32-byte digest, which is the claim's id. A signature of it covers all terms, at this
 * service alone.
 * @param once.nonce random, so that equal claims differ
 * @source rule L-78; EIP-712
 */
export function claimToSign(
  terms: ClaimTerms,
  { currency }: Pick<ClaimPlace, 'currency'>,
  claimChallenge: { readonly site: string; readonly nonce: Hex },
): { readonly claimId: Hex; readonly typedData: AppFeeClaimTypedData } {
  const { wallet, chainId, recipient, amount, charged } = terms
  const signed = {
    ...{ service: claimChallenge.site, chainId, wallet, recipient, amount, nonce: claimChallenge.nonce },
    currency: currency.address,
    pays: `${formatAmount(amount - charged, currency.decimals)} ${currency.symbol}`,
  }
  return { claimId: bytesToHex(appFeeClaimDigest(signed)), typedData: appFeeClaimTypedData(signed) }
}
