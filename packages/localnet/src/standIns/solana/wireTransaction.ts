import { decodeBase58Text } from '@causeway/core'
import {
  PACKET_DATA_SIZE,
  V1_TRANSACTION_SIZE_LIMIT,
  VERSION_1_MESSAGE_PREFIX,
  VersionedTransaction,
} from '@solana/web3.js'

/** A transaction that was sent, and the bytes that its signers signed. */
export type WireTransaction = {
  readonly transaction: VersionedTransaction
  readonly messageBytes: Uint8Array
}

const signatureBytes = 64
/** Offset of the blockhash: it follows the version, the header and the mask of config values. */
const version1BlockhashAt = 8

/**
 * Reads the bytes of a transaction. Version 1 has its signatures after its message, all others before it.
 * @returns undefined for bytes that nodes refuse
 * @source SIMD-0385, SIMD-0296
 */
export function readWireTransaction(bytes: Uint8Array): WireTransaction | undefined {
  const isVersion1 = bytes[0] === VERSION_1_MESSAGE_PREFIX
  if (bytes.length > (isVersion1 ? V1_TRANSACTION_SIZE_LIMIT : PACKET_DATA_SIZE)) return undefined
  const transaction = deserialise(bytes)
  // The library also reads a message of version 1 that has its signatures before it.
  if (transaction === undefined || (transaction.version === 1) !== isVersion1) return undefined
  const length = signatureBytes * transaction.signatures.length
  // One byte counts up to 127 signatures.
  const messageBytes = isVersion1 ? bytes.subarray(0, bytes.length - length) : bytes.subarray(1 + length)
  return { transaction, messageBytes }
}

function deserialise(bytes: Uint8Array): VersionedTransaction | undefined {
  try {
    return VersionedTransaction.deserialize(bytes)
  } catch {
    // The library has no error class of its own for bytes that are no transaction.
    return undefined
  }
}

/** The transaction with another blockhash, so its signatures are no longer valid. Version 1 is changed in its bytes, because the library cannot write it. */
export function withBlockhash(
  { transaction, messageBytes }: WireTransaction,
  blockhash: string,
): WireTransaction {
  const { message } = transaction
  if (message.version !== 1) {
    message.recentBlockhash = blockhash
    return { transaction, messageBytes: message.serialize() }
  }
  const replaced = Uint8Array.from(messageBytes)
  // The hash is the node's own, so it always decodes.
  replaced.set(decodeBase58Text(blockhash) ?? [], version1BlockhashAt)
  return { transaction, messageBytes: replaced }
}
