import { encodeFill, fillContractAbi, type OrderCalls } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import type { PlannedTransaction } from '@causeway/families'
import { encodeFunctionData, zeroAddress } from 'viem'
import { cloneOf } from '../judge/signedOrder.ts'
import { hex } from '../work/payloadFields.ts'
import type { PaidOrder } from '../work/workItems.ts'

/** The native coin's currency. */
export const nativeCurrency: Hex = zeroAddress

/**
 * The transaction that makes an order's payments and calls through the fill contract, with the order id after the calldata.
 * Calls run from the clone that the order pays; the recipient gets what they leave of the native coin and of the tokens
 * that the clone was paid. The contract records `id`.
 * @throws Error for calls without what their clone is made of, and for payments of another family
 */
export function fillTransaction(
  order: Pick<PaidOrder, 'orderId' | 'deadline' | 'payments' | 'calls' | 'recipient' | 'proof'> & {
    readonly fillContract?: Hex | undefined
  },
  { id, filler }: { readonly id: Hex; readonly filler: Hex },
): PlannedTransaction {
  const { orderId, fillContract, calls } = order
  if (fillContract === undefined) throw new Error('a payment without its fill contract')
  const payments = order.payments.map(toContractPayment)
  const tokens = payments.filter(({ currency }) => currency !== nativeCurrency)
  const data = encodeFill({
    id,
    orderId,
    deadlineSeconds: BigInt(order.deadline),
    natives: payments
      .filter(({ currency }) => currency === nativeCurrency)
      .map(({ recipient: to, amount }) => ({ to, amount })),
    tokens: tokens.map(({ currency: token, recipient: to, amount }) => ({ token, to, amount })),
    orderCalls: calls.length === 0 ? undefined : orderCalls({ ...order, payments }, filler),
  })
  return { to: fillContract, data, valueWei: nativeNeed(order) }
}

type ContractPayment = { readonly recipient: Hex; readonly currency: Hex; readonly amount: bigint }

const address = hex(20)

function toContractPayment({ recipient, currency, amount }: PaidOrder['payments'][number]): ContractPayment {
  return { recipient: address.parse(recipient), currency: address.parse(currency), amount }
}

/** Calls for the fill contract, which then sweeps the tokens that the order pays to the calls' clone. */
function orderCalls(
  order: Pick<PaidOrder, 'fillContract' | 'calls' | 'recipient' | 'proof'> & {
    readonly payments: readonly ContractPayment[]
  },
  filler: Hex,
): OrderCalls {
  const { payments, calls, proof } = order
  const clone = proof && cloneOf({ ...order, filler }, proof.order)
  if (clone === undefined) throw new Error('calls without the terms of their clone')
  const { address: cloned, orderSalt, recipient } = clone
  const sweptTokens = payments.flatMap((payment) =>
    payment.recipient === cloned && payment.currency !== nativeCurrency ? [payment.currency] : [],
  )
  return { orderSalt, recipient, sweptTokens, calls }
}

/** The transaction after which this wallet can pay an id no more. */
export const closingTransaction = (fillContract: Hex, id: Hex): PlannedTransaction => ({
  to: fillContract,
  data: encodeFunctionData({ abi: fillContractAbi, functionName: 'close', args: [id] }),
  valueWei: 0n,
})

/** Amount that the fill wallet must hold of each currency, each named once. Gas is not included. */
export function needsOf(order: Pick<PaidOrder, 'payments'>): ReadonlyMap<string, bigint> {
  const needs = new Map<string, bigint>()
  for (const { currency, amount } of order.payments) {
    if (currency !== nativeCurrency) needs.set(currency, (needs.get(currency) ?? 0n) + amount)
  }
  const native = nativeNeed(order)
  return native === 0n ? needs : needs.set(nativeCurrency, native)
}

/** Native coin that the payments need. The value of calls is part of the payment to their clone. */
function nativeNeed({ payments }: Pick<PaidOrder, 'payments'>): bigint {
  return payments.reduce((sum, { currency, amount }) => sum + (currency === nativeCurrency ? amount : 0n), 0n)
}
