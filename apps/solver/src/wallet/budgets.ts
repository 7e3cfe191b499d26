import type { SqlDatabase, SqlTx } from '@causeway/core'
import { hasFailed, type KeptRecord } from './signedRecord.ts'

/** Gas of a chain: of fills, claims and chores; of refunds that pay for it and others; of sweeps; of permits. */
export const gasBudgets = ['gas', 'paid-refund-gas', 'refund-gas', 'sweep-gas', 'permit-gas'] as const
export type GasBudget = (typeof gasBudgets)[number]

/**
 * `loss` and `claims` are in micro-USD over all chains; gas is in wei or what its chain has for it, per chain. What
 * follows the chain is who shares an allowance within the budget: an order, or an account with code.
 */
export type BudgetName =
  | 'loss'
  | 'claims'
  | `${GasBudget}:${number}`
  | `${'refund-gas' | 'permit-gas'}:${number}:${string}`

/** Maximum cost of a record, and the hourly limit of its budget. */
export type Charge = {
  readonly budget: BudgetName
  readonly amount: bigint
  readonly perHour: bigint
  /** The first of an hour is let through by an allowance within a budget, whatever it costs. */
  readonly isShare?: true
}

/** An hour's budget does not reach: what needed it waits until enough of the hour is over. */
export class BudgetSpentError extends Error {
  readonly budget: BudgetName

  constructor({ budget }: Charge) {
    super(`the hour's budget ${budget} is spent`)
    this.name = 'BudgetSpentError'
    this.budget = budget
  }
}

/** Any fixed number: budgets are counted by one transaction at a time, over all chains and processes. */
const budgetLock = 0x0b0d6e75

/** Takes charges from their budgets, all or none. @throws BudgetSpentError */
export async function reserve(
  tx: SqlTx,
  { id, attempt }: Pick<KeptRecord, 'id' | 'attempt'>,
  charges: readonly Charge[],
): Promise<void> {
  const real = charges.filter(({ amount }) => amount > 0n)
  if (real.length === 0) return
  await tx.query('select pg_advisory_xact_lock($1)', [budgetLock])
  for (const charge of real) {
    const spent = await spentWithinHour(tx, charge.budget)
    const isFirst = charge.isShare === true && spent === 0n
    if (!isFirst && spent + charge.amount > charge.perHour) throw new BudgetSpentError(charge)
    await tx.query(
      `insert into budget_entry (budget, amount, record_id, attempt) values ($1, $2, $3, $4)
       on conflict (budget, record_id, attempt)
       do update set amount = budget_entry.amount + excluded.amount`,
      [charge.budget, charge.amount.toString(), id, attempt],
    )
  }
}

/** Corrects the charges of a record that is at its end: gas is what was paid, and what had no effect lost nothing. */
export async function settleCharges(
  tx: SqlTx,
  record: Pick<KeptRecord, 'id' | 'attempt' | 'outcome'>,
  costWei: bigint | undefined,
): Promise<void> {
  const { id, attempt } = record
  const gas = record.outcome === 'lost' ? 0n : costWei
  if (gas !== undefined) {
    await tx.query(
      `update budget_entry set amount = $3
       where record_id = $1 and attempt = $2 and split_part(budget, ':', 1) = any($4)`,
      [id, attempt, gas.toString(), gasBudgets],
    )
  }
  if (!hasFailed(record)) return
  await tx.query(
    `update budget_entry set amount = 0
     where record_id = $1 and attempt = $2 and budget in ('loss', 'claims')`,
    [id, attempt],
  )
}

/** Sum of the last sixty minutes, in the budget's unit. */
export async function spentWithinHour(
  database: Pick<SqlDatabase, 'query'>,
  budget: BudgetName,
): Promise<bigint> {
  const [row] = await database.query<{ spent: bigint }>(
    `select coalesce(sum(amount), 0)::numeric as spent from budget_entry
     where budget = $1 and at > clock_timestamp() - interval '1 hour'`,
    [budget],
  )
  return row?.spent ?? 0n
}
