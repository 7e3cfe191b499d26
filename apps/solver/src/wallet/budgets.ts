import type { SqlDatabase, SqlTx } from '@causeway/core'
import { hasFailed, type KeptRecord } from './signedRecord.ts'

/**
 * Budgets of gas, each per chain and hour: `gas` for fills, claims and chores; `paid-refund-gas` for refunds that keep their
 * gas of the deposit, `refund-gas` for others and for closings; one each for sweeps and permits.
 */
export const gasBudgets = ['gas', 'paid-refund-gas', 'refund-gas', 'sweep-gas', 'permit-gas'] as const
export type GasBudget = (typeof gasBudgets)[number]

/**
 * Name of a budget as the database keeps it. `loss` and `claims` are in micro-USD, over all chains. Gas is in the smallest
 * unit of the native coin, per chain id. A text behind the chain id names whose share of the budget it is: an order's, or
 * an account with code's.
 */
export type BudgetName =
  | 'loss'
  | 'claims'
  | `${GasBudget}:${number}`
  | `${'refund-gas' | 'permit-gas'}:${number}:${string}`

/** The most that a record may take from a budget, and the budget's limit per hour. */
export type Charge = {
  readonly budget: BudgetName
  readonly amount: bigint
  readonly perHour: bigint
  /** Set for a share of a budget: its first charge of an hour is let through, whatever it costs. */
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

/** Number of the advisory lock under which budgets are counted, over all chains and processes; any fixed number. */
const budgetLock = 0x0b0d6e75

/** Takes charges from their budgets, all or none. @throws BudgetSpentError */
export async function reserve(
  tx: SqlTx,
  { id, attempt }: Pick<KeptRecord, 'id' | 'attempt'>,
  charges: readonly Charge[],
): Promise<void> {
  const chargesAboveZero = charges.filter(({ amount }) => amount > 0n)
  if (chargesAboveZero.length === 0) return
  await tx.query('select pg_advisory_xact_lock($1)', [budgetLock])
  for (const charge of chargesAboveZero) {
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

/**
 * Corrects the charges of a record that is at its end: gas becomes what was paid, which is nothing for a lost
 * record, and a failed record takes nothing from `loss` and `claims`.
 * @param costWei in smallest units of the native coin; undefined: the reserved amount stays
 */
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
