import type { SqlDatabase } from '@causeway/core'
import type { Run } from '../../../jobs/runJobs.ts'
import { type DepositCursor, readDepositCursor } from './depositCursor.ts'

/**
 * The cursor of a chain as its watcher last read or stored it. While this process leads the watcher, nobody else moves
 * the cursor, so that a look need not read it again.
 */
export interface KeptCursor {
  /** The cursor; read from the database unless it is known. @returns undefined for a chain that was never read */
  read(database: Pick<SqlDatabase, 'query'>, run: Pick<Run, 'fence'>): Promise<DepositCursor | undefined>
  /** True if the known cursor was stored by this watcher, with its present settings. */
  isOwn(): boolean
  /** Notes the cursor that was stored, or that the stored block was the newest one once more. */
  keep(cursor: DepositCursor): void
  /** The cursor may be another one now, so that the next look reads it. */
  forget(): void
}

export function createKeptCursor(chainId: number): KeptCursor {
  let known: { readonly cursor: DepositCursor; readonly isOwn: boolean } | undefined
  /** Each leadership has a fence of its own. */
  let fence: Run['fence'] | undefined
  return {
    async read(database, run) {
      // Another process may have led the watcher in between.
      if (run.fence !== fence) known = undefined
      fence = run.fence
      if (known !== undefined) return known.cursor
      const cursor = await readDepositCursor(database, chainId)
      if (cursor !== undefined) known = { cursor, isOwn: false }
      return cursor
    },
    isOwn: () => known?.isOwn === true,
    keep(cursor) {
      known = { cursor, isOwn: true }
    },
    forget() {
      known = undefined
    },
  }
}
