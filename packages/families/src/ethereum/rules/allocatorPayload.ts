import { bytesToHex, domainSeparator, fixedHexToBytes, typedDataDigest } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import { type AllocatorPayloadFamily, firstDifference } from '../../rules/allocatorPayloadFamily.ts'
import { decodeEvmWithdrawal, evmWithdrawalId } from './withdrawal.ts'

/**
 * The payload is the call request itself; one hash, of the depository's domain. Tron has the same under
 * the 20 bytes of its accounts. @source rule P-69
 */
export const evmAllocatorPayload: AllocatorPayloadFamily = {
  additionalData: () => undefined,
  hashes(payload, { hubChainId, depository }) {
    const verifyingContract = bytesToHex(ethereumCodec.encodeAddress(depository))
    const domain = { name: 'RelayDepository', version: '1', chainId: Number(hubChainId), verifyingContract }
    const structHash = fixedHexToBytes(evmWithdrawalId(decodeEvmWithdrawal(payload)), 32)
    return [bytesToHex(typedDataDigest(domainSeparator(domain), structHash))]
  },
  toWithdrawal: (payload) => payload,
  difference: (withdrawal, payload) =>
    firstDifference(decodeEvmWithdrawal(withdrawal), decodeEvmWithdrawal(payload)),
}
