import type { Hex } from '@causeway/core'
import { AbiWords, concatBytes, fixedHexToBytes, hexDigits, keccak256 } from '@causeway/core'
import type { AddressSwap } from '../../rules/originRoute.ts'

/** Terms of a swap at a deposit address, to which the order's salt commits: its price, and a nonce of 32 random bytes. */
export type DepositSwapTerms = Omit<AddressSwap, 'hops'> & { readonly nonce: Hex }

/** Last bytes of an order's salt, behind the 20 of a deposit address. */
export const depositSaltRandomBytes = 12

/** The salt of an order that a deposit address may pay: the address, then random bytes. */
export function depositOrderSalt(address: Hex, random: Uint8Array): Hex {
  if (random.length !== depositSaltRandomBytes) throw new RangeError('a deposit salt has 12 random bytes')
  return `0x${hexDigits(concatBytes([fixedHexToBytes(address, 20), random]))}`
}

/**
 * The salt of an order that a deposit address may pay after a swap: the address, then the last bytes of the hash of the
 * swap's terms. So the order's signature covers the swap's price. @source DepositAddresses.sol, sweepAndSwap
 */
export function depositSwapSalt(address: Hex, swap: DepositSwapTerms): Hex {
  const words = new AbiWords(5)
    .address(fixedHexToBytes(swap.tokenIn, 20))
    .uint(swap.amountIn)
    .address(fixedHexToBytes(swap.tokenOut, 20))
    .uint(swap.amountOutMin)
    .word(fixedHexToBytes(swap.nonce, 32))
    .done()
  return depositOrderSalt(address, keccak256(words).slice(-depositSaltRandomBytes))
}
