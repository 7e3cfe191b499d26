import type { Ledger, SqlDatabase } from '@causeway/core'
import { hasDueHolds } from '@causeway/ledger'
import type { Job } from './runJobs.ts'

/** Holds freed in one transaction, so that its locks are short. */
const batchMax = 500
const sweepIntervalMs = 1_000

/** Job that frees holds past their expiry. Its delay matters only for how soon held money can be spent again. */
export function createSweeper(options: {
  database: SqlDatabase
  ledger: Pick<Ledger, 'expireDue'>
  onExpired: (count: number) => void
}): Job {
  const { database, ledger, onExpired } = options
  return {
    name: 'sweeper',
    intervalMs: sweepIntervalMs,
    async run({ fence, signal }) {
      let mayHaveMore = await hasDueHolds(database)
      while (mayHaveMore && !signal.aborted) {
        const freed = await database.transaction(async (tx) => {
          await fence(tx)
          return ledger.expireDue(tx, { limit: batchMax })
        })
        if (freed > 0) onExpired(freed)
        mayHaveMore = freed === batchMax
      }
    },
  }
}
