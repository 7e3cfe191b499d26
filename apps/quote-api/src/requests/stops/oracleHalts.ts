import { askHalts, askHaltsEveryMs, keepHalts, type OracleSettings, type OracleSight } from '@causeway/chains'
import type { SqlDatabase } from '@causeway/core'
import type { Job, Run } from '../../jobs/runJobs.ts'

/**
 * Job that asks the oracles which chains they halted. A chain is stopped if too few others are left to reach the threshold.
 * @param options.oracles undefined: none is asked, and earlier stops by oracles end, since no oracle could end them
 * @source rule O-64
 */
export function createOracleHalts(options: {
  readonly database: Pick<SqlDatabase, 'transaction'>
  readonly oracles: OracleSettings | undefined
  /** Notes each answer, for readiness and metrics. */
  readonly sight?: Pick<OracleSight, 'note'> | undefined
  readonly chains: readonly { readonly key: string; readonly chainId: number }[]
}): Job {
  // Without oracles there are no halts, whatever the threshold.
  const { database, chains, sight, oracles = { oracles: [], threshold: 1 } } = options
  /** The answers that were stored last, by the leadership whose fence this is. */
  let stored: { readonly fence: Run['fence']; readonly text: string } | undefined
  return {
    name: 'oracle-halts',
    intervalMs: askHaltsEveryMs,
    async run({ fence, signal }) {
      const answers = await askHalts(oracles, chains, signal)
      sight?.note(answers)
      const text = JSON.stringify(answers)
      // Only this job writes these tables, so that equal answers would change nothing.
      if (stored?.fence === fence && stored.text === text) return
      await database.transaction(async (tx) => {
        await fence(tx)
        const halted = await keepHalts(tx, answers, oracles)
        await tx.query(`delete from chain_stop where told_by = 'oracles' and chain_id <> all($1::bigint[])`, [
          halted,
        ])
        await tx.query(
          `insert into chain_stop (chain_id, told_by, reason, actor)
           select unnest($1::bigint[]), 'oracles', 'oracles halted it: a final block changed', 'quote-api'
           on conflict do nothing`,
          [halted],
        )
      })
      stored = { fence, text }
    },
  }
}
