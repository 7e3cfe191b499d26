import { tronHexAddress } from '@causeway/core/encodings'
import type { RpcCall } from '@causeway/rpc'
import { allowanceCall, balanceOfCall, decimalsCall } from '../../ethereum/contracts/erc20Calls.ts'
import { encodeTransfer } from '../../ethereum/rules/abi.ts'
import { tokenAllowance } from '../rules/paying/fillCalls.ts'
import { tryCall } from './nodeCalls.ts'

/** Call for an account's balance. All calls of this file are simulated, and all addresses are base58. */
export const balanceCall = (token: string, account: string): RpcCall =>
  tryCall({
    owner: account,
    contract: token,
    selector: 'balanceOf(address)',
    data: balanceOfCall(tronHexAddress(token), tronHexAddress(account)).callData,
  })

/** Call for the amount that `spender` may take of an owner's token. */
export const allowedCall = (token: string, owner: string, spender: string): RpcCall =>
  tryCall({
    owner,
    contract: token,
    selector: 'allowance(address,address)',
    data: allowanceCall(tronHexAddress(token), tronHexAddress(owner), tronHexAddress(spender)).callData,
  })

/** Call for a token's decimals. The caller does not matter: the token itself stands for one. */
export const tokenDecimalsCall = (token: string): RpcCall =>
  tryCall({
    owner: token,
    contract: token,
    selector: 'decimals()',
    data: decimalsCall(tronHexAddress(token)).callData,
  })

/** Transfer of one unit: it shows the energy of a transfer, and if the token lets the owner pay at all. */
export const transferTrial = (token: string, { from, to }: { readonly from: string; readonly to: string }) =>
  tryCall({
    owner: from,
    contract: token,
    selector: 'transfer(address,uint256)',
    data: encodeTransfer(tronHexAddress(to), 1n),
  })

/** Approval of one unit, by which the energy of an approval is measured. */
export function approvalTrial(
  token: string,
  { owner, spender }: { readonly owner: string; readonly spender: string },
) {
  const { selector, data } = tokenAllowance(token, spender, 1n)
  return tryCall({ owner, contract: token, selector, data })
}
