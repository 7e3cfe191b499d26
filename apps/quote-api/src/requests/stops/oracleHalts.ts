import { askHalts, isHaltedBy, type OracleSettings } from '@causeway/chains'
import type { SqlDatabase, SqlTx } from '@causeway/core'
import type { Job } from '../../jobs/runJobs.ts'

const askEveryMs = 2_000

/** The last word of one oracle; `chainIds` is undefined where it said nothing. */
type Word = { readonly signer: string; readonly chainIds: readonly number[] | undefined }

/**
 * Asks the oracles which chains they halted, and stops those that too few others sign for.
 * @param options.oracles undefined: none is asked, and what they stopped before goes on
 * @source O-64
 */
export function createOracleHalts(options: {
  readonly database: Pick<SqlDatabase, 'transaction'>
  readonly oracles: OracleSettings | undefined
  readonly chains: readonly { readonly key: string; readonly chainId: number }[]
}): Job {
  const { database, chains, oracles: settings = { oracles: [], threshold: 1 } } = options
  const idOf = new Map(chains.map(({ key, chainId }) => [key, chainId]))
  return {
    name: 'oracle-halts',
    intervalMs: askEveryMs,
    async run({ fence, signal }) {
      const words = await Promise.all(
        settings.oracles.map(async (oracle): Promise<Word> => {
          const keys = await askHalts(oracle, signal)
          return { signer: oracle.signer, chainIds: keys?.flatMap((key) => idOf.get(key) ?? []) }
        }),
      )
      await database.transaction(async (tx) => {
        await fence(tx)
        await keepWords(tx, words)
        await keepHalts(tx, settings)
      })
    },
  }
}

async function keepWords(tx: SqlTx, words: readonly Word[]): Promise<void> {
  await tx.query('delete from oracle_halt where oracle <> all($1)', [words.map(({ signer }) => signer)])
  for (const { signer, chainIds } of words) {
    if (chainIds === undefined) continue
    await tx.query('delete from oracle_halt where oracle = $1 and chain_id <> all($2::bigint[])', [
      signer,
      chainIds,
    ])
    await tx.query(
      'insert into oracle_halt (oracle, chain_id) select $1, unnest($2::bigint[]) on conflict do nothing',
      [signer, chainIds],
    )
  }
}

async function keepHalts(
  tx: SqlTx,
  settings: Pick<OracleSettings, 'threshold'> & { oracles: readonly unknown[] },
) {
  const told = await tx.query<{ chain_id: bigint; oracles: bigint }>(
    'select chain_id, count(*) as oracles from oracle_halt group by chain_id',
  )
  const halted = told.flatMap(({ chain_id: chainId, oracles }) =>
    isHaltedBy(Number(oracles), settings) ? [Number(chainId)] : [],
  )
  await tx.query(`delete from chain_stop where told_by = 'oracles' and chain_id <> all($1::bigint[])`, [
    halted,
  ])
  await tx.query(
    `insert into chain_stop (chain_id, told_by, reason, actor)
     select unnest($1::bigint[]), 'oracles', 'oracles halted it: a final block changed', 'quote-api'
     on conflict do nothing`,
    [halted],
  )
}
