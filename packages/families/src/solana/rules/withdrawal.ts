import type { Hex } from '@causeway/core'
import { bytesToHex, concatBytes, encodeBase58, fixedHexToBytes, sha256 } from '@causeway/core'
import { InvalidWithdrawalError, solanaCodec } from '@causeway/core/encodings'
import { type WithdrawalTransfer, withdrawalBytes } from '../../rules/withdrawalBytes.ts'

/** A withdrawal: the depository program's `TransferRequest`. Addresses in base58. */
export type SolanaWithdrawal = {
  /** 32 bytes that are different for each deployment. */
  readonly domain: Hex
  readonly recipient: string
  /** Mint; `undefined` pays SOL. */
  readonly token: string | undefined
  readonly amount: bigint
  readonly nonce: bigint
  /** Unix seconds, signed. */
  readonly expiration: bigint
  readonly vaultAddress: string
}

const publicKeyBytes = 32
/** Length of the encoding without a token: domain, recipient, a byte, three numbers of eight bytes, vault. */
const bytesWithoutToken = 121

/**
 * Borsh encoding of the request.
 * @throws InvalidAddressError when an address is not 32 bytes of base58
 * @throws RangeError when a number does not fit its type
 * @source github.com/relayprotocol/relay-settlement, withdrawals/solana-vm.ts
 */
export function encodeSolanaWithdrawal(withdrawal: SolanaWithdrawal): Hex {
  const { domain, recipient, token, amount, nonce, expiration, vaultAddress } = withdrawal
  const numbers = Buffer.alloc(24)
  numbers.writeBigUInt64LE(amount, 0)
  numbers.writeBigUInt64LE(nonce, 8)
  numbers.writeBigInt64LE(expiration, 16)
  const parts = [
    fixedHexToBytes(domain, publicKeyBytes),
    solanaCodec.encodeAddress(recipient),
    token === undefined
      ? Uint8Array.of(0)
      : concatBytes([Uint8Array.of(1), solanaCodec.encodeAddress(token)]),
    numbers,
    solanaCodec.encodeAddress(vaultAddress),
  ]
  return bytesToHex(concatBytes(parts))
}

/** SHA-256 of the encoding: the seed of the program's used-request account. See `encodeSolanaWithdrawal`. */
export function solanaWithdrawalId(withdrawal: SolanaWithdrawal): Hex {
  return bytesToHex(sha256(withdrawalBytes(encodeSolanaWithdrawal(withdrawal))))
}

/** Reads what `encodeSolanaWithdrawal` writes and nothing else. @throws InvalidWithdrawalError */
export function decodeSolanaWithdrawal(withdrawal: Hex): SolanaWithdrawal {
  const bytes = withdrawalBytes(withdrawal)
  const tag = bytes[2 * publicKeyBytes]
  const tokenBytes = tag === 1 ? publicKeyBytes : 0
  if (tag === undefined || tag > 1 || bytes.length !== bytesWithoutToken + tokenBytes) {
    throw new InvalidWithdrawalError('it is not the borsh encoding of a transfer request')
  }
  const publicKeyAt = (offset: number) => encodeBase58(bytes.subarray(offset, offset + publicKeyBytes))
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const numbersAt = 2 * publicKeyBytes + 1 + tokenBytes
  return {
    domain: bytesToHex(bytes.subarray(0, publicKeyBytes)),
    recipient: publicKeyAt(publicKeyBytes),
    token: tag === 1 ? publicKeyAt(2 * publicKeyBytes + 1) : undefined,
    amount: view.getBigUint64(numbersAt, true),
    nonce: view.getBigUint64(numbersAt + 8, true),
    expiration: view.getBigInt64(numbersAt + 16, true),
    vaultAddress: publicKeyAt(numbersAt + 24),
  }
}

/**
 * The payment of a withdrawal. @throws InvalidWithdrawalError when its mint is spelled like SOL
 * @source rule P-112
 */
export function solanaWithdrawalTransfer({ token, amount, recipient }: SolanaWithdrawal): WithdrawalTransfer {
  if (token === solanaCodec.nativeCurrency) {
    throw new InvalidWithdrawalError('its mint is the address that stands for SOL')
  }
  return { currency: token ?? solanaCodec.nativeCurrency, amount, recipient }
}
