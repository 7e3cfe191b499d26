import { AbiWords } from '../../hashing/abiWords.ts'
import { fixedHexToBytes } from '../../hashing/hexBytes.ts'
import { keccak256 } from '../../hashing/keccak.ts'
import type { Hex } from '../../hex.ts'
import type { DepositAddressContract, DepositAddressTerms } from '../quotingFamily.ts'
import { create2Address } from './contractAddress.ts'

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
