import type { Job } from '../../../jobs/runJobs.ts'
import { listStanding } from '../../status/readStanding.ts'
import type { SettlementContext } from '../settlementContext.ts'

const intervalMs = 10_000
/** The first run also announces entries of this time before it; taking the job over takes less time. */
const handoverMs = 60_000

/**
 * Job that announces new entries of the list of standstills to operators and to followers of their requests. It also stores
 * the time limit, from which any reader computes the list itself.
 */
export function createStandstillJob(
  { database, announce, observe, now }: Pick<SettlementContext, 'database' | 'announce' | 'observe' | 'now'>,
  limitSeconds: number,
): Job {
  let announcedUntilMs: number | undefined
  return {
    name: 'standstill',
    intervalMs,
    async run({ fence }) {
      const fromMs = announcedUntilMs ?? now() - handoverMs
      const untilMs = now()
      await database.transaction(async (tx) => {
        await fence(tx)
        await tx.query(
          `insert into standstill_limit as l (seconds) values ($1)
           on conflict (is_only) do update set seconds = excluded.seconds where l.seconds <> excluded.seconds`,
          [limitSeconds],
        )
      })
      // Entries that only an operator can end were announced when they were parked.
      const newStandings = (await listStanding(database)).filter(
        ({ needsOperator, listedAt }) => !needsOperator && isBetween(listedAt.getTime(), fromMs, untilMs),
      )
      await database.transaction(async (tx) => {
        await fence(tx)
        for (const { requestId } of newStandings) if (requestId !== undefined) await announce(tx, requestId)
      })
      for (const { requestId, subject, reason } of newStandings)
        observe({ event: 'stands_still', subject: requestId ?? subject ?? '', reason })
      announcedUntilMs = untilMs
    },
  }
}

const isBetween = (atMs: number, fromMs: number, untilMs: number) => atMs > fromMs && atMs <= untilMs
