import { InvalidAddressError, InvalidTransactionIdError } from './errors.ts'
import type { VmCodec } from './vmCodec.ts'
import type { VmType } from './vmType.ts'

/** Why a string is not what it should be; ends a sentence and never repeats the string. */
export type Refusal = { readonly refusal: string }

export type ParsedAddress = {
  readonly bytes: Uint8Array
  readonly canonical: string
  /** True when nobody is known to hold a key to it, though the protocol can write it down. */
  readonly isUnspendable?: boolean
}
export type ParsedTransactionId = { readonly bytes: Uint8Array; readonly canonical: string }

/** What one family adds to the shared rules. Parsers are total and bound the length of their input first. */
export type VmFamily = {
  readonly vmType: VmType
  readonly nativeCurrency: string
  /** Protocol bytes of `nativeCurrency`, which need not be an address of the family. */
  readonly nativeBytes: Uint8Array
  readonly parseAddress: (address: string) => ParsedAddress | Refusal
  /** Where currencies are not written like accounts. */
  readonly parseCurrency?: (currency: string) => ParsedAddress | Refusal
  /** Where some currencies have no token on the hub. */
  readonly parseHubCurrency?: (currency: string) => ParsedAddress | Refusal
  readonly parseTransactionId: (transactionId: string) => ParsedTransactionId | Refusal
}

/** Builds a family's codec: the native sentinel, the errors and the canonical forms are the same for all. */
export function createVmCodec(family: VmFamily): VmCodec {
  const { vmType, nativeCurrency, nativeBytes, parseAddress, parseTransactionId } = family
  const parseCurrency = family.parseCurrency ?? parseAddress
  const parseHubCurrency = family.parseHubCurrency ?? parseCurrency

  function encode(address: string, parse: VmFamily['parseAddress']): Uint8Array {
    if (address === nativeCurrency) return nativeBytes.slice()
    return accepted(parse(address)).bytes
  }
  function accepted(parsed: ParsedAddress | Refusal): ParsedAddress {
    if ('refusal' in parsed) throw new InvalidAddressError({ vmType, reason: parsed.refusal })
    return parsed
  }
  /** An account's address, or a currency. */
  function parseEither(text: string): ParsedAddress | Refusal {
    const parsed = parseAddress(text)
    return 'refusal' in parsed ? parseCurrency(text) : parsed
  }
  function acceptedTransactionId(transactionId: string): ParsedTransactionId {
    const parsed = parseTransactionId(transactionId)
    if ('refusal' in parsed) throw new InvalidTransactionIdError({ vmType, reason: parsed.refusal })
    return parsed
  }

  return {
    vmType,
    nativeCurrency,
    isAddress(address) {
      if (address === nativeCurrency) return false
      const parsed = parseAddress(address)
      return !('refusal' in parsed) && parsed.isUnspendable !== true
    },
    encodeAddress: (address) => encode(address, parseAddress),
    encodeCurrency: (currency) => encode(currency, parseCurrency),
    encodeHubCurrency: (currency) => encode(currency, parseHubCurrency),
    canonicalAddress(address) {
      if (address === nativeCurrency) return nativeCurrency
      return accepted(parseEither(address)).canonical
    },
    spellAddress(text) {
      const parsed = parseEither(text)
      return 'refusal' in parsed ? text : parsed.canonical
    },
    canonicalTransactionId: (transactionId) => acceptedTransactionId(transactionId).canonical,
    encodeTransactionId: (transactionId) => acceptedTransactionId(transactionId).bytes,
  }
}
