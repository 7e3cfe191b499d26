import { bytesToHex, DomainError } from '@causeway/core'
import { splitList } from '@causeway/core/config'
import { type ChainNetwork, codecOf } from '@causeway/core/encodings'
import type { SigningCap } from '@causeway/families'

/**
 * Reads a chain's `signingCaps`: an object, or `currency=amount` joined by commas. There is no cap for all
 * currencies, because smallest units of different tokens are worth different sums.
 * @param setting names the setting in problems
 * @param problems takes sentences about bad entries: by position in a text, by currency in an object, never the amount
 * @returns `undefined` where the chain has no `signingCaps`
 * @throws ConfigurationError for a network that the family does not have
 */
export function readSigningCaps(
  caps: string | Readonly<Record<string, string>> | undefined,
  network: ChainNetwork,
  setting: string,
  problems: string[],
): readonly SigningCap[] | undefined {
  if (caps === undefined) return undefined
  const codec = codecOf(network)
  const currencyKeys = new Set<string>()
  return entriesOf(caps, setting).flatMap(([place, currency, amount]) => {
    try {
      const bytes = bytesToHex(codec.encodeCurrency(currency))
      if (currencyKeys.has(bytes)) problems.push(`${place}: names a currency that is named twice`)
      currencyKeys.add(bytes)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      problems.push(`${place}: names no currency of this chain`)
      return []
    }
    // 78 digits hold every uint256.
    if (/^[0-9]{1,78}$/.test(amount)) return [{ currency, amount: BigInt(amount) }]
    problems.push(`${place}: names no whole number of smallest units`)
    return []
  })
}

type Entry = readonly [place: string, currency: string, amount: string]

function entriesOf(caps: string | Readonly<Record<string, string>>, setting: string): readonly Entry[] {
  if (typeof caps !== 'string')
    return Object.entries(caps).map(([currency, amount]) => [`${setting}.${currency}`, currency, amount])
  return splitList(caps, ',').map((entry, index) => {
    // The last `=` separates, because an amount holds none, whatever stands before it.
    const equals = entry.lastIndexOf('=')
    const amount = equals < 0 ? '' : entry.slice(equals + 1).trim()
    const currency = entry.slice(0, equals < 0 ? undefined : equals).trim()
    return [`${setting}: entry ${index + 1}`, currency, amount]
  })
}
