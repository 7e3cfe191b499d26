import type { LineInputs, LineWork } from '@causeway/families'
import type { DeskWork } from './chainDesk.ts'
import type { KeptRecord, LineRecord } from './signedRecord.ts'

/** Smallest units that leave the wallet by work of a line, without the fee. A sweep pays with the outputs that it takes. */
export const spentBy = ({ payments, swept }: LineWork): bigint =>
  payments.reduce((sum, { amount }) => sum + amount, 0n) -
  (swept?.outputs ?? []).reduce((sum, { value }) => sum + value, 0n)

/** Sum of a transaction's inputs from the wallet: all that it can spend. */
export const heldBy = ({ parent, gathered }: LineInputs): bigint =>
  gathered.reduce((sum, { value }) => sum + value, parent.value)

/** The work as a record keeps it. */
export const keptWork = ({ swept, payments, ...work }: LineWork): LineRecord['line'] => ({
  ...work,
  payments: [...payments],
  ...(swept && { swept: { ...swept, outputs: [...swept.outputs] } }),
})

/** Narrows a record to one of a line. @throws Error for a record of a chain of another kind, which is a bug */
export function ownLine(record: KeptRecord): LineRecord {
  if ('line' in record) return record
  throw new Error(`${record.id} was signed for a chain without outputs`)
}

/** @returns what a transaction of the line has to do; or, as text, why a line cannot do it */
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
      // A sweep needs no mark against paying twice: its outputs can be spent only once.
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
