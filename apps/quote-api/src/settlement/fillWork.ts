import { decodeOrderCall, type Hex, type Order } from '@causeway/core'
import type { QuotableChain } from '../quoting/registry.ts'
import type { FillPayload, RefundPayload } from '../solver/workItem.ts'

/** What the solver has to pay for an order: exactly the quoted amounts. */
export function fillPayload(order: Order, orderId: Hex, destination: QuotableChain): FillPayload {
  const { payments, calls, deadline } = order.output
  return {
    orderId,
    chainId: destination.chainId,
    ...(destination.config.fillContract !== undefined && { fillContract: destination.config.fillContract }),
    deadline,
    payments: payments.map(({ recipient, currency, expectedAmount }) => ({
      recipient,
      currency,
      amount: expectedAmount,
    })),
    calls: calls.map((call) => {
      const { to, data, value } = decodeOrderCall(call)
      return { to, data, value: value.toString() }
    }),
  }
}

/** What the solver has to give back, to where the order says. */
export function refundPayload(
  order: Order,
  refund: {
    readonly orderId: Hex
    readonly origin: QuotableChain
    readonly currency: string
    readonly amount: bigint
    readonly deadlineSeconds: number
    readonly replaces?: Hex | undefined
  },
): RefundPayload {
  const recipient = order.inputs[0]?.refunds[0]?.recipient
  if (recipient === undefined) throw new Error('an order names its refund recipient')
  const { origin } = refund
  return {
    orderId: refund.orderId,
    chainId: origin.chainId,
    ...(origin.config.fillContract !== undefined && { fillContract: origin.config.fillContract }),
    deadline: refund.deadlineSeconds,
    recipient,
    currency: refund.currency,
    amount: refund.amount.toString(),
    ...(refund.replaces !== undefined && { replaces: refund.replaces }),
  }
}
