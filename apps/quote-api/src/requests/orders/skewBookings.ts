import type { Hex, SqlDatabase, SqlTx } from '@causeway/core'
import type { BudgetReading } from '../../pricing/openQuotes/rewardBudget.ts'
import { toBytes } from './orderColumns.ts'

/**
 * Books what a move earns once its deposit is bound, and what it cost once it is filled: a cost that goes back must
 * have paid for no reward. Booked again, the deposit of now counts. @source Q-46
 * @param booked.microUsd above zero a cost, below zero a reward
 */
export async function bookSkew(
  tx: SqlTx,
  booked: { readonly requestId: Hex; readonly microUsd: bigint; readonly isFilled: boolean },
): Promise<void> {
  const { requestId, microUsd, isFilled } = booked
  if (microUsd === 0n || (microUsd > 0n && !isFilled)) return
  await tx.query(
    `insert into skew_booking (request_id, micro_usd) values ($1, $2)
     on conflict (request_id) do update set micro_usd = $2`,
    [toBytes(requestId), microUsd],
  )
}

/** A deposit that goes back or left its chain paid no cost, and earns nothing where it was not filled. */
export async function takeSkewBack(
  tx: SqlTx,
  { requestId, isFilled }: { readonly requestId: Hex; readonly isFilled: boolean },
): Promise<void> {
  await tx.query('delete from skew_booking where request_id = $1 and (micro_usd > 0 or not $2)', [
    toBytes(requestId),
    isFilled,
  ])
}

const isOfToday = `booked_at > statement_timestamp() - interval '24 hours'`

/** The cost of moves of the last 24 hours, less what they earned. */
export async function readSkewSum(database: Pick<SqlDatabase, 'query'>): Promise<bigint> {
  const [row] = await database.query<{ booked: bigint }>(
    `select coalesce(sum(micro_usd), 0) as booked from skew_booking where ${isOfToday}`,
  )
  return row?.booked ?? 0n
}

/** Lock of those who claim rewards: one process after the other. */
const claimLock = 7_402_681_350_017

/** Keeps other processes from claiming until the transaction ends. */
export async function lockClaims(tx: SqlTx): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [claimLock])
}

/** Forgets what is over as well. @param process one that claims */
export async function readBudget(tx: SqlTx, process: string): Promise<BudgetReading> {
  await tx.query(`delete from skew_booking where not (${isOfToday})`)
  await tx.query('delete from reward_claim where ends_at < statement_timestamp()')
  const [row] = await tx.query<{ claimed: bigint }>(
    'select coalesce(sum(micro_usd), 0) as claimed from reward_claim where process <> $1',
    [process],
  )
  return { bookedMicroUsd: await readSkewSum(tx), claimedMicroUsd: row?.claimed ?? 0n }
}

/** @param claim.seconds for which its quotes may be open */
export async function storeClaim(
  tx: SqlTx,
  claim: { readonly process: string; readonly microUsd: bigint; readonly seconds: number },
): Promise<void> {
  await tx.query(
    `insert into reward_claim (process, micro_usd, ends_at)
     values ($1, $2, statement_timestamp() + $3 * interval '1 second')
     on conflict (process) do update set micro_usd = excluded.micro_usd, ends_at = excluded.ends_at`,
    [claim.process, claim.microUsd, claim.seconds],
  )
}
