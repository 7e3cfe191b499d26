// FillContract.sol without the calls of orders, and Multicall3.sol, which stands for any contract that a party
// writes: it runs whatever it is handed, in its own name.
import type { Hex } from '@causeway/core'
import { type ContractModel, contractOf, event, method, Revert } from './contractModel.ts'
import { pullToken, pushNative } from './transfers.ts'

const paidNative = event('event SolverNativeTransfer(address to, uint256 amount)')

export const fillContractModel: ContractModel = contractOf([
  method(
    'function fill((address to, uint256 amount)[] nativePayments, (address token, address to, uint256 amount)[] erc20Payments, (address to, bytes data, uint256 value)[] calls, address refundTo) payable',
    (frame, [natives, tokens, calls]) => {
      if (calls.length > 0) throw new Error('the model runs no calls of orders')
      let left = frame.value
      for (const { token, to, amount } of tokens) pullToken(frame, token, frame.caller, to, amount)
      for (const { to, amount } of natives) {
        if (amount > left) throw new Revert('ValueTooLow')
        left -= amount
        pushNative(frame, to, amount)
        frame.emit(paidNative(to, amount))
      }
      if (left > 0n) pushNative(frame, frame.caller, left)
      return []
    },
  ),
])

export const multicallModel: ContractModel = contractOf([
  method(
    'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable returns ((bool success, bytes returnData)[])',
    (frame, [calls]) => [
      calls.map(({ target, allowFailure, callData }) => {
        try {
          return { success: true, returnData: frame.call(target, callData) }
        } catch (error) {
          if (!(error instanceof Revert)) throw error
          if (!allowFailure) throw new Revert('Error(Multicall3: call failed)')
          const returnData: Hex = '0x'
          return { success: false, returnData }
        }
      }),
    ],
  ),
])
