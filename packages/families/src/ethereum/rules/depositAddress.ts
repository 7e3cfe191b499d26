import type { Hex } from '@causeway/core'
import { AbiWords, fixedHexToBytes, keccak256 } from '@causeway/core'
import type { VmCodec } from '@causeway/core/encodings'
import type {
  DepositAddressContract,
  DepositAddressing,
  DepositAddressTerms,
} from '../../rules/depositAddressing.ts'
import { create2Address } from './contractAddress.ts'

/**
 * The deposit address of these terms, in lower case. It is an address at which `contract` can create code by CREATE2,
 * so nobody holds a key of it. @source EIP-1014
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

/** An account as 20 bytes of hex in lower case. @throws InvalidAddressError */
export const ethereumHex = ({ canonicalAddress }: Pick<VmCodec, 'canonicalAddress'>, address: string): Hex =>
  `0x${canonicalAddress(address).slice(2)}`

/** Addresses that a chain's contract makes and empties; see `DepositAddressing`. @source DepositAddresses.sol */
export function contractAddressing(
  contract: DepositAddressContract,
  codec: Pick<VmCodec, 'canonicalAddress'>,
): DepositAddressing {
  return {
    make({ orderSigner, fillWallet, depositor, nonce }) {
      const terms = {
        orderSigner: ethereumHex(codec, orderSigner),
        sweeper: ethereumHex(codec, fillWallet),
        depositor: ethereumHex(codec, depositor),
        nonce,
      }
      return { address: depositAddressOf(terms, contract), terms }
    },
    nameOf: (address) => ethereumHex(codec, address),
    sweepSeconds: 300,
    leadSeconds: 120,
    // The depositor may withdraw the money at any time, also during a sweep.
    isKeptWhileSwept: false,
    creditsDepositor: true,
  }
}
