import { parseHexDigits } from '../hashing/hexBytes.ts'
import { parseEvmAddress } from './ethereum.ts'
import { createVmCodec, type ParsedAddress, parsePrefixedHash, type Refusal } from './vmCodec.ts'

const tokenIdBytes = 16
const dexNameBytesMax = 4

/**
 * Accounts are EVM addresses. Currencies are 16-byte spot token ids, or such an id followed by the
 * ASCII name of a dex (at most 4 characters, so that no currency is longer than 20 bytes).
 * @source github.com/relayprotocol/relay-settlement, packages/sdk/src/utils.ts, messages/v2.2/withdrawal.ts
 */
export const hyperliquidCodec = createVmCodec({
  vmType: 'hyperliquid-vm',
  nativeCurrency: '0x00000000000000000000000000000000',
  nativeBytes: new Uint8Array(tokenIdBytes),
  parseAddress: parseEvmAddress,
  parseCurrency,
  parseHubCurrency(currency) {
    const parsed = parseCurrency(currency)
    if ('refusal' in parsed || parsed.bytes.length === tokenIdBytes) return parsed
    return { refusal: 'the currency of a dex has no hub token' }
  },
  parseTransactionId: parsePrefixedHash,
})

function parseCurrency(currency: string): ParsedAddress | Refusal {
  const refusal = { refusal: 'expected 0x and a 16-byte token id, with the ASCII name of a dex or without' }
  if (currency.length > 2 + 2 * (tokenIdBytes + dexNameBytesMax) || !currency.startsWith('0x')) return refusal
  const bytes = parseHexDigits(currency, 2)
  if (bytes === undefined || bytes.length < tokenIdBytes) return refusal
  const isDexName = bytes.subarray(tokenIdBytes).every((byte) => byte > 0x20 && byte < 0x7f)
  return isDexName ? { bytes, canonical: currency.toLowerCase() } : refusal
}
