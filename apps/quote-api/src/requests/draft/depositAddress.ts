import { type DepositAddressTerms, depositAddressOf, type Hex } from '@causeway/core'
import { QuoteError } from '../../pricing/errors.ts'
import { needsOriginSwap } from '../../pricing/executionMode.ts'
import type { QuotableChain, QuotableCurrency } from '../../pricing/registry.ts'
import type { QuoteRequest } from '../../pricing/request.ts'
import { refundRecipient } from '../../pricing/request.ts'
import type { Route } from '../../pricing/route.ts'

/** An address that is paid instead of calling the depository. */
export type DepositAddress = {
  /** Lower case. */
  readonly address: Hex
  readonly terms: DepositAddressTerms
}

/** Whether a currency of the chain can be paid to a deposit address: what the quote of one asks as well. */
export function takesDepositAddresses(
  { config }: QuotableChain,
  currency: QuotableCurrency,
  fillWallet: string | undefined,
): boolean {
  const hasAddresses = config.depositAddresses !== undefined && fillWallet !== undefined
  return config.enabled && hasAddresses && !needsOriginSwap(currency)
}

/**
 * An address that nobody has used. Whoever is refunded is also credited with the deposits, so that both
 * ways back end with the same party.
 * @throws QuoteError UNSUPPORTED_EXECUTION_TYPE where nobody could empty it, INVALID_ADDRESS where nobody
 * could be refunded
 */
export function newDepositAddress(
  route: Route,
  request: QuoteRequest,
  parties: { readonly orderSigner: Hex; readonly fillWallet: string | undefined; readonly nonce: Hex },
): DepositAddress {
  const { origin } = route
  const { depositAddresses } = origin.config
  const { orderSigner, fillWallet, nonce } = parties
  if (depositAddresses === undefined || fillWallet === undefined) {
    throw new QuoteError(
      'UNSUPPORTED_EXECUTION_TYPE',
      `Chain ${origin.chainId} has no deposit addresses; leave useDepositAddress out.`,
      { data: { field: 'useDepositAddress', chainId: origin.chainId } },
    )
  }
  const depositor = origin.codec.canonicalAddress(refundRecipient(request, origin, route.user))
  if (depositor === origin.codec.nativeCurrency) {
    throw new QuoteError('INVALID_ADDRESS', 'A deposit address needs somebody to refund: name refundTo.', {
      data: { field: 'refundTo' },
    })
  }
  const { hexAddress } = origin.quoting
  const terms = {
    orderSigner: hexAddress(orderSigner),
    sweeper: hexAddress(fillWallet),
    depositor: hexAddress(depositor),
    nonce,
  }
  return { address: depositAddressOf(terms, depositAddresses), terms }
}
