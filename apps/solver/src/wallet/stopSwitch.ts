import type { SqlDatabase } from '@causeway/core'

export type StopState = { readonly isStopped: boolean; readonly reason: string | undefined }

/** One row that every process of the solver reads: while it says so, nothing new is signed anywhere. */
export interface StopSwitch {
  read(): Promise<StopState>
  set(state: { readonly isStopped: boolean; readonly reason: string }): Promise<void>
}

export function createStopSwitch(database: SqlDatabase): StopSwitch {
  return {
    async read() {
      const [row] = await database.query<{ is_stopped: boolean; reason: string }>(
        'select is_stopped, reason from stop_switch',
      )
      return { isStopped: row?.is_stopped === true, reason: row?.reason }
    },
    async set({ isStopped, reason }) {
      await database.query(
        `insert into stop_switch (is_stopped, reason) values ($1, $2)
         on conflict (is_only) do update set is_stopped = $1, reason = $2, changed_at = clock_timestamp()`,
        [isStopped, reason],
      )
    },
  }
}
