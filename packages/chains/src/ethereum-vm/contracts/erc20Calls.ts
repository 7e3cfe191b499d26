import { addressWord, type Hex } from '@causeway/core'
import type { ContractCall } from './multicall.ts'

/** Calldata of the reads that the package makes. All throw RangeError on an address that is not 20 bytes. */
export const balanceOfCall = (token: Hex, account: Hex): ContractCall => ({
  target: token,
  callData: `0x70a08231${addressWord(account)}`,
})

export const allowanceCall = (token: Hex, owner: Hex, spender: Hex): ContractCall => ({
  target: token,
  callData: `0xdd62ed3e${addressWord(owner)}${addressWord(spender)}`,
})

/** Multicall3's `getEthBalance`: the native balance at the same block as everything else. */
export const nativeBalanceCall = (multicall3: Hex, account: Hex): ContractCall => ({
  target: multicall3,
  callData: `0x4d2301cc${addressWord(account)}`,
})

/** `decimals()` of a token or a price feed. */
export const decimalsCall = (contract: Hex): ContractCall => ({ target: contract, callData: '0x313ce567' })

/** `description()` of a price feed. */
export const descriptionCall = (feed: Hex): ContractCall => ({ target: feed, callData: '0x7284e416' })
