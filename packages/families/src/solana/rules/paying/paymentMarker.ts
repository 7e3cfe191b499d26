import type { Hex } from '@causeway/core'
import {
  concatBytes,
  encodeBase58,
  hexDigits,
  hexToBytes,
  keccak256,
  sha256,
  utf8Bytes,
} from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import { markBytes, systemProgram } from '../programs.ts'
import { type SolanaInstruction, sendCoin, uint64 } from '../quoting/instructions.ts'

/**
 * Record of a fill wallet about one payment id, kept on chain in an account of its own: the counterpart of the fill
 * contract's storage. The account's address is derived from the wallet and the id. It belongs to the System program,
 * and its data length is the only information. Data can be allocated only once and only with the wallet's signature,
 * and an account with data can never be emptied again by anyone: so at most one of all transactions that mark one id
 * ever succeeds. Lamports that strangers send there change nothing. See decision 27.
 */
export type PaymentMark = keyof typeof markBytes

/** Number of the System program's instruction. @source Solana documentation, System Program */
const allocateWithSeed = 9
/** Most characters of a seed. @source Solana documentation, System Program */
const seedCharacters = 32

/** Address of a wallet's marker for an id. Pure. @throws InvalidAddressError for a wallet that is no account */
export function paymentMarkerAddress(wallet: string, id: Hex): string {
  const parts = [
    solanaCodec.encodeAddress(wallet),
    utf8Bytes(seedOf(id)),
    solanaCodec.encodeAddress(systemProgram),
  ]
  return encodeBase58(sha256(concatBytes(parts)))
}

/**
 * The two instructions that mark an id: the first fails where it is marked already, whatever the second would pay.
 * @param rentLamports what an account of so many bytes must hold; all of it is sent, even if a stranger has sent some
 */
export function markPayment(
  wallet: string,
  id: Hex,
  { mark, rentLamports }: { readonly mark: PaymentMark; readonly rentLamports: bigint },
): readonly SolanaInstruction[] {
  const marker = paymentMarkerAddress(wallet, id)
  const seed = utf8Bytes(seedOf(id))
  const head = Buffer.alloc(4)
  head.writeUInt32LE(allocateWithSeed)
  const base = solanaCodec.encodeAddress(wallet)
  const owner = solanaCodec.encodeAddress(systemProgram)
  const data = Buffer.concat([
    ...[head, base, uint64(BigInt(seed.length)), seed],
    ...[uint64(BigInt(markBytes[mark])), owner],
  ])
  return [
    {
      program: systemProgram,
      accounts: [
        [marker, 'written'],
        [wallet, 'signs'],
      ],
      data,
    },
    sendCoin({ from: wallet, to: marker, amount: rentLamports }),
  ]
}

/**
 * Mark at a marker's address; `undefined` for an account that cannot be a marker of ours.
 * @param account undefined if there is no account
 */
export function readPaymentMark(
  account: { readonly owner: string; readonly data: Uint8Array } | undefined,
): PaymentMark | 'open' | undefined {
  if (account === undefined) return 'open'
  if (account.owner !== systemProgram) return undefined
  switch (account.data.length) {
    case 0:
      return 'open'
    case markBytes.paid:
      return 'paid'
    case markBytes.closed:
      return 'closed'
    default:
      return undefined
  }
}

/** Seed of an id's marker: half of a hash of the id, as hex text. */
const seedOf = (id: Hex): string => hexDigits(keccak256(hexToBytes(id))).slice(0, seedCharacters)
