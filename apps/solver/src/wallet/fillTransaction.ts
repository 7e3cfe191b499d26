import { fillContractAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { concatHex, encodeFunctionData, zeroAddress } from 'viem'
import type { PlannedTransaction } from '../work/relays.ts'
import type { PaidOrder } from '../work/workItems.ts'

/** The native coin's currency. */
export const nativeCurrency: Hex = zeroAddress

/** Payments and calls through the fill contract, with the order id after the calldata. */
export function fillTransaction({
  orderId,
  fillContract,
  payments,
  calls,
}: Pick<PaidOrder, 'orderId' | 'fillContract' | 'payments' | 'calls'>): PlannedTransaction {
  const natives = payments.filter(({ currency }) => currency === nativeCurrency)
  const tokens = payments.filter(({ currency }) => currency !== nativeCurrency)
  const data = encodeFunctionData({
    abi: fillContractAbi,
    functionName: 'fill',
    args: [
      natives.map(({ recipient: to, amount }) => ({ to, amount })),
      tokens.map(({ currency: token, recipient: to, amount }) => ({ token, to, amount })),
      calls,
      zeroAddress,
    ],
  })
  return { to: fillContract, data: concatHex([data, orderId]), valueWei: nativeNeed({ payments, calls }) }
}

/** What the fill wallet must hold of each currency, each named once. Gas is not among it. */
export function needsOf(order: Pick<PaidOrder, 'payments' | 'calls'>): ReadonlyMap<Hex, bigint> {
  const needs = new Map<Hex, bigint>()
  for (const { currency, amount } of order.payments) {
    if (currency !== nativeCurrency) needs.set(currency, (needs.get(currency) ?? 0n) + amount)
  }
  const native = nativeNeed(order)
  return native === 0n ? needs : needs.set(nativeCurrency, native)
}

function nativeNeed({ payments, calls }: Pick<PaidOrder, 'payments' | 'calls'>): bigint {
  const paid = payments.filter(({ currency }) => currency === nativeCurrency).map(({ amount }) => amount)
  return [...paid, ...calls.map(({ value }) => value)].reduce((sum, part) => sum + part, 0n)
}
