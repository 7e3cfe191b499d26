import type { Hex } from '../hex.ts'
import type { Order } from '../order/order.ts'

/**
 * The four messages of the protocol in their JSON shape, reduced to what is hashed: amounts are
 * decimal strings, statuses and indices numbers, addresses and transaction ids in their family's
 * canonical spelling. @source rules P-89, P-127
 */
export type DepositMessage = {
  readonly data: { readonly chainId: string; readonly transactionId: string }
  readonly result: {
    readonly onchainId: Hex
    readonly depository: string
    /** 32 bytes; all zero when the deposit names no order. */
    readonly depositId: Hex
    readonly depositor: string
    readonly currency: string
    readonly amount: string
  }
}

export type WithdrawalMessage = {
  readonly data: { readonly chainId: string; readonly withdrawal: Hex }
  readonly result: {
    readonly withdrawalId: Hex
    readonly depository: string
    /** 0 pending, 1 executed, 2 expired. */
    readonly status: number
  }
}

/** Names the deposit that paid one input of an order. */
export type InputEntry = {
  readonly transactionId: string
  readonly onchainId: Hex
  readonly inputIndex: number
}
export type FillEntry = { readonly transactionId: string }
/** Names the transaction that paid `order.inputs[inputIndex].refunds[refundIndex]`. */
export type RefundEntry = {
  readonly transactionId: string
  readonly inputIndex: number
  readonly refundIndex: number
}

export type SettlementResult = {
  readonly orderId: Hex
  /** 1: settled. */
  readonly status: number
  /** Deposits less the order's inputs, by weight, as a part of those inputs; signed, 10^18 is 100 %. */
  readonly totalWeightedInputPaymentBpsDiff: string
}

export type FillMessage = {
  readonly data: {
    readonly order: Order
    readonly orderSignature: Hex
    readonly inputs: readonly InputEntry[]
    readonly fill: FillEntry
  }
  readonly result: SettlementResult
}

export type RefundMessage = {
  readonly data: {
    readonly order: Order
    readonly orderSignature: Hex
    readonly inputs: readonly InputEntry[]
    readonly refunds: readonly RefundEntry[]
  }
  readonly result: SettlementResult
}
