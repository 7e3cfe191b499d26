import {
  type AppFeeClaimTypedData,
  appFeeClaimDigest,
  appFeeClaimTypedData,
  bytesToHex,
  formatAmount,
  type Hex,
} from '@causeway/core'
import type { MarketSnapshot } from '@causeway/market'
import { QuoteError } from '../../pricing/errors.ts'
import { refundCost } from '../../pricing/gas.ts'
import {
  findCurrency,
  type QuotableChain,
  type QuotableCurrency,
  type QuoteRegistry,
} from '../../pricing/registry.ts'
import { enabledChain } from '../../pricing/route.ts'
import { InsufficientAppFeesError } from './claimErrors.ts'

/** What a wallet asks for. Addresses are lower case. */
export type ClaimRequest = {
  readonly wallet: Hex
  readonly chainId: number
  readonly currency: string
  readonly recipient: Hex
  /** Smallest units; absent: all that can be claimed. */
  readonly amount: bigint | undefined
}

/** What the wallet's signature agrees to. */
export type ClaimTerms = ClaimRequest & { readonly amount: bigint }

/** Everything about a claim but its amount. */
export type ClaimPlace = { readonly chain: QuotableChain; readonly currency: QuotableCurrency }

/** @throws QuoteError UNSUPPORTED_CHAIN, CHAIN_DISABLED, UNSUPPORTED_CURRENCY, INVALID_RECIPIENT */
export function resolveClaim(registry: QuoteRegistry, request: ClaimRequest): ClaimPlace {
  const { chainId, recipient } = request
  const chain = enabledChain(registry, chainId, 'chainId')
  if (!chain.quoting.paysAppFeeClaims) {
    throw new QuoteError('UNSUPPORTED_CHAIN', `Nothing can be claimed on chain ${chainId}.`, {
      data: { field: 'chainId', chainId },
    })
  }
  const currency = findCurrency(chain, request.currency)
  if (currency === undefined) {
    throw new QuoteError('UNSUPPORTED_CURRENCY', `currency is no currency of chain ${chainId}.`, {
      data: { field: 'currency', chainId },
    })
  }
  const isContract = chain.depository === recipient || chain.config.fillContract === recipient
  if (isContract || chain.currencies.has(recipient)) {
    throw new QuoteError('INVALID_RECIPIENT', 'recipient cannot be paid: name an account.', {
      data: { field: 'recipient', chainId },
    })
  }
  return { chain, currency }
}

/**
 * Whether the recipient must have no code: his payout could not be proven, so it would never end, and what never
 * ends is an alarm that stops every reservation. @source design.md 7.2; ledger-and-safety.md 1.1, I7
 */
export function mustHaveNoCode({ chain, currency }: ClaimPlace): boolean {
  return currency.isNative && !chain.isTraced
}

export function recipientHasCode({ chain }: ClaimPlace, recipient: Hex): QuoteError {
  const { native, chainId } = chain
  return new QuoteError(
    'RECIPIENT_HAS_CODE',
    `${recipient} has code on chain ${chainId}, where nobody can prove that ${native.symbol} stays with code. Name a recipient without code.`,
    { data: { field: 'recipient', chainId, recipient, payment: 'claim' } },
  )
}

/**
 * How much is claimed. An amount that costs more gas to pay out than it is worth is refused, so that nobody can
 * spend the solver's gas on dust.
 * @throws InsufficientAppFeesError, QuoteError AMOUNT_TOO_LOW, PRICE_FETCH_FAILED, SERVICE_UNAVAILABLE
 */
export function claimAmount(args: {
  readonly place: ClaimPlace
  readonly snapshot: MarketSnapshot
  readonly claimable: bigint
  readonly asked: bigint | undefined
}): bigint {
  const { place, snapshot, claimable, asked } = args
  const amount = asked ?? claimable
  const minimumAmount = refundCost(snapshot, place.chain, place.currency)
  if (amount > claimable || claimable === 0n) throw new InsufficientAppFeesError(claimable)
  if (amount === 0n || amount < minimumAmount) {
    throw new QuoteError('AMOUNT_TOO_LOW', 'The amount is too low: paying it out costs more gas.', {
      data: {
        field: 'amount',
        minimumAmount: minimumAmount.toString(),
        currency: place.currency.address,
        chainId: place.chain.chainId,
      },
    })
  }
  return amount
}

/**
 * What the wallet signs, and the 32 bytes that it comes to: they stand for the claim, and whoever signs them saw
 * all of its terms and agrees to them, at this service alone.
 * @param once.nonce random, so that equal claims differ
 * @source quote-api.md 3.8; EIP-712
 */
export function claimToSign(
  terms: ClaimTerms,
  { chain, currency }: ClaimPlace,
  once: { readonly site: string; readonly nonce: Hex },
): { readonly claimId: Hex; readonly typedData: AppFeeClaimTypedData } {
  const { wallet, chainId, recipient, amount } = terms
  const signed = {
    ...{ service: once.site, chainId, wallet, recipient, amount, nonce: once.nonce },
    currency: chain.quoting.hexAddress(currency.address),
    pays: `${formatAmount(amount, currency.decimals)} ${currency.symbol}`,
  }
  return { claimId: bytesToHex(appFeeClaimDigest(signed)), typedData: appFeeClaimTypedData(signed) }
}
