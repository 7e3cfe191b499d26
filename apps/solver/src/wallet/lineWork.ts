import type { LineInputs, LineWork } from '@causeway/families'
import type { DeskWork } from './chainDesk.ts'
import type { KeptRecord, LineRecord } from './signedRecord.ts'

/** Smallest units that leave the wallet, the fee apart: a sweep pays with what it takes. */
export const spentBy = ({ payments, swept }: LineWork): bigint =>
  payments.reduce((sum, { amount }) => sum + amount, 0n) -
  (swept?.outputs ?? []).reduce((sum, { value }) => sum + value, 0n)
/** Amount that a transaction can spend. */
export const heldBy = ({ parent, gathered }: LineInputs): bigint =>
  gathered.reduce((sum, { value }) => sum + value, parent.value)

/** Part of the work that a record keeps. */
export const keptWork = ({ swept, payments, ...work }: LineWork): LineRecord['line'] => ({
  ...{ ...work, payments: [...payments] },
  ...(swept && { swept: { ...swept, outputs: [...swept.outputs] } }),
})

/** @throws Error for a record of a chain of another kind: wallets of both have nothing in common */
export function ownLine(record: KeptRecord): LineRecord {
  if ('line' in record) return record
  throw new Error(`${record.id} was signed for a chain without outputs`)
}

/** @returns why it is nothing for such a chain, or what a transaction would do */
export function workFor(work: DeskWork, currency: string): LineWork | string {
  switch (work.kind) {
    case 'payment': {
      const { orderId, calls, payments } = work.order
      if (calls.length > 0) return 'calls are not run on this chain'
      if (payments.some((one) => one.currency !== currency)) return 'a currency is none of this chain'
      const paid = payments.map(({ recipient, amount }) => ({ recipient, amount }))
      return { mark: { kind: 'paid', id: work.id }, orderId, payments: paid }
    }
    case 'sweep': {
      const { recipient, orderId, swept } = work
      const amount = swept.outputs.reduce((sum, { value }) => sum + value, 0n)
      // No mark: what is swept can be spent once, whoever signs however often.
      return { orderId, payments: [{ recipient, amount }], swept }
    }
    case 'closing':
      return { mark: { kind: 'closed', id: work.id }, payments: [] }
    case 'allowance':
    case 'emptying':
    case 'relay':
      return 'nothing is relayed on this chain'
  }
}
