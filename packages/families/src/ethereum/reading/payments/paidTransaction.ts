import type { Hex } from '@causeway/core'
import type { EvmLog, EvmTransaction } from '../answers.ts'
import type { SolverSide } from '../solverSide.ts'

/** Kinds of code at an account. `fill_contract`: one whose records this release can read. */
export type AccountCode = 'none' | 'other' | 'fill_contract'

/** A final transaction that is said to pay an order, with everything that `provePayment` needs. */
export type PaidTransaction = {
  /** Ascending by index. */
  readonly logs: readonly EvmLog[]
  readonly transaction: Pick<EvmTransaction, 'to' | 'input' | 'value'> & {
    readonly from: Hex | undefined
    /** Data of a plain transfer of native coin, where the family keeps it apart from calldata. */
    readonly memo?: Hex
  }
  /** Kinds of code of the accounts that `accountsWhoseCodeMatters` names. */
  readonly code: ReadonlyMap<string, AccountCode>
}

/** A payee of an order. */
export type PaymentTarget = { readonly recipient: string; readonly currency: string }

/** The order whose payments are to be proven. */
export type PaymentTerms = {
  readonly orderId: Hex
  readonly side: SolverSide
  /** All payments of the order on this chain, in the spelling of logs. */
  readonly targets: readonly PaymentTarget[]
  /** Calls of the order, as the order encodes them. */
  readonly calls: readonly Hex[]
  readonly nativeCurrency: string
  /** True if the transaction's own value pays, whatever its calldata; by default that must begin with the order id. */
  readonly ownValuePays?: boolean
}
