import type { Hex, PermitTerms, TokenDomain } from '@causeway/core'
import { QuoteError } from './errors.ts'
import type { PricedRoute } from './pricedRoute.ts'
import type { QuotableChain, QuotableCurrency } from './registry.ts'
import type { QuoteRequest } from './request.ts'

export type PermitToken = Pick<QuotableCurrency, 'key' | 'chainId' | 'address' | 'symbol'>

/** What tokens say about what their owners sign. */
export interface PermitTokens {
  /**
   * The token's EIP-712 domain, compared with its own separator.
   * @throws QuoteError UNSUPPORTED_CURRENCY when they differ, SERVICE_UNAVAILABLE
   */
  domainOf(token: PermitToken): Promise<TokenDomain>
  /** `nonces(owner)` of an EIP-2612 token. @throws QuoteError SERVICE_UNAVAILABLE */
  nonceOf(token: PermitToken, owner: Hex): Promise<bigint>
}

/**
 * What the user signs instead of sending a deposit. The signature ends with the order at the latest.
 * @throws QuoteError UNSUPPORTED_CURRENCY, UNSUPPORTED_EXECUTION_TYPE, SERVICE_UNAVAILABLE
 * @source quote-api.md 2.1 (permitExpiry), 2.5
 */
export async function permitTerms(
  tokens: PermitTokens,
  { route, amountIn }: PricedRoute,
  request: Pick<QuoteRequest, 'permitExpirySeconds'>,
  order: { readonly orderId: Hex; readonly nowSeconds: number; readonly deadlineSeconds: number },
): Promise<PermitTerms> {
  const { currencyIn, origin } = route
  const { permit: kind } = currencyIn
  const router = origin.config.permitRouter
  if (kind === 'none' || router === undefined) throw permitsNotRelayed(origin.chainId)
  const token = origin.quoting.hexAddress(currencyIn.address)
  const owner = origin.quoting.hexAddress(route.user)
  const terms = {
    token,
    owner,
    amount: amountIn,
    deadlineSeconds: Math.min(order.nowSeconds + request.permitExpirySeconds, order.deadlineSeconds),
    orderId: order.orderId,
    router,
  }
  const domain = await tokens.domainOf(currencyIn)
  if (kind === 'eip3009') return { ...terms, domain, kind }
  return { ...terms, domain, kind, nonce: await tokens.nonceOf(currencyIn, owner) }
}

/** Whether a currency can be deposited by signature: as it is, because nobody swaps it in between. */
export function takesPermits({ config }: QuotableChain, { permit, asset }: QuotableCurrency): boolean {
  return permit !== 'none' && config.permitRouter !== undefined && asset.inventory !== undefined
}

export function permitsNotRelayed(chainId: number): QuoteError {
  return new QuoteError('UNSUPPORTED_EXECUTION_TYPE', `Permits are not relayed on chain ${chainId}.`, {
    data: { field: 'usePermit', chainId },
  })
}
