import type { Hex } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import type { PaidTransaction, PaymentTerms } from '../../ethereum/reading/payments/paidTransaction.ts'
import {
  type ProvenPayment,
  provePayment as proveByAccounts,
} from '../../ethereum/reading/payments/provePayment.ts'
import type { TronTransaction } from './rawTransaction.ts'

/** Recipient and currency as the order spells them, and their 20 bytes; TRX is 20 zero bytes. */
export type PaymentTarget = {
  readonly recipient: string
  readonly currency: string
  readonly account: Hex
  readonly token: Hex
}

const idDigits = 64
/** Arguments are padded with that many zeros: what begins or ends so is no id that anybody could find. */
const padding = /^0{24}|0{24}$/

/**
 * Calldata or the memo must end with the order id, and the other of the two may not end with what could be
 * another one: a transaction that names two orders names none. @source rule P-40
 */
export function referencesOrder({ input, memo }: TronTransaction, orderId: Hex): boolean {
  const digits = orderId.slice(2).toLowerCase()
  const ends = [input, memo].flatMap((data) => endOf(data))
  return ends.includes(digits) && ends.every((end) => end === digits || padding.test(end))
}

/** The last 32 bytes, where there are as many. */
function endOf(data: Hex): readonly string[] {
  return data.length >= 2 + idDigits ? [data.slice(-idDigits)] : []
}

/** The terms of a payment in the spelling of logs. TRX pays by the transaction itself whatever it says. */
export function paymentTerms({
  targets,
  ...terms
}: Pick<PaymentTerms, 'orderId' | 'side' | 'calls'> & {
  readonly targets: readonly PaymentTarget[]
}): PaymentTerms {
  const spelled = targets.map(({ account: recipient, token: currency }) => ({ recipient, currency }))
  const { nativeCurrency } = ethereumCodec
  return { ...terms, targets: spelled, nativeCurrency, ownValuePays: true }
}

/** By the rules of `ethereum-vm`; calls are not proven here. @param targets those of `terms` */
export function provePayment(
  paid: PaidTransaction,
  targets: readonly PaymentTarget[],
  terms: PaymentTerms,
): Omit<ProvenPayment, 'calls'> {
  const names = new Map(targets.map((target) => [`${target.account} ${target.token}`, target]))
  const { calls: _unproven, transfers, ...proven } = proveByAccounts(paid, terms)
  return {
    ...proven,
    transfers: transfers.flatMap((transfer) => {
      const name = names.get(`${transfer.recipient} ${transfer.currency}`)
      return name === undefined ? [] : [{ ...transfer, recipient: name.recipient, currency: name.currency }]
    }),
  }
}
