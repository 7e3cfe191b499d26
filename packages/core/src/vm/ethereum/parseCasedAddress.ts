import type { Hex } from '../../hex.ts'
import { checksumAddress } from './checksumAddress.ts'

const addressPattern = /^0x[0-9a-fA-F]{40}$/

/**
 * The lower-case form of an address that a person may have typed; `undefined` when it is none. Digits of
 * one case are accepted as they are, mixed ones only with the right EIP-55 checksum.
 * @source ledger-and-safety.md 1.2
 */
export function parseCasedAddress(text: string): Hex | undefined {
  if (!addressPattern.test(text)) return undefined
  const digits = text.slice(2)
  const lower: Hex = `0x${digits.toLowerCase()}`
  const isOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  return isOneCase || checksumAddress(lower) === text ? lower : undefined
}
