import type { Ledger, SqlDatabase } from '@causeway/core'
import type { Job } from './runJobs.ts'

/** Holds freed in one transaction: few enough that its locks are short. @source ledger-and-safety.md 1.8 */
const batchMax = 500
const sweepIntervalMs = 1_000

/** Frees holds past their expiry. Nothing depends on it but how soon held money can be spent again. */
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
      let freed = batchMax
      while (freed === batchMax && !signal.aborted) {
        freed = await database.transaction(async (tx) => {
          await fence(tx)
          return ledger.expireDue(tx, { limit: batchMax })
        })
        if (freed > 0) onExpired(freed)
      }
    },
  }
}
