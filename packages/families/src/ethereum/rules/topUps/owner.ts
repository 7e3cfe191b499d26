import type { Hex } from '@causeway/core'
import type { TopUpTarget } from './topUp.ts'

export const zeroAddress: Hex = `0x${'0'.repeat(40)}`

const lastPrecompile = 0x11n

/**
 * True if a top-up may be credited to this account. False for custody, the operator's own accounts, the token,
 * precompiles 0x1 to 0x11 and the zero address. `owner` is lower case. @source rule L-57
 */
export function isCreditableOwner(
  owner: Hex,
  { token, custody, ownAccounts = [] }: Pick<TopUpTarget, 'token' | 'custody' | 'ownAccounts'>,
): boolean {
  if (ownAccounts.includes(owner)) return false
  return owner !== custody && owner !== token && BigInt(owner) > lastPrecompile
}
