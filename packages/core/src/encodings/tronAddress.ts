import { encodeBase58Check } from '../hashing/base58Check.ts'
import { concatBytes, parseHexDigits } from '../hashing/hexBytes.ts'
import type { Hex } from '../hex.ts'
import { getOrCompute } from './remembered.ts'
import { createTronCodec, type TronNetwork, tronMainnet } from './tron.ts'

const accountBytes = 20

/**
 * The base58 form of an account in any spelling that Tron's interfaces use: base58, 21 bytes of hex with
 * or without `0x`, or `0x` and the 20 bytes behind the prefix.
 * @throws InvalidAddressError
 */
export function tronAddress(spelling: string, network: TronNetwork = tronMainnet): string {
  return createTronCodec(network).canonicalAddress(base58Form(spelling, network))
}

/** Converts a hex spelling to base58. Other strings are left to the codec, which knows the reason to refuse base58. */
function base58Form(spelling: string, { addressPrefix }: TronNetwork): string {
  const isPrefixed = spelling.startsWith('0x')
  // A text that is too long for hex counts as no digits, which are no address: it is returned as it is.
  const digits = spelling.length <= 2 + 2 * (1 + accountBytes) ? spelling.slice(isPrefixed ? 2 : 0) : ''
  const bytes = parseHexDigits(digits, 0)
  if (bytes?.length === 1 + accountBytes) return encodeBase58Check(bytes)
  if (bytes?.length !== accountBytes || !isPrefixed) return spelling
  return encodeBase58Check(concatBytes([Uint8Array.of(addressPrefix), bytes]))
}

/** Cached hex forms of addresses: the same few thousand spellings return, and a quote needs up to eight. */
const hexAddresses = new Map<string, Hex>()

/** As `tronEvmAddress`, of the main network. @throws InvalidAddressError */
export function tronHexAddress(spelling: string): Hex {
  return getOrCompute(hexAddresses, spelling, () => tronEvmAddress(spelling))
}

/** `0x` and the 20 bytes behind the prefix. @throws InvalidAddressError */
export function tronEvmAddress(spelling: string, network: TronNetwork = tronMainnet): Hex {
  const bytes = createTronCodec(network).encodeAddress(base58Form(spelling, network))
  return `0x${Buffer.from(bytes.subarray(1)).toString('hex')}`
}
