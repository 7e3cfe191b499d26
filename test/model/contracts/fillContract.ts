// FillContract.sol without the calls of orders, and Multicall3.sol, which stands for any contract that a party
// writes: it runs whatever it is handed, in its own name.
import type { Hex } from '@causeway/core'
import { type ContractModel, contractOf, event, method, Revert, takesNoCoin } from './contractModel.ts'
import { pullToken, pushNative } from './transfers.ts'

const paidEvent = event('event Paid(address indexed filler, bytes32 indexed id)')
const closedEvent = event('event Closed(address indexed filler, bytes32 indexed id)')
const paidNative = event('event SolverNativeTransfer(address to, uint256 amount)')
const [paid, closed] = [1n, 2n]
const entered = 1n

export const fillContractModel: ContractModel = contractOf([
  takesNoCoin,
  method(
    'function pay(bytes32 id, uint256 deadline, (address to, uint256 amount)[] nativePayments, (address token, address to, uint256 amount)[] erc20Payments) payable',
    (frame, [id, deadline, natives, tokens]) => {
      const { state, caller } = frame
      if (state.number('entered') === entered) throw new Revert('Reentered')
      state.set('entered', entered)
      if (frame.timestamp > deadline) throw new Revert('DeadlinePassed')
      const key = `${caller} ${id}`
      if (state.number(key) === paid) throw new Revert('AlreadyPaid')
      if (state.number(key) === closed) throw new Revert('AlreadyClosed')
      state.set(key, paid)
      frame.emit(paidEvent(caller, id))
      for (const { token, to, amount } of tokens) pullToken(frame, token, caller, to, amount)
      if (natives.reduce((sum, { amount }) => sum + amount, 0n) !== frame.value)
        throw new Revert('WrongValue')
      for (const { to, amount } of natives) {
        pushNative(frame, to, amount)
        frame.emit(paidNative(to, amount))
      }
      state.set('entered', 0n)
      return []
    },
  ),
  method('function close(bytes32 id)', ({ state, caller, emit }, [id]) => {
    const key = `${caller} ${id}`
    if (state.number(key) === paid) throw new Revert('AlreadyPaid')
    state.set(key, closed)
    emit(closedEvent(caller, id))
    return []
  }),
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
