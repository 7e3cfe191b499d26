import type { Hex } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import type { PaidTransaction, PaymentTerms } from '../../ethereum/reading/payments/paidTransaction.ts'
import {
  type ProvenPayment,
  provePayment as proveByAccounts,
} from '../../ethereum/reading/payments/provePayment.ts'
import type { TronTransaction } from './rawTransaction.ts'

/** Recipient and currency of a payment as the order spells them, and as `0x` and 20 bytes; TRX is 20 zero bytes. */
export type PaymentTarget = {
  readonly recipient: string
  readonly currency: string
  readonly account: Hex
  readonly token: Hex
}

const idDigits = 64
/** A word that begins or ends with so many zeros is a padded argument and cannot be an order id, which is a hash. */
const padding = /^0{24}|0{24}$/

/**
 * True if calldata or the memo ends with the order id, and the other of the two does not end with another id: a
 * transaction that names two orders names none. @source rule P-40
 */
export function referencesOrder({ input, memo }: TronTransaction, orderId: Hex): boolean {
  const digits = orderId.slice(2).toLowerCase()
  const ends = [input, memo].flatMap((data) => endOf(data))
  return ends.includes(digits) && ends.every((end) => end === digits || padding.test(end))
}

/** The last 32 bytes as digits; nothing for shorter data. */
function endOf(data: Hex): readonly string[] {
  return data.length >= 2 + idDigits ? [data.slice(-idDigits)] : []
}

/**
 * The terms of a payment for the rules of `ethereum-vm`, in the spelling of logs. A transaction's own TRX counts too.
 */
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

/**
 * Proves a payment by the rules of `ethereum-vm`, except calls, which fills of this family do not run.
 * @param targets those of `terms`
 */
export function provePayment(
  paid: PaidTransaction,
  targets: readonly PaymentTarget[],
  terms: PaymentTerms,
): Omit<ProvenPayment, 'calls'> {
  const targetsByAccounts = new Map(targets.map((target) => [`${target.account} ${target.token}`, target]))
  const { calls: _unproven, transfers, ...proven } = proveByAccounts(paid, terms)
  return {
    ...proven,
    transfers: transfers.flatMap((transfer) => {
      const target = targetsByAccounts.get(`${transfer.recipient} ${transfer.currency}`)
      if (target === undefined) return []
      return [{ ...transfer, recipient: target.recipient, currency: target.currency }]
    }),
  }
}
