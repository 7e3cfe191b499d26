import { bytesToHex, concatBytes, type Hex, keccak256, type RecoverSigner } from '@causeway/core'
import { type GuardianSet, guardianQuorum } from '@causeway/core/config'
import type { SourceFault } from '../source.ts'
import { BigEndianReader } from './bigEndianReader.ts'

/** One guardian set: the addresses whose signatures count. A signature names its guardian by position. */
export type Guardians = Pick<GuardianSet, 'index'> & { readonly addresses: readonly Hex[] }

/** Guardians whose signatures count, and the recovery of a signature's key. */
export type GuardianCheck = { readonly guardianSets: readonly Guardians[]; readonly recover: RecoverSigner }

/** Required publisher of a message, by Wormhole's chain ids. */
export type Emitter = { readonly chain: number; readonly address: Hex }

/** `guardian`: position in the guardian set. */
type Signature = { readonly guardian: number; readonly bytes: Uint8Array }

const version = 1
const signatureBytes = 65

/**
 * Verifies a message in Wormhole's format: enough members of its guardian set signed it, and `emitter` published it.
 * Guardians must be in ascending order, so that nobody counts twice. Every signature must be right, as Pyth's own
 * contract demands.
 * @returns the payload, or why it does not count
 * @throws RangeError when the bytes end too early
 * @source Wormhole, "VAAs": version, set, signatures (guardian ‖ r ‖ s ‖ recovery id), then the body, whose
 * keccak-256 is hashed once more and signed
 */
export function verifyWormholeMessage(
  bytes: Uint8Array,
  expected: GuardianCheck & { readonly emitter: Emitter },
): { readonly payload: Uint8Array } | { readonly fault: SourceFault } {
  const reader = new BigEndianReader(bytes)
  if (reader.byte() !== version) return { fault: 'malformed_update' }
  const setIndex = reader.uint32()
  const signatures = Array.from({ length: reader.byte() }, (): Signature => {
    return { guardian: reader.byte(), bytes: reader.take(signatureBytes) }
  })
  const body = reader.rest()

  const guardianSet = expected.guardianSets.find(({ index }) => index === setIndex)
  if (guardianSet === undefined) return { fault: 'unknown_guardian_set' }
  const digest = keccak256(keccak256(body))
  const recover = (signature: Uint8Array) => expected.recover(digest, ethereumForm(signature))
  if (!isSignedBy(guardianSet.addresses, signatures, recover)) return { fault: 'not_signed' }
  const { emitter, payload } = readBody(body)
  if (emitter.chain !== expected.emitter.chain || emitter.address !== expected.emitter.address) {
    return { fault: 'wrong_emitter' }
  }
  return { payload }
}

function isSignedBy(
  guardians: readonly Hex[],
  signatures: readonly Signature[],
  recover: (signature: Uint8Array) => Hex | undefined,
): boolean {
  if (signatures.length < guardianQuorum(guardians.length)) return false
  let previous = -1
  for (const { guardian, bytes } of signatures) {
    if (guardian <= previous) return false
    previous = guardian
    const signer = recover(bytes)
    if (signer === undefined || signer !== guardians[guardian]) return false
  }
  return true
}

/** Ethereum's form of a signature: its last byte is 27 or 28 for Wormhole's 0 or 1; any other one becomes an invalid 0. */
function ethereumForm(signature: Uint8Array): Hex {
  const recoveryId = signature[signatureBytes - 1] ?? 0
  const v = recoveryId <= 1 ? 27 + recoveryId : 0
  return bytesToHex(concatBytes([signature.subarray(0, signatureBytes - 1), Uint8Array.of(v)]))
}

function readBody(body: Uint8Array): { readonly emitter: Emitter; readonly payload: Uint8Array } {
  const reader = new BigEndianReader(body)
  // Skips the time of publication (4 bytes) and a nonce (4).
  reader.take(8)
  const emitter = { chain: reader.uint16(), address: bytesToHex(reader.take(32)) }
  // Skips the sequence number (8 bytes) and the required finality (1).
  reader.take(9)
  return { emitter, payload: reader.rest() }
}
