import type { Hex } from '@causeway/core'
import type { Permit2Terms } from '../../rules/permitTerms.ts'
import { contractInterface } from './contractInterface.ts'
import { permit2Address } from './quoting/planTransactions.ts'

const typeFields = {
  PermitBatchWitnessTransferFrom: [
    { name: 'permitted', type: 'TokenPermissions[]' },
    { name: 'spender', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
    { name: 'witness', type: 'RelayerWitness' },
  ],
  TokenPermissions: [
    { name: 'token', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
  RelayerWitness: [
    { name: 'relayer', type: 'address' },
    { name: 'refundTo', type: 'address' },
    { name: 'nftRecipient', type: 'address' },
    { name: 'metadata', type: 'bytes' },
    { name: 'call3Values', type: 'Call3Value[]' },
  ],
  Call3Value: [
    { name: 'target', type: 'address' },
    { name: 'allowFailure', type: 'bool' },
    { name: 'value', type: 'uint256' },
    { name: 'callData', type: 'bytes' },
  ],
} as const

/**
 * Typed data that the owner signs for Permit2. The nonce is the order id, so an order is deposited once; tokens that
 * the calls leave over go back to the owner.
 * @source Permit2 `PermitBatchWitnessTransferFrom`; rule Q-191
 */
export function permit2TypedData({ token, owner, amount, deadlineSeconds, ...terms }: Permit2Terms) {
  const { orderId, chainId, router, relayer, calls } = terms
  return {
    domain: { name: 'Permit2', chainId, verifyingContract: permit2Address },
    types: typeFields,
    primaryType: 'PermitBatchWitnessTransferFrom' as const,
    value: {
      permitted: [{ token, amount: amount.toString() }],
      spender: router,
      nonce: BigInt(orderId).toString(),
      deadline: deadlineSeconds,
      witness: {
        relayer,
        refundTo: owner,
        nftRecipient: owner,
        metadata: orderId,
        call3Values: calls.map(({ to, data, value }) => ({
          target: to,
          allowFailure: false,
          value: value.toString(),
          callData: data,
        })),
      },
    },
  }
}

const router = contractInterface([
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct PermitBatchTransferFrom { TokenPermissions[] permitted; uint256 nonce; uint256 deadline; }',
  'struct Call3Value { address target; bool allowFailure; uint256 value; bytes callData; }',
  'function permit2TransferAndMulticall(address user, PermitBatchTransferFrom permit, Call3Value[] calls, address refundTo, address nftRecipient, bytes metadata, bytes signature)',
])

/** The router's call that takes the tokens and makes the deposit. @throws RangeError on a member that does not fit */
export function encodePermit2Deposit(terms: Permit2Terms, signature: Hex): Hex {
  const { token, owner, amount, deadlineSeconds, orderId, calls } = terms
  return router.encode('permit2TransferAndMulticall', [
    owner,
    { permitted: [{ token, amount }], nonce: BigInt(orderId), deadline: BigInt(deadlineSeconds) },
    calls.map(({ to, data, value }) => ({ target: to, allowFailure: false, value, callData: data })),
    owner,
    owner,
    orderId,
    signature,
  ])
}
