import { decodeOrderCall, fillContractOf, type Hex, type Order, orderSchema } from '@causeway/core'
import type { QuotableChain } from '../../../pricing/registry.ts'
import type { FillPayload, RefundPayload } from '../../work/workItem.ts'
import { type Deposited, paidFor } from '../amounts/depositShare.ts'
import type { StoredDeposit } from '../deposits/depositStore.ts'
import type { SettledRequest } from '../settledRequest.ts'

/**
 * Part of a work item by which a solver checks for itself that the order is signed and its deposit exists.
 * @throws Error if the order is not signed; callers sign it before they decide on a deposit
 */
export function proofOf(
  { order, orderSignature }: Pick<SettledRequest, 'order' | 'orderSignature'>,
  { chainId, txHash, onchainIndex }: Pick<StoredDeposit, 'chainId' | 'txHash' | 'onchainIndex'>,
): Required<Pick<FillPayload, 'order' | 'orderSignature' | 'deposits'>> {
  return {
    // Parsing copies the read-only order into the payload's type.
    order: orderSchema.parse(order),
    orderSignature: signatureOf({ orderSignature }),
    deposits: [{ chainId, transactionId: txHash, onchainIndex }],
  }
}

/** The order's signature. @throws Error if it is missing, as every order is signed before there is work for it */
export function signatureOf({ orderSignature }: Pick<SettledRequest, 'orderSignature'>): Hex {
  if (orderSignature === undefined) throw new Error('an order is signed before there is work for it')
  return orderSignature
}

/** The fill contract that the order names, which may differ from the one configured at present. */
function pickFillContract(extraData: string): Pick<FillPayload, 'fillContract'> {
  const fillContract = fillContractOf(extraData)
  return fillContract === undefined ? {} : { fillContract }
}

/** Payload of the work item for a fill; its amounts are those that the deposit pays for. */
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
    // The clone that runs the calls sends what is left over to the quote's recipient.
    ...(calls.length > 0 && { recipient: destination.quoting.hexAddress(recipient) }),
  }
}

/** Payload of the work item for a refund, to the first refund recipient of the order. */
export function refundPayload(
  order: Order,
  refund: {
    readonly orderId: Hex
    readonly origin: QuotableChain
    readonly currency: string
    readonly amount: bigint
    readonly deadlineSeconds: number
    /** Transaction id of a fill that the solver sent and that can no longer pay. */
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
