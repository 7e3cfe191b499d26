import { parseHexDigits } from '../hashing/hexBytes.ts'
import { createVmCodec } from './vmCodec.ts'

const indexPattern = /^(?:0|[1-9][0-9]*)$/
const indexMax = 2n ** 64n - 1n
const indexDigitsMax = 20
const indexBytes = 16
const transactionIdDigitsMax = 256

/**
 * Accounts and assets are indices, written in decimal without leading zeros and encoded as 16 bytes,
 * big-endian; the protocol's messages carry them as uint64. Transaction ids are longer than 32 bytes
 * and of no fixed length, so any up to 128 bytes is accepted.
 * @source github.com/relayprotocol/relay-settlement, packages/sdk/src/utils.ts; rules F-149, F-160
 */
export const lighterCodec = createVmCodec({
  vmType: 'lighter-vm',
  nativeCurrency: '0',
  nativeBytes: new Uint8Array(indexBytes),
  parseAddress(address) {
    const isShaped = address.length <= indexDigitsMax && indexPattern.test(address)
    const index = isShaped ? BigInt(address) : undefined
    if (index === undefined || index > indexMax) return { refusal: 'expected an index in decimal' }
    return { bytes: encodeIndex(index), canonical: address }
  },
  parseTransactionId(transactionId) {
    const isBounded = transactionId.length > 0 && transactionId.length <= transactionIdDigitsMax
    // Digits begin at the first character: ids have no `0x`.
    const bytes = isBounded ? parseHexDigits(transactionId, 0) : undefined
    if (bytes === undefined) return { refusal: 'expected an even number of hex digits without 0x' }
    return { bytes, canonical: transactionId.toLowerCase() }
  },
})

function encodeIndex(index: bigint): Uint8Array {
  const bytes = new Uint8Array(indexBytes)
  new DataView(bytes.buffer).setBigUint64(indexBytes - 8, index)
  return bytes
}
