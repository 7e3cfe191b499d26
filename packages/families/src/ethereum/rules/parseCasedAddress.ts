import type { Hex } from '@causeway/core'
import { ConfigurationError } from '@causeway/core'
import { listEntries } from '@causeway/core/config'
import { checksumAddress } from '@causeway/core/encodings'

const addressPattern = /^0x[0-9a-fA-F]{40}$/

/**
 * The lower-case form of an address that a person may have typed; `undefined` when it is none. Digits of
 * one case are accepted as they are, mixed ones only with the right EIP-55 checksum.
 * @source rule O-1; EIP-55
 */
export function parseCasedAddress(text: string): Hex | undefined {
  if (!addressPattern.test(text)) return undefined
  const digits = text.slice(2)
  const lower: Hex = `0x${digits.toLowerCase()}`
  const isOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  return isOneCase || checksumAddress(lower) === text ? lower : undefined
}

const zeroAddress: Hex = `0x${'0'.repeat(40)}`

/**
 * Parses a setting that lists accounts, separated by `;`. Returns them in lower case, without duplicates.
 * @throws ConfigurationError naming the entry that is none
 */
export function parseAddressList(setting: string, list: string | undefined): ReadonlySet<Hex> {
  const accounts = listEntries(setting, list).map(({ text, entryName: place }) => {
    const account = parseCasedAddress(text)
    if (account === undefined)
      throw new ConfigurationError(`${place} is no address: 0x, 40 hex digits, and a checksum that is right.`)
    if (account === zeroAddress)
      throw new ConfigurationError(`${place} is the zero address, which is nobody's.`)
    return account
  })
  return new Set(accounts)
}
