import type { Hex } from '@causeway/core'
import type { PermitKind, PermitTerms, PermittedCall, TokenDomain } from '@causeway/families/rules'
import { QuoteError } from '../errors.ts'
import type { QuotableChain, QuotableCurrency } from '../registry.ts'
import type { QuoteRequest } from '../request.ts'
import type { Route } from './route.ts'

export type PermitToken = Pick<QuotableCurrency, 'key' | 'chainId' | 'address' | 'symbol'>

/** Facts that tokens publish for signed permits. */
export interface PermitTokens {
  /**
   * The token's EIP-712 domain, compared with its own separator.
   * @throws QuoteError UNSUPPORTED_CURRENCY when they differ, SERVICE_UNAVAILABLE
   */
  domainOf(token: PermitToken): Promise<TokenDomain>
  /** `nonces(owner)` of an EIP-2612 token. @throws QuoteError SERVICE_UNAVAILABLE */
  nonceOf(token: PermitToken, owner: Hex): Promise<bigint>
}

/** Kind of permit that deposits a currency on its chain; undefined if it has none. */
export function permitKindOf(
  { config }: Pick<QuotableChain, 'config'>,
  { permit, asset, isNative }: Pick<QuotableCurrency, 'permit' | 'asset' | 'isNative'>,
): PermitKind | undefined {
  if (isNative) return undefined
  // A token's own permit pays the depository directly, so an asset that must be swapped first cannot use it.
  const hasOwnPermit = permit !== 'none' && config.permitRouter !== undefined && asset.inventory !== undefined
  if (hasOwnPermit) return permit
  return config.permit2Router === undefined ? undefined : 'permit2'
}

/**
 * Terms that the user signs instead of sending a deposit. The signature expires with the order at the latest.
 * @param relay.from account whose transaction may use a signature for Permit2
 * @param relay.calls calls that the user would send as a deposit
 * @throws QuoteError UNSUPPORTED_CURRENCY, UNSUPPORTED_EXECUTION_TYPE, SERVICE_UNAVAILABLE
 * @source rule Q-191
 */
export async function permitTerms(
  tokens: PermitTokens,
  deposit: { readonly route: Route; readonly amountIn: bigint; readonly amountInMax: bigint },
  request: Pick<QuoteRequest, 'permitExpirySeconds'>,
  order: { readonly orderId: Hex; readonly nowSeconds: number; readonly deadlineSeconds: number },
  relay: { readonly from: string | undefined; readonly calls: () => readonly PermittedCall[] },
): Promise<PermitTerms> {
  const { route, amountIn, amountInMax } = deposit
  const { currencyIn, origin } = route
  const { permitRouter, permit2Router } = origin.config
  const kind = permitKindOf(origin, currencyIn)
  const token = origin.quoting.hexAddress(currencyIn.address)
  const owner = origin.quoting.hexAddress(route.user)
  const terms = {
    token,
    owner,
    deadlineSeconds: Math.min(order.nowSeconds + request.permitExpirySeconds, order.deadlineSeconds),
    orderId: order.orderId,
  }
  if (kind === 'permit2' && permit2Router !== undefined && relay.from !== undefined) {
    const relayer = origin.quoting.hexAddress(relay.from)
    const calls = relay.calls()
    const { chainId } = origin
    return { ...terms, kind, amount: amountInMax, chainId, router: permit2Router, relayer, calls }
  }
  // `permit2` comes here without its router, or without an account that relays.
  if (kind === undefined || kind === 'permit2' || permitRouter === undefined)
    throw permitsNotRelayed(origin.chainId)
  // A token's own permit is used without a swap, so its amount is exact.
  const domain = await tokens.domainOf(currencyIn)
  const tokenTerms = { ...terms, amount: amountIn, router: permitRouter, domain }
  if (kind === 'eip3009') return { ...tokenTerms, kind }
  return { ...tokenTerms, kind, nonce: await tokens.nonceOf(currencyIn, owner) }
}

/** True if the currency has a permit of its own that this service accepts. */
export function takesPermits(chain: QuotableChain, currency: QuotableCurrency): boolean {
  const kind = permitKindOf(chain, currency)
  return kind !== undefined && kind !== 'permit2'
}

export function permitsNotRelayed(chainId: number): QuoteError {
  return new QuoteError('UNSUPPORTED_EXECUTION_TYPE', `Permits are not relayed on chain ${chainId}.`, {
    data: { field: 'usePermit', chainId },
  })
}
