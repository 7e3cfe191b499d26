import { decodeBase58 } from '../hashing/base58Check.ts'
import { createVmCodec } from './vmCodec.ts'

const publicKeyBytes = 32
const signatureBytes = 64

/**
 * Accounts, mints and transaction ids are base58, which is case-sensitive and has one spelling per value.
 * @source github.com/relayprotocol/relay-settlement, packages/sdk/src/utils.ts; rule F-149
 */
export const solanaCodec = createVmCodec({
  vmType: 'solana-vm',
  nativeCurrency: '11111111111111111111111111111111',
  nativeBytes: new Uint8Array(publicKeyBytes),
  parseAddress(address) {
    const bytes = decodeBase58(address, publicKeyBytes)
    return bytes === undefined ? { refusal: 'expected base58 of 32 bytes' } : { bytes, canonical: address }
  },
  parseTransactionId(transactionId) {
    const bytes = decodeBase58(transactionId, signatureBytes)
    return bytes === undefined
      ? { refusal: 'expected base58 of 64 bytes' }
      : { bytes, canonical: transactionId }
  },
})
