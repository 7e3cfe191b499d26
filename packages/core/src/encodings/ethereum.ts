import { parseHexDigits } from '../hashing/hexBytes.ts'
import { createVmCodec, type ParsedAddress, parsePrefixedHash, type Refusal } from './vmCodec.ts'

const addressBytes = 20

/** `0x` and 40 hex digits. Any mix of cases: the EIP-55 checksum is optional and not checked. */
export function parseEvmAddress(address: string): ParsedAddress | Refusal {
  const isShaped = address.length === 2 + 2 * addressBytes && address.startsWith('0x')
  const bytes = isShaped ? parseHexDigits(address, 2) : undefined
  if (bytes === undefined) return { refusal: 'expected 0x and 40 hex digits' }
  return { bytes, canonical: address.toLowerCase() }
}

/** Emitter of the `Transfer` logs that ether itself causes on chains with EIP-7708. It has no code and is no token. */
const nativeTransferEmitter = '0xfffffffffffffffffffffffffffffffffffffffe'

/** True for a log of an ether transfer. Readers of token transfers skip it. @source F-45; EIP-7708 */
export function isNativeTransferLog({ address }: { readonly address: string }): boolean {
  return isNativeTransferEmitter(address)
}

const isNativeTransferEmitter = (address: string) => address.toLowerCase() === nativeTransferEmitter

const nativeCurrency = '0x0000000000000000000000000000000000000000'

function parseEvmCurrency(currency: string): ParsedAddress | Refusal {
  if (!isNativeTransferEmitter(currency)) return parseEvmAddress(currency)
  return { refusal: `it is no token, its logs tell of ether that moved (EIP-7708): name ${nativeCurrency}` }
}

/** Codec of EVM chains. @source F-46 */
export const ethereumCodec = createVmCodec({
  vmType: 'ethereum-vm',
  nativeCurrency,
  nativeBytes: new Uint8Array(addressBytes),
  parseAddress: parseEvmAddress,
  parseCurrency: parseEvmCurrency,
  parseTransactionId: parsePrefixedHash,
})
