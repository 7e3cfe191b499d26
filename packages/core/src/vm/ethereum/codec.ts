import { parseHexDigits } from '../../hashing/hexBytes.ts'
import { createVmCodec, type ParsedAddress, parsePrefixedHash, type Refusal } from '../vmCodec.ts'

const addressBytes = 20

/** `0x` and 40 hex digits. Any mix of cases: the EIP-55 checksum is optional and not checked. */
export function parseEvmAddress(address: string): ParsedAddress | Refusal {
  const isShaped = address.length === 2 + 2 * addressBytes && address.startsWith('0x')
  const bytes = isShaped ? parseHexDigits(address, 2) : undefined
  if (bytes === undefined) return { refusal: 'expected 0x and 40 hex digits' }
  return { bytes, canonical: address.toLowerCase() }
}

/** @source oracle-protocol.md 1.1, 1.2 */
export const ethereumCodec = createVmCodec({
  vmType: 'ethereum-vm',
  nativeCurrency: '0x0000000000000000000000000000000000000000',
  nativeBytes: new Uint8Array(addressBytes),
  parseAddress: parseEvmAddress,
  parseTransactionId: parsePrefixedHash,
})
