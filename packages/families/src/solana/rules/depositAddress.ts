import type { Hex } from '@causeway/core'
import { bytesToHex, concatBytes, fixedHexToBytes, hexDigits, hexToBytes, sha256 } from '@causeway/core'
import { getOrCompute, solanaCodec } from '@causeway/core/encodings'
import type { DepositAddress, DepositAddressing, DepositAddressTerms } from '../../rules/depositAddressing.ts'
import { solanaLibrary } from './library.ts'
import type { SolanaDepository } from './programAddresses.ts'

/** The program that makes and empties deposit addresses, and the depository that they are emptied into. */
export type SolanaAddressProgram = { readonly program: string; readonly depository: SolanaDepository }

/** Bytes of the 32-byte address that name it in the salt of orders. */
const nameBytes = 20

/** Cached addresses: a derivation takes two curve checks on average, 0.2 ms each. */
const derived = new Map<string, string>()

/**
 * The deposit address that `program` empties under these terms. It is derived from them and the depository, so nobody
 * has a key of it. @source depositAddresses.c
 * @throws InvalidAddressError for a sweeper or a depositor that is no account
 */
export function solanaDepositAddress(
  terms: DepositAddressTerms,
  { program, depository }: SolanaAddressProgram,
): DepositAddress {
  const hash = sha256(
    concatBytes([
      solanaCodec.encodeAddress(depository.program),
      fixedHexToBytes(terms.orderSigner, 20),
      solanaCodec.encodeAddress(terms.sweeper),
      solanaCodec.encodeAddress(terms.depositor),
      fixedHexToBytes(terms.nonce, 32),
    ]),
  )
  const address = getOrCompute(derived, `${program} ${hexDigits(hash)}`, () => {
    const { PublicKey } = solanaLibrary()
    const seeds = [Buffer.from('deposit'), hash]
    return PublicKey.findProgramAddressSync(seeds, new PublicKey(program))[0].toBase58()
  })
  return { address, terms }
}

/** The first 20 bytes of an address. @throws InvalidAddressError */
export const solanaDepositName = (address: string): Hex =>
  `0x${hexDigits(solanaCodec.encodeAddress(address).subarray(0, nameBytes))}`

/** Deposit addresses of a program, as quotes use them. @param depository called when the first address is made */
export function programAddressing(program: string, depository: () => SolanaDepository): DepositAddressing {
  return {
    make({ orderSigner, fillWallet: sweeper, depositor, nonce }) {
      // The signer is put into lower case, because terms are compared and stored.
      const terms = { orderSigner: bytesToHex(hexToBytes(orderSigner)), sweeper, depositor, nonce }
      return solanaDepositAddress(terms, { program, depository: depository() })
    },
    nameOf: solanaDepositName,
    // A sweep that has not begun by then is decided anew.
    sweepSeconds: 300,
    // With less time before its deadline an order is not paid; sweep and fill usually take seconds.
    leadSeconds: 120,
    // The depositor may withdraw the money during a sweep too, so no price is kept until it is done.
    isKeptWhileSwept: false,
    // A sweep's deposit is credited to the depositor of the terms, not to the fill wallet.
    creditsDepositor: true,
  }
}
