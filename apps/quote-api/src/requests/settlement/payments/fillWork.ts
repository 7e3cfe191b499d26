import { decodeOrderCall, fillContractOf, type Hex, type Order, orderSchema } from '@causeway/core'
import type { QuotableChain } from '../../../pricing/registry.ts'
import type { FillPayload, RefundPayload } from '../../work/workItem.ts'
import { type Deposited, paidFor } from '../amounts/depositShare.ts'
import type { StoredDeposit } from '../deposits/depositStore.ts'
import type { SettledRequest } from '../settledRequest.ts'

/**
 * With what a solver checks for itself that an order was signed and paid for.
 * @throws Error where it is not signed: that is done before anything becomes of a deposit
 */
export function proofOf(
  { order, orderSignature }: Pick<SettledRequest, 'order' | 'orderSignature'>,
  { chainId, txHash, onchainIndex }: Pick<StoredDeposit, 'chainId' | 'txHash' | 'onchainIndex'>,
): Required<Pick<FillPayload, 'order' | 'orderSignature' | 'deposits'>> {
  return {
    order: orderSchema.parse(order),
    orderSignature: signatureOf({ orderSignature }),
    deposits: [{ chainId, transactionId: txHash, onchainIndex }],
  }
}

/** @throws Error where there is none, which is made before there is work for the order */
export function signatureOf({ orderSignature }: Pick<SettledRequest, 'orderSignature'>): Hex {
  if (orderSignature === undefined) throw new Error('an order is signed before there is work for it')
  return orderSignature
}

/** The fill contract that extra data of the order name, whatever is configured by now. */
function pickFillContract(extraData: string): Pick<FillPayload, 'fillContract'> {
  const fillContract = fillContractOf(extraData)
  return fillContract === undefined ? {} : { fillContract }
}

/** Fill work for a deposit: exactly the quoted amounts for the quoted input. */
export function fillPayload(
  order: Order,
  deposited: Deposited,
  {
    orderId,
    destination,
    recipient,
  }: { readonly orderId: Hex; readonly destination: QuotableChain; readonly recipient: string },
): FillPayload {
  const { payments, calls, deadline, extraData } = order.output
  return {
    orderId,
    chainId: destination.chainId,
    ...pickFillContract(extraData),
    deadline,
    payments: payments.map((payment) => ({
      recipient: payment.recipient,
      currency: payment.currency,
      amount: paidFor(payment, order, deposited).toString(),
    })),
    calls: calls.map((call) => {
      const { to, data, value } = decodeOrderCall(call)
      return { to, data, value: value.toString() }
    }),
    ...(calls.length > 0 && { recipient: destination.quoting.hexAddress(recipient) }),
  }
}

/** Refund work for a deposit, paid to the recipient that the order names. */
export function refundPayload(
  order: Order,
  refund: {
    readonly orderId: Hex
    readonly origin: QuotableChain
    readonly currency: string
    readonly amount: bigint
    readonly deadlineSeconds: number
    readonly replaces?: string | undefined
  },
): RefundPayload {
  const orderRefund = order.inputs[0]?.refunds[0]
  if (orderRefund === undefined) throw new Error('an order names its refund recipient')
  const { origin } = refund
  return {
    orderId: refund.orderId,
    chainId: origin.chainId,
    ...pickFillContract(orderRefund.extraData),
    deadline: refund.deadlineSeconds,
    recipient: orderRefund.recipient,
    currency: refund.currency,
    amount: refund.amount.toString(),
    ...(refund.replaces !== undefined && { replaces: refund.replaces }),
  }
}
