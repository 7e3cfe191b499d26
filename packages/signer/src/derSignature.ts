import { bytesToHex, hexToBytes } from '@causeway/core'
import { SignerFailedError } from './errors.ts'

/** Order of secp256k1. */
const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/**
 * The two integers of a DER `SEQUENCE { INTEGER r, INTEGER s }`, as r‖s of 64 bytes with s brought to
 * the lower half: about one in 128 is shorter than 32 bytes, and every second s is high.
 * Strict: one encoding per signature, nothing after it.
 * @throws SignerFailedError for anything else
 * @source ledger-and-safety.md 4.2
 */
export function compactFromDer(der: Uint8Array): Uint8Array {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) throw new SignerFailedError()
  const first = readInteger(der, 2)
  const second = readInteger(der, first.end)
  if (second.end !== der.length) throw new SignerFailedError()
  const r = inRange(first.value)
  const s = inRange(second.value)
  const lowS = s > curveOrder / 2n ? curveOrder - s : s
  return hexToBytes(`0x${word(r)}${word(lowS)}`)
}

function readInteger(der: Uint8Array, start: number): { value: bigint; end: number } {
  const length = der[start + 1] ?? 0
  const end = start + 2 + length
  if (der[start] !== 0x02 || length < 1 || length > 33 || end > der.length) throw new SignerFailedError()
  const bytes = der.subarray(start + 2, end)
  const [lead = 0, next = 0] = bytes
  const isNegative = lead >= 0x80
  const isPadded = lead === 0 && length > 1 && next < 0x80
  if (isNegative || isPadded) throw new SignerFailedError()
  return { value: BigInt(bytesToHex(bytes)), end }
}

function inRange(value: bigint): bigint {
  if (value === 0n || value >= curveOrder) throw new SignerFailedError()
  return value
}

function word(value: bigint): string {
  return value.toString(16).padStart(64, '0')
}
