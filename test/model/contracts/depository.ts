// Depository.sol: takes deposits that name an order and pays out what the allocator signs.

import type { Hex } from '@causeway/core'
import { type EvmWithdrawal, evmWithdrawalId } from '@causeway/families/rules'
import {
  type ContractModel,
  contractOf,
  event,
  type Frame,
  method,
  Revert,
  typedDigest,
} from './contractModel.ts'
import { isSignedBy } from './signatures.ts'
import { pullToken } from './transfers.ts'

const nativeDeposit = event('event RelayNativeDeposit(address from, uint256 amount, bytes32 id)')
const tokenDeposit = event('event RelayErc20Deposit(address from, address token, uint256 amount, bytes32 id)')
const executed = event(
  'event RelayCallExecuted(bytes32 id, (address to, bytes data, uint256 value, bool allowFailure) call)',
)
const zeroAddress = `0x${'0'.repeat(40)}`

/** Digest of a withdrawal that the allocator's key signs. */
export function withdrawalDigest(
  at: { readonly chainId: number; readonly self: Hex },
  withdrawal: EvmWithdrawal,
): Hex {
  return typedDigest(at, ['RelayDepository', '1'], evmWithdrawalId(withdrawal))
}

const creditedTo = ({ caller }: Frame, depositor: Hex) => (depositor === zeroAddress ? caller : depositor)

export const depositoryModel: ContractModel = contractOf([
  method('function allocator() returns (address)', ({ state }) => [state.bytes('allocator')]),
  method('function callRequests(bytes32 structHash) returns (bool)', ({ state }, [id]) => [
    state.number(`used ${id}`) > 0n,
  ]),
  method('function depositNative(address depositor, bytes32 id) payable', (frame, [depositor, id]) => {
    frame.emit(nativeDeposit(creditedTo(frame, depositor), frame.value, id))
    return []
  }),
  method(
    'function depositErc20(address depositor, address token, uint256 amount, bytes32 id)',
    (frame, [depositor, token, amount, id]) => {
      pullToken(frame, token, frame.caller, frame.self, amount)
      frame.emit(tokenDeposit(creditedTo(frame, depositor), token, amount, id))
      return []
    },
  ),
  method(
    'function execute(((address to, bytes data, uint256 value, bool allowFailure)[] calls, uint256 nonce, uint256 expiration) request, bytes signature) returns ((bool success, bytes returnData)[])',
    (frame, [request, signature]) => {
      if (request.expiration < frame.timestamp) throw new Revert('CallRequestExpired')
      const id = evmWithdrawalId(request)
      if (frame.state.number(`used ${id}`) > 0n) throw new Revert('CallRequestAlreadyUsed')
      const digest = withdrawalDigest(frame, request)
      if (!isSignedBy(frame, frame.state.bytes('allocator'), digest, signature)) {
        throw new Revert('InvalidSignature')
      }
      frame.state.set(`used ${id}`, 1n)
      return [request.calls.map((call) => runCall(frame, id, call))]
    },
  ),
])

function runCall(frame: Frame, id: Hex, call: EvmWithdrawal['calls'][number]) {
  const { to, data, value, allowFailure } = call
  try {
    const returnData = frame.call(to, data, value)
    frame.emit(executed(id, call))
    return { success: true, returnData }
  } catch (error) {
    if (!(error instanceof Revert)) throw error
    if (!allowFailure) throw new Revert('CallFailed')
    return { success: false, returnData: '0x' as const }
  }
}
