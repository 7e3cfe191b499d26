import { bytesToHex, concatBytes, type Hex, keccak256 } from '@causeway/core'
import type { SourceFault } from '../source.ts'
import { BigEndianReader } from './bigEndianReader.ts'
import { type Emitter, type GuardianCheck, verifyWormholeMessage } from './wormholeMessage.ts'

/** A price as the guardians signed it, with Pyth's names: `price · 10^expo` USD, plus or minus `conf · 10^expo`. */
export type SignedPrice = {
  readonly feedId: Hex
  readonly price: bigint
  readonly conf: bigint
  readonly expo: number
  /** Unix seconds. */
  readonly publishTime: number
}

/**
 * Pyth's routers, which publish the roots of its prices since 2026-08-26. Their address is the ASCII text
 * `PythnetPythnetPythnetPythnetPyth`.
 * @source F-30; https://docs.pyth.network/price-feeds/pro/pyth-core-upgrade
 */
const pythnet: Emitter = {
  chain: 26,
  address: '0x507974686e6574507974686e6574507974686e6574507974686e657450797468',
}

// Constants of the format: the first bytes of an update and of a root, and its type numbers.
const updateMagic = '0x504e4155' // PNAU
const rootMagic = '0x41555756' // AUWV
const majorVersion = 1
const wormholeMerkle = 0
const priceMessage = 0
const hashBytes = 20

/**
 * Verifies one accumulator update of Pyth and returns its prices, each proven against a Merkle root that the guardians
 * signed. If one proof is wrong, no price counts. Signed parts may be longer than what is read here, because later
 * versions of the format append to them.
 * @source Pyth Network, accumulator updates: header, Wormhole message of a Merkle root, then messages with proofs
 */
export function verifyPriceUpdate(
  bytes: Uint8Array,
  check: GuardianCheck,
): { readonly prices: readonly SignedPrice[] } | { readonly fault: SourceFault } {
  try {
    return readUpdate(new BigEndianReader(bytes), check)
  } catch (error) {
    // The reader throws it where bytes are missing.
    if (error instanceof RangeError) return { fault: 'malformed_update' }
    throw error
  }
}

function readUpdate(reader: BigEndianReader, check: GuardianCheck): ReturnType<typeof verifyPriceUpdate> {
  if (bytesToHex(reader.take(4)) !== updateMagic) return { fault: 'malformed_update' }
  if (reader.byte() !== majorVersion) return { fault: 'malformed_update' }
  // Skips the minor version, and a trailing header with its length before it, which later minor versions use.
  // Neither is signed.
  reader.byte()
  reader.take(reader.byte())
  if (reader.byte() !== wormholeMerkle) return { fault: 'malformed_update' }
  const message = reader.take(reader.uint16())
  const updates = Array.from({ length: reader.byte() }, () => readMessageWithProof(reader))
  if (!reader.isDone) return { fault: 'malformed_update' }

  const signed = verifyWormholeMessage(message, { ...check, emitter: pythnet })
  if ('fault' in signed) return signed
  const root = readRoot(signed.payload)
  if (root === undefined) return { fault: 'malformed_update' }
  if (!updates.every((update) => isProven(update, root))) return { fault: 'wrong_proof' }
  return { prices: updates.flatMap((update) => readPrice(update.message)) }
}

type MessageWithProof = { readonly message: Uint8Array; readonly proof: readonly Uint8Array[] }

function readMessageWithProof(reader: BigEndianReader): MessageWithProof {
  const message = reader.take(reader.uint16())
  const proof = Array.from({ length: reader.byte() }, () => reader.take(hashBytes))
  return { message, proof }
}

/** The Merkle root in a signed payload; undefined for a payload of another kind. */
function readRoot(payload: Uint8Array): Uint8Array | undefined {
  const reader = new BigEndianReader(payload)
  if (bytesToHex(reader.take(4)) !== rootMagic || reader.byte() !== wormholeMerkle) return undefined
  // Skips the slot of Pythnet (8 bytes) and the size of its ring of roots (4).
  reader.take(12)
  return reader.take(hashBytes)
}

/**
 * True if the proof leads from the message to the root. Leaves are hashed with the prefix 0 and nodes with 1,
 * so that no node can pass for a message. Of two siblings the lower one is hashed first, so a proof need not
 * say which of them is the left one.
 */
function isProven({ message, proof }: MessageWithProof, root: Uint8Array): boolean {
  let hash = shortHash(0, [message])
  for (const sibling of proof) {
    hash = shortHash(1, Buffer.compare(hash, sibling) <= 0 ? [hash, sibling] : [sibling, hash])
  }
  return Buffer.compare(hash, root) === 0
}

function shortHash(prefix: number, parts: readonly Uint8Array[]): Uint8Array {
  return keccak256(concatBytes([Uint8Array.of(prefix), ...parts])).subarray(0, hashBytes)
}

/** The price in a message; none for a message of another kind, such as an average. */
function readPrice(message: Uint8Array): SignedPrice[] {
  const reader = new BigEndianReader(message)
  if (reader.byte() !== priceMessage) return []
  const feedId = bytesToHex(reader.take(32))
  const price = reader.int64()
  const conf = reader.uint64()
  const expo = reader.int32()
  const publishTime = Number(reader.int64())
  return [{ feedId, price, conf, expo, publishTime }]
}
