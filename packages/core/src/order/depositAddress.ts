import { AbiWords } from '../hashing/abiWords.ts'
import { concatBytes, fixedHexToBytes, hexDigits } from '../hashing/hexBytes.ts'
import { keccak256 } from '../hashing/keccak.ts'
import type { Hex } from '../hex.ts'
import { create2Address } from '../vm/ethereum/contractAddress.ts'
import type { AddressSwap } from '../vm/quotingFamily.ts'

/** What an address may be used for, as its family writes it; a change of any member is another address. */
export type DepositAddressTerms<Account extends string = string> = {
  /** Signs the orders that the address may pay. */
  readonly orderSigner: Hex
  /** The solver's account, or key, that empties the address. */
  readonly sweeper: Account
  /** May take back what lies there; of contracts, is credited with every deposit too. */
  readonly depositor: Account
  /** 32 random bytes. */
  readonly nonce: Hex
}

/** An address that is paid instead of the depository. */
export type DepositAddress = {
  /** Canonical. */
  readonly address: string
  readonly terms: DepositAddressTerms
  /** What spends from it, where whoever takes something back has to show that. */
  readonly script?: Hex
}

/** The contract that empties the addresses, and the hash of the code that it puts there for a moment. */
export type DepositAddressContract = { readonly contract: Hex; readonly sweepCodeHash: Hex }

/**
 * The address that `contract` empties under these terms: by CREATE2, so that nobody holds a key of it.
 * Lower case. @source EIP-1014
 */
export function depositAddressOf(
  { orderSigner, sweeper, depositor, nonce }: DepositAddressTerms<Hex>,
  { contract, sweepCodeHash }: DepositAddressContract,
): Hex {
  const terms = new AbiWords(4)
    .address(fixedHexToBytes(orderSigner, 20))
    .address(fixedHexToBytes(sweeper, 20))
    .address(fixedHexToBytes(depositor, 20))
    .word(fixedHexToBytes(nonce, 32))
    .done()
  return create2Address(contract, keccak256(terms), sweepCodeHash)
}

/** What an order's salt commits to where a deposit address is swapped: the price, and 32 random bytes. */
export type DepositSwapTerms = Omit<AddressSwap, 'hops'> & { readonly nonce: Hex }

/** Bytes of an order's salt that stay random where the others name a deposit address. */
export const depositSaltRandomBytes = 12

/** The salt of an order that a deposit address may pay: the address, then random bytes. */
export function depositOrderSalt(address: Hex, random: Uint8Array): Hex {
  if (random.length !== depositSaltRandomBytes) throw new RangeError('a deposit salt has 12 random bytes')
  return `0x${hexDigits(concatBytes([fixedHexToBytes(address, 20), random]))}`
}

/**
 * The salt of an order that a deposit address may pay after a swap: the address, then the last bytes of the hash of
 * the swap's terms, so that whoever signs the order signs its price. @source DepositAddresses.sol, sweepAndSwap
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
