import { bytesToHex, domainSeparator, fixedHexToBytes, typedDataDigest } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import { type AllocatorPayloadFamily, firstDifference } from '../../rules/allocatorPayloadFamily.ts'
import { decodeEvmWithdrawal, evmWithdrawalId } from './withdrawal.ts'

/**
 * Withdrawal payloads of EVM chains and Tron. The payload is the depository's call request itself, made without
 * additional data. The allocator signs one EIP-712 hash of it, in a domain of the depository on its own chain. Tron's
 * addresses are hashed as their 20 bytes.
 * @source rule P-69
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
