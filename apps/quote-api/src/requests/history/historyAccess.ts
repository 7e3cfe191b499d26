import type { Sponsors } from '../../access/wallets/sponsors.ts'
import { QuoteError } from '../../pricing/errors.ts'

/** The key of a request, as routes have it. */
type Caller = { readonly keyId: string } | null

/** @throws QuoteError UNAUTHORIZED without a key */
export function requireKey(caller: Caller): string {
  if (caller !== null) return caller.keyId
  throw new QuoteError('UNAUTHORIZED', 'This needs a valid x-api-key.')
}

/**
 * What belongs to a wallet is for keys that the wallet was linked to.
 * @throws QuoteError UNAUTHORIZED without a key, FORBIDDEN for a key of another wallet or of none
 * @source design.md 6.10
 */
export async function requireKeyOfWallet(sponsors: Sponsors, caller: Caller, wallet: string): Promise<void> {
  const linked = await sponsors.walletOf(requireKey(caller))
  if (linked === wallet.toLowerCase()) return
  throw new QuoteError('FORBIDDEN', 'The API key is not linked to this wallet.')
}
