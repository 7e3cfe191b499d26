import { depositoryAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { decodeEvmWithdrawal, type EvmWithdrawal } from '@causeway/families/rules'
import { encodeFunctionData } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'

/**
 * EIP-712 types of a request that a depository executes once its allocator signed it.
 * @source Depository.sol
 */
const callRequestTypes = {
  CallRequest: [
    { name: 'calls', type: 'Call[]' },
    { name: 'nonce', type: 'uint256' },
    { name: 'expiration', type: 'uint256' },
  ],
  Call: [
    { name: 'to', type: 'address' },
    { name: 'data', type: 'bytes' },
    { name: 'value', type: 'uint256' },
    { name: 'allowFailure', type: 'bool' },
  ],
} as const

/** Calldata with which anybody lets the depository execute a payload that its allocator signed. */
export function payloadCallData(payload: Hex, signature: Hex): Hex {
  const args = [decodeEvmWithdrawal(payload), signature] as const
  return encodeFunctionData({ abi: depositoryAbi, functionName: 'execute', args })
}

/** Signs a request with the allocator's key, which tests hold, and returns calldata as `payloadCallData` does. */
export async function executeCallData(args: {
  readonly chainId: number
  readonly depository: Hex
  readonly allocator: PrivateKeyAccount
  readonly request: EvmWithdrawal
}): Promise<Hex> {
  const { chainId, depository, allocator, request } = args
  const signature = await allocator.signTypedData({
    domain: { name: 'RelayDepository', version: '1', chainId, verifyingContract: depository },
    types: callRequestTypes,
    primaryType: 'CallRequest',
    message: request,
  })
  return encodeFunctionData({ abi: depositoryAbi, functionName: 'execute', args: [request, signature] })
}
