import type { Hex } from '@causeway/core'
import { contractInterface } from '../rules/contractInterface.ts'
import type { ContractCall } from './multicall.ts'

const token = contractInterface([
  'function balanceOf(address account) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function decimals() view returns (uint8)',
  'function transferFrom(address from, address to, uint256 amount) returns (bool)',
])
const multicall3Balance = contractInterface([
  'function getEthBalance(address account) view returns (uint256)',
])
const feed = contractInterface(['function description() view returns (string)'])

// Calls of tokens and price feeds. All throw RangeError on an address that is not 20 bytes.

export const balanceOfCall = (target: Hex, account: Hex): ContractCall => ({
  target,
  callData: token.encode('balanceOf', [account]),
})

export const allowanceCall = (target: Hex, owner: Hex, spender: Hex): ContractCall => ({
  target,
  callData: token.encode('allowance', [owner, spender]),
})

/** A transfer of 0, which needs no allowance: if the token refuses it, it refuses (blocks) one of the two accounts. */
export const emptyMoveCall = (target: Hex, from: Hex, to: Hex): ContractCall => ({
  target,
  callData: token.encode('transferFrom', [from, to, 0n]),
})

/** Multicall3's `getEthBalance`: the native balance at the same block as the multicall's other reads. */
export const nativeBalanceCall = (multicall3: Hex, account: Hex): ContractCall => ({
  target: multicall3,
  callData: multicall3Balance.encode('getEthBalance', [account]),
})

/** `decimals()` of a token or a price feed. */
export const decimalsCall = (target: Hex): ContractCall => ({
  target,
  callData: token.encode('decimals', []),
})

/** `description()` of a price feed. */
export const descriptionCall = (target: Hex): ContractCall => ({
  target,
  callData: feed.encode('description', []),
})
