import { bytesToHex, domainSeparator, fixedHexToBytes, typedDataDigest } from '@causeway/core'
import { isSignedByAccount } from '../../ethereum/rules/family.ts'
import { type AllocatorPayloadFamily, firstDifference } from '../../rules/allocatorPayloadFamily.ts'
import type { Family } from '../../rules/family.ts'
import { hyperliquidQuoting } from './quoting/hyperliquidQuoting.ts'
import { decodeHyperliquidWithdrawal, hyperliquidWithdrawalId } from './withdrawal.ts'
import { normaliseHyperliquidRequest } from './withdrawRequest.ts'

/** EIP-712 domain in which the exchange's wallets sign actions: with the chain id of Arbitrum. */
const signatureDomain = domainSeparator({
  name: 'HyperliquidSignTransaction',
  version: '1',
  chainId: 42_161,
  verifyingContract: `0x${'00'.repeat(20)}`,
})

/** The payload and the withdrawal are the action's bytes; its time and a token's symbol come from the request. */
const hyperliquidAllocatorPayload: AllocatorPayloadFamily = {
  additionalData(withdrawal) {
    const action = decodeHyperliquidWithdrawal(withdrawal)
    const [symbol, time] =
      action.type === 'UsdSend' ? ['', action.time] : [action.token.split(':', 1)[0] ?? '', action.nonce]
    return { currencyHyperliquidSymbol: symbol, currentTime: time.toString() }
  },
  hashes(payload) {
    const structHash = fixedHexToBytes(hyperliquidWithdrawalId(decodeHyperliquidWithdrawal(payload)), 32)
    return [bytesToHex(typedDataDigest(signatureDomain, structHash))]
  },
  toWithdrawal: (payload) => payload,
  difference: (withdrawal, payload) =>
    firstDifference(decodeHyperliquidWithdrawal(withdrawal), decodeHyperliquidWithdrawal(payload)),
}

/** Hyperliquid's entry in `families`: its rules, none of which opens a connection. */
export const hyperliquidFamily = {
  name: 'Hyperliquid',
  publicName: 'hypevm',
  withdrawRequest: normaliseHyperliquidRequest,
  allocatorPayload: hyperliquidAllocatorPayload,
  isSignedByOwner: isSignedByAccount,
  // No setting of the chains file lists payers. Depositories of the allocator file must have these members.
  payerSettings: [],
  depositoryMembers: ['networkName', 'tokens'],
  // The sender of a deposit pays its fee himself.
  takesDepositFeePayer: false,
  quoting: hyperliquidQuoting,
} satisfies Family
