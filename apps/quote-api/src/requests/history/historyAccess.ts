import type { Sponsors } from '../../access/wallets/sponsors.ts'
import { QuoteError } from '../../pricing/errors.ts'
import type { RequestFilter } from './requestFilter.ts'
import type { RequestHistory } from './requestHistory.ts'

/** API key of an HTTP request, as routes pass it; null without one. */
export type Caller = { readonly keyId: string } | null

/** @throws QuoteError UNAUTHORIZED without a key */
export function requireKey(caller: Caller): string {
  if (caller !== null) return caller.keyId
  throw new QuoteError('UNAUTHORIZED', 'This needs a valid x-api-key.')
}

/**
 * Requires a key that the wallet is linked to, because its records are private.
 * @throws QuoteError UNAUTHORIZED without a key, FORBIDDEN for a key of another wallet or of none
 */
export async function requireKeyOfWallet(sponsors: Sponsors, caller: Caller, wallet: string): Promise<void> {
  const linked = await sponsors.walletOf(requireKey(caller))
  if (linked === wallet.toLowerCase()) return
  throw new QuoteError('FORBIDDEN', 'The API key is not linked to this wallet.')
}

/** Filter that access rules add to those that the caller asked for. */
type Scope = Pick<RequestFilter, 'apiKeyId' | 'user' | 'depositAddress'>

/**
 * Decides which requests a caller may list. A request or deposit address that the caller names is no secret, so it is
 * answered with and without a key. All other lists contain requests of the caller's key, or those of any key for the
 * caller's own wallet.
 * @param question.isNamed true if the query names a request or a deposit address
 * @param question.asksForOwners true if a filter would reveal what only the owner of a request may see
 * @param question.user user of the wanted requests, which may also be a deposit address
 * @param question.ofWallet true if requests of `user` made with any key are wanted
 * @throws QuoteError UNAUTHORIZED
 * @source
 */
export async function scopeOfRequests(
  dependencies: { readonly sponsors: Sponsors; readonly history: RequestHistory },
  caller: Caller,
  question: {
    readonly isNamed: boolean
    readonly asksForOwners: boolean
    readonly user: string | undefined
    readonly ofWallet: boolean
  },
): Promise<Scope> {
  const { isNamed, asksForOwners, user, ofWallet } = question
  if (asksForOwners) return { apiKeyId: requireKey(caller) }
  if (isNamed) return {}
  // The undefined `user` removes the caller's filter of that name, which named a deposit address.
  if (user !== undefined && (await dependencies.history.isDepositAddress(user)))
    return { user: undefined, depositAddress: user }
  const apiKeyId = requireKey(caller)
  const isOwnWallet =
    ofWallet && user !== undefined && (await dependencies.sponsors.walletOf(apiKeyId)) === user.toLowerCase()
  // The caller's own filter by `user`, which is his wallet, limits the list.
  return isOwnWallet ? {} : { apiKeyId }
}
