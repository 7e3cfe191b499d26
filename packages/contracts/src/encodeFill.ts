import type { Hex } from '@causeway/core'
import { concatHex, encodeFunctionData } from 'viem'
import { fillContractAbi } from './abis.generated.ts'

/** A payment in the chain's native coin. Amount in its smallest unit. */
export type NativePayment = { readonly to: Hex; readonly amount: bigint }
/** A payment in an ERC-20 token. Amount in its smallest unit. */
export type Erc20Payment = { readonly token: Hex; readonly to: Hex; readonly amount: bigint }
/** A call that an order asks for on its destination. `value` in the native coin's smallest unit. */
export type FillCall = { readonly to: Hex; readonly data: Hex; readonly value: bigint }

/** Calls of an order. The fill contract runs them from the order's clone; payments to the clone's address fund them. */
export type OrderCalls = {
  /** Goes into the CREATE2 salt of the clone, so that each order has its own. */
  readonly orderSalt: Hex
  /** Gets the native coin and the `sweptTokens` that remain in the clone after the calls. */
  readonly recipient: Hex
  readonly sweptTokens: readonly Hex[]
  readonly calls: readonly FillCall[]
}

/** One transaction of a fill wallet to the fill contract: a fill, a refund, or the payment of a claim. */
export type Fill = {
  /** Id that the contract records as paid: the order id of a fill, the `refundId` of a refund, the id of a claim. */
  readonly id: Hex
  /** Appended to the calldata, where readers of the chain look for it: the order id, or the id of a claim. */
  readonly orderId: Hex
  /** Unix seconds. The transaction reverts in a block with a later time. */
  readonly deadlineSeconds: bigint
  readonly natives?: readonly NativePayment[] | undefined
  readonly tokens?: readonly Erc20Payment[] | undefined
  readonly orderCalls?: OrderCalls | undefined
}

/** Encodes the calldata of `pay`, or of `fill` if there are calls. The transaction's value must be the sum of `natives`. */
export function encodeFill({
  id,
  orderId,
  deadlineSeconds,
  natives = [],
  tokens = [],
  orderCalls,
}: Fill): Hex {
  const abi = fillContractAbi
  const data =
    orderCalls === undefined || orderCalls.calls.length === 0
      ? encodeFunctionData({ abi, functionName: 'pay', args: [id, deadlineSeconds, natives, tokens] })
      : encodeFunctionData({
          abi,
          functionName: 'fill',
          args: [id, deadlineSeconds, natives, tokens, orderCalls],
        })
  return concatHex([data, orderId])
}
