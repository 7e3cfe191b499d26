import type { Hex } from '@causeway/core'
import { concatHex, encodeFunctionData } from 'viem'
import { fillContractAbi } from './abis.generated.ts'

export type NativePayment = { readonly to: Hex; readonly amount: bigint }
export type Erc20Payment = { readonly token: Hex; readonly to: Hex; readonly amount: bigint }
export type FillCall = { readonly to: Hex; readonly data: Hex; readonly value: bigint }

/** Calls of an order as the fill contract runs them, from a clone that what they spend is paid to. */
export type OrderCalls = {
  readonly orderSalt: Hex
  /** Gets the native coin and the swept tokens that the calls leave over. */
  readonly recipient: Hex
  readonly sweptTokens: readonly Hex[]
  readonly calls: readonly FillCall[]
}

/** Payments of one transaction of the fill contract. Amounts in smallest units. */
export type Fill = {
  /** Recorded id: the order id of a fill, a claim's own id, a refund's `refundId`. */
  readonly id: Hex
  /** Ends the calldata, where readers look for it: the order id, of a claim its own id. */
  readonly orderId: Hex
  /** Unix seconds; in a block after it the transaction reverts. */
  readonly deadlineSeconds: bigint
  readonly natives?: readonly NativePayment[] | undefined
  readonly tokens?: readonly Erc20Payment[] | undefined
  readonly orderCalls?: OrderCalls | undefined
}

/** Calldata of the fill contract. The transaction carries exactly the sum of `natives`. */
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
