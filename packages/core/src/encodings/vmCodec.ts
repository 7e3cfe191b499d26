import { parseHexDigits } from '../hashing/hexBytes.ts'
import { InvalidAddressError, InvalidTransactionIdError } from './errors.ts'
import { getOrCompute } from './remembered.ts'

/**
 * Encodings of one VM family: how the protocol writes and hashes its addresses, currencies and transaction ids.
 * Rules get one by `codecOf`. One file per family in this folder, one line in `codecs`. @source F-167
 *
 * Every function is total over strings: it returns or throws `InvalidAddressError` or
 * `InvalidTransactionIdError`, never anything else.
 * @source rule P-127
 */
export interface VmCodec {
  readonly vmType: string
  /** The string that names the chain's native currency in requests and orders. */
  readonly nativeCurrency: string
  /** True for a string that `encodeAddress` accepts as an account that can receive funds. */
  isAddress(address: string): boolean
  /**
   * Protocol bytes of an account address. The native currency sentinel encodes too.
   * @throws InvalidAddressError
   */
  encodeAddress(address: string): Uint8Array
  /**
   * Protocol bytes of a currency (token address, mint, asset index, spot token or the native sentinel).
   * @throws InvalidAddressError
   */
  encodeCurrency(currency: string): Uint8Array
  /** Protocol bytes of a currency that has a token on the hub. @throws InvalidAddressError for any other */
  encodeHubCurrency(currency: string): Uint8Array
  /**
   * The one spelling under which two equal addresses, or currencies, compare equal: lower case for hex
   * families, unchanged for case-sensitive ones. @throws InvalidAddressError
   */
  canonicalAddress(address: string): string
  /** `canonicalAddress` where there is one, else the text itself. Never throws. */
  spellAddress(text: string): string
  /**
   * The one spelling of a transaction id that enters hashes and is echoed.
   * @throws InvalidTransactionIdError
   */
  canonicalTransactionId(transactionId: string): string
  /** Protocol bytes of a transaction id. @throws InvalidTransactionIdError */
  encodeTransactionId(transactionId: string): Uint8Array
}

/** Why a parser refused a string: the end of a sentence, which never repeats the string. */
export type Refusal = { readonly refusal: string }

export type ParsedAddress = {
  readonly bytes: Uint8Array
  readonly canonical: string
  /** True when nobody is known to hold a key to it, though the protocol can write it down. */
  readonly isUnspendable?: boolean
}
export type ParsedTransactionId = { readonly bytes: Uint8Array; readonly canonical: string }

/** One family's part of the shared rules. Parsers are total and bound the length of their input first. */
export type VmFamily = {
  readonly vmType: string
  readonly nativeCurrency: string
  /** Protocol bytes of `nativeCurrency`, which need not be an address of the family. */
  readonly nativeBytes: Uint8Array
  readonly parseAddress: (address: string) => ParsedAddress | Refusal
  /** Parser for families that write currencies differently from accounts. */
  readonly parseCurrency?: (currency: string) => ParsedAddress | Refusal
  /** Parser for families in which some currencies have no token on the hub. */
  readonly parseHubCurrency?: (currency: string) => ParsedAddress | Refusal
  readonly parseTransactionId: (transactionId: string) => ParsedTransactionId | Refusal
}

/** Builds a family's codec: the native sentinel, the errors and the canonical forms are the same for all. */
export function createVmCodec(family: VmFamily): VmCodec {
  const { vmType, nativeCurrency, nativeBytes, parseTransactionId } = family
  const parseAddress = rememberGood(family.parseAddress)
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

class RememberedAddress implements ParsedAddress {
  readonly canonical: string
  readonly #bytes: Uint8Array

  constructor({ bytes, canonical }: ParsedAddress) {
    this.#bytes = bytes
    this.canonical = canonical
  }

  /** A copy, since callers may write into it. */
  get bytes(): Uint8Array {
    return this.#bytes.slice()
  }
}

/**
 * Caches addresses that are accepted, since a request looks at each of its own about ten times; within the bound of
 * `getOrCompute`. Refused strings are not cached: a caller may make them as long as it likes. Nor are unspendable
 * addresses, as a cached copy does not say that they are.
 */
function rememberGood(parse: VmFamily['parseAddress']): VmFamily['parseAddress'] {
  const cache = new Map<string, ParsedAddress>()
  return (address) => {
    const cached = cache.get(address)
    if (cached !== undefined) return cached
    const parsed = parse(address)
    if ('refusal' in parsed || parsed.isUnspendable === true) return parsed
    return getOrCompute(cache, address, () => new RememberedAddress(parsed))
  }
}

const hashDigits = 64

/** `0x` and 64 hex digits; canonical is lower case. */
export function parsePrefixedHash(transactionId: string): ParsedTransactionId | Refusal {
  if (transactionId.length !== 2 + hashDigits || !transactionId.startsWith('0x')) {
    return { refusal: 'expected 0x and 64 hex digits' }
  }
  const bytes = parseHexDigits(transactionId, 2)
  if (bytes === undefined) return { refusal: 'expected 0x and 64 hex digits' }
  return { bytes, canonical: transactionId.toLowerCase() }
}

/** 64 hex digits without `0x`; canonical is lower case. */
export function parseBareHash(transactionId: string): ParsedTransactionId | Refusal {
  const bytes = transactionId.length === hashDigits ? parseHexDigits(transactionId, 0) : undefined
  if (bytes === undefined) return { refusal: 'expected 64 hex digits without 0x' }
  return { bytes, canonical: transactionId.toLowerCase() }
}

/** `codec.encodeAddress` for one field of a larger structure. @throws InvalidAddressError naming `field` */
export function encodeAddressField(codec: VmCodec, address: string, field: string): Uint8Array {
  try {
    return codec.encodeAddress(address)
  } catch (error) {
    throw addField(error, codec, field)
  }
}

/** `codec.encodeCurrency` for one field of a larger structure. @throws InvalidAddressError naming `field` */
export function encodeCurrencyField(codec: VmCodec, currency: string, field: string): Uint8Array {
  try {
    return codec.encodeCurrency(currency)
  } catch (error) {
    throw addField(error, codec, field)
  }
}

/** Why a currency's address is not one of the family; `undefined` where it is. */
export function currencyProblem({ encodeCurrency }: VmCodec, currency: string): string | undefined {
  try {
    encodeCurrency(currency)
    return undefined
  } catch (error) {
    if (error instanceof InvalidAddressError) return error.reason
    throw error
  }
}

function addField(error: unknown, { vmType }: VmCodec, field: string): unknown {
  if (!(error instanceof InvalidAddressError)) return error
  return new InvalidAddressError({ vmType, reason: error.reason, field })
}
