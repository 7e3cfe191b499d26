import { decodeBase58Check } from '../hashing/base58Check.ts'
import { createVmCodec, parseBareHash, type VmCodec } from './vmCodec.ts'

/** First byte of an address; the public test networks use the same one. */
export type TronNetwork = { readonly addressPrefix: number }

export const tronMainnet: TronNetwork = { addressPrefix: 0x41 }

const accountBytes = 20

/**
 * Protocol bytes of an address are its base58check payload: the prefix and 20 bytes. Transaction ids
 * come with or without `0x`; the bare form is canonical, so that one deposit has one id. On every network the
 * native currency is the main network's address of 20 zero bytes.
 * @source rule F-149
 */
export function createTronCodec(network: TronNetwork = tronMainnet): VmCodec {
  return createVmCodec({
    vmType: 'tron-vm',
    nativeCurrency: 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb',
    nativeBytes: Uint8Array.of(tronMainnet.addressPrefix, ...new Uint8Array(accountBytes)),
    parseAddress(address) {
      const payload = decodeBase58Check(address, 1 + accountBytes)
      if (payload === undefined) return { refusal: 'length, characters or checksum are wrong' }
      if (payload[0] !== network.addressPrefix) return { refusal: 'it belongs to another network' }
      return { bytes: payload, canonical: address }
    },
    parseTransactionId(transactionId) {
      return parseBareHash(transactionId.startsWith('0x') ? transactionId.slice(2) : transactionId)
    },
  })
}

export const tronCodec = createTronCodec()
