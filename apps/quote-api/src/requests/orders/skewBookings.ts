import type { Hex, SqlDatabase, SqlTx } from '@causeway/core'
import type { BudgetReading } from '../../pricing/openQuotes/rewardBudget.ts'
import { toBytes } from './orderColumns.ts'

/**
 * Books the skew of a request: a reward once its deposit is bound, a cost only once it is filled. A cost that may still be
 * refunded must not pay for rewards of others. A second booking of a request replaces the first. @source Q-46
 * @param booked.microUsd skew in its price: positive is a cost that the user paid, negative a reward
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

/**
 * Removes the booking of a request whose deposit is refunded or left its chain. With `isFilled` a reward
 * stays, because a fill has paid it, or still may.
 */
export async function takeSkewBack(
  tx: SqlTx,
  { requestId, isFilled }: { readonly requestId: Hex; readonly isFilled: boolean },
): Promise<void> {
  await tx.query('delete from skew_booking where request_id = $1 and (micro_usd > 0 or not $2)', [
    toBytes(requestId),
    isFilled,
  ])
}

/** SQL condition: booked within the last 24 hours. */
const isRecent = `booked_at > statement_timestamp() - interval '24 hours'`

/** SQL for costs less rewards of the last 24 hours, in micro-USD. */
export const selectBooked = `select coalesce(sum(micro_usd), 0) as booked from skew_booking where ${isRecent}`

/** SQL for what other processes than $1 claim of the reward budget, in micro-USD. */
export const selectClaimed = `select coalesce(sum(micro_usd), 0) as claimed from reward_claim
  where process <> $1 and ends_at >= statement_timestamp()`

/** Costs less rewards of the last 24 hours, in micro-USD: what may be spent on further rewards. */
export async function readSkewSum(database: Pick<SqlDatabase, 'query'>): Promise<bigint> {
  const [row] = await database.query<{ booked: bigint }>(selectBooked)
  return row?.booked ?? 0n
}

/** Advisory lock under which processes claim a part of the reward budget one after the other. */
const claimLock = 7_402_681_350_017

/** Takes that lock until the transaction ends. */
export async function lockClaims(tx: SqlTx): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [claimLock])
}

/**
 * Reads the reward budget and what other processes claim of it; deletes expired bookings and claims.
 * @param process id of the process that asks
 */
export async function readBudget(tx: SqlTx, process: string): Promise<BudgetReading> {
  await tx.query(`delete from skew_booking where not (${isRecent})`)
  await tx.query('delete from reward_claim where ends_at < statement_timestamp()')
  const [row] = await tx.query<{ claimed: bigint }>(selectClaimed, [process])
  return { bookedMicroUsd: await readSkewSum(tx), claimedMicroUsd: row?.claimed ?? 0n }
}

/** Stores what a process claims of the budget. @param claim.seconds how long quotes under the claim may be open */
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
