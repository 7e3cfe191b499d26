import {
  type AppFeeClaimTypedData,
  appFeeClaimDigest,
  appFeeClaimTypedData,
  bytesToHex,
  convertUp,
  formatAmount,
  type Hex,
} from '@causeway/core'
import type { AccountLack, NetworkFees } from '@causeway/families/rules'
import type { MarketSnapshot } from '@causeway/market'
import { QuoteError } from '../../pricing/errors.ts'
import { networkFees, refundCost } from '../../pricing/fees/gas.ts'
import { checkLeastPayment } from '../../pricing/fees/recipientLack.ts'
import { requirePrice } from '../../pricing/market/marketAccess.ts'
import {
  findCurrency,
  type QuotableChain,
  type QuotableCurrency,
  type QuoteRegistry,
} from '../../pricing/registry.ts'
import { checkRecipient, enabledChain } from '../../pricing/routes/route.ts'
import { InsufficientAppFeesError } from './claimErrors.ts'

/** A claim of app fees as a caller asks for it; currency and recipient as he wrote them. */
export type ClaimRequest = {
  /** Lower case. */
  readonly wallet: Hex
  readonly chainId: number
  readonly currency: string
  readonly recipient: string
  /** Smallest units; absent: all that can be claimed. */
  readonly amount: bigint | undefined
}

/** Terms that the wallet's signature covers. Addresses are in their canonical spelling, amounts in smallest units. */
export type ClaimTerms = ClaimRequest & {
  readonly amount: bigint
  /** Part of the amount that is kept for what paying this recipient costs beyond a plain payment. */
  readonly charged: bigint
}

/** Everything about a claim but its amount. */
export type ClaimTarget = {
  readonly chain: QuotableChain
  readonly currency: QuotableCurrency
  /** Canonical. */
  readonly recipient: string
}

/**
 * Finds chain and currency of a claim, and checks its recipient.
 * @throws QuoteError UNSUPPORTED_CHAIN, CHAIN_DISABLED, UNSUPPORTED_CURRENCY, INVALID_ADDRESS, INVALID_RECIPIENT
 */
export function resolveClaim(registry: QuoteRegistry, request: ClaimRequest): ClaimTarget {
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
      { data: { field: 'recipient', chainId } },
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
  readonly target: Pick<ClaimTarget, 'chain' | 'currency'>
  readonly snapshot: MarketSnapshot
  readonly claimable: bigint
  readonly asked: bigint | undefined
}): bigint {
  const { target, snapshot, claimable, asked: requestedAmount } = args
  const amount = requestedAmount ?? claimable
  if (amount > claimable || claimable === 0n) throw new InsufficientAppFeesError(claimable)
  // The charge for this recipient is not known yet; with it the worth is checked again.
  requireWorth(target, snapshot, { amount, charged: 0n })
  return amount
}

/** @throws QuoteError AMOUNT_TOO_LOW where paying a claim out costs more than it is worth */
export function requireWorth(
  target: Pick<ClaimTarget, 'chain' | 'currency'>,
  snapshot: MarketSnapshot,
  { amount, charged }: Pick<ClaimTerms, 'amount' | 'charged'>,
): void {
  // A claim is paid as a refund is, by one plain payment, so that it costs the same.
  const minimumAmount = refundCost(snapshot, target.chain, target.currency) + charged
  // `amount <= charged`: where a payment costs nothing, something must still be left after the charge.
  if (amount <= charged || amount < minimumAmount) {
    throw new QuoteError('AMOUNT_TOO_LOW', 'The amount is too low: paying it out costs more gas.', {
      data: {
        field: 'amount',
        minimumAmount: minimumAmount.toString(),
        currency: target.currency.address,
        chainId: target.chain.chainId,
      },
    })
  }
}

/**
 * Refuses a claim of which the recipient's network would not keep what is left after the charge. Pure.
 * @throws QuoteError AMOUNT_TOO_LOW
 * @source rule F-144
 */
export function requireKept(
  fees: NetworkFees,
  {
    amount,
    charged,
    ...payee
  }: Pick<ClaimTerms, 'amount' | 'charged'> & {
    readonly lack: AccountLack
    readonly currency: Pick<QuotableCurrency, 'isNative' | 'symbol' | 'decimals'>
  },
): void {
  checkLeastPayment(fees, { ...payee, amount: amount - charged })
}

/**
 * The cost of a recipient beyond a plain payment, in smallest units of the claim's currency, rounded up. A
 * plain payment itself is free for the wallet.
 * @param recipientCosts gas units beyond a plain payment, and what the account lacks to be paid
 * @source Q-68
 */
export function claimCharge(
  { chain, currency }: Pick<ClaimTarget, 'chain' | 'currency'>,
  snapshot: MarketSnapshot,
  recipientCosts: { readonly overheadUnits: bigint; readonly lack: AccountLack },
): bigint {
  const { overheadUnits, lack } = recipientCosts
  const fees = networkFees(snapshot, chain)
  const plain = plainPayment(currency)
  const extraCost = fees.costOf({ ...plain, overheadUnits, lack }) + fees.rentOf(lack) - fees.costOf(plain)
  return extraCost <= 0n
    ? 0n
    : convertUp(extraCost, requirePrice(snapshot, chain.native), requirePrice(snapshot, currency))
}

/** A payout costs the gas of a refund: both are one plain payment of the solver. */
const plainPayment = ({ isNative }: QuotableCurrency) => ({ kind: 'refund', isNative }) as const

/** Most that the solver may spend on a payout's gas, in units of the native coin: a plain payment's gas, and `charged`. */
export function gasChargedFor(
  { chain, currency }: Pick<ClaimTarget, 'chain' | 'currency'>,
  snapshot: MarketSnapshot,
  { charged }: Pick<ClaimTerms, 'charged'>,
): bigint {
  const plainCost = networkFees(snapshot, chain).costOf(plainPayment(currency))
  if (charged === 0n) return plainCost
  return (
    plainCost + convertUp(charged, requirePrice(snapshot, currency), requirePrice(snapshot, chain.native))
  )
}

/**
 * Typed data of a claim and its 32-byte digest, which is the claim's id. A signature of it covers all terms, and is valid
 * at this service only.
 * @param claimChallenge.nonce random, so that equal claims differ
 * @source rule L-78; EIP-712
 */
export function claimToSign(
  terms: ClaimTerms,
  { currency }: Pick<ClaimTarget, 'currency'>,
  claimChallenge: { readonly site: string; readonly nonce: Hex },
): { readonly claimId: Hex; readonly typedData: AppFeeClaimTypedData } {
  const { wallet, chainId, recipient, amount, charged } = terms
  const claim = {
    service: claimChallenge.site,
    chainId,
    wallet,
    recipient,
    amount,
    nonce: claimChallenge.nonce,
    currency: currency.address,
    pays: `${formatAmount(amount - charged, currency.decimals)} ${currency.symbol}`,
  }
  return { claimId: bytesToHex(appFeeClaimDigest(claim)), typedData: appFeeClaimTypedData(claim) }
}
