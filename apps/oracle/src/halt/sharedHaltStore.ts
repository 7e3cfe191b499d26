import type { SqlDatabase } from '@causeway/core'
import type { AuditedChange } from '@causeway/signer'
import type { HaltStore } from './haltStore.ts'

type HaltRow = {
  readonly chain: string
  readonly block_number: bigint | null
  readonly known_hash: string | null
  readonly found_hash: string | null
}

/** Most cleared halts that the audit lists. */
const auditedMax = 200

/** The `HaltStore` of all processes of one oracle, in PostgreSQL. @param actor operator who clears: `cli:<account>` */
export function createSharedHaltStore(database: SqlDatabase, actor: string): HaltStore {
  return {
    isShared: true,
    async load() {
      const rows = await database.query<HaltRow>(
        'select chain, block_number, known_hash, found_hash from halted_chain where cleared_at is null',
      )
      return new Map(rows.map((row) => [row.chain, contradictionOf(row)]))
    },
    async save(chainId, contradiction) {
      await database.query(
        `insert into halted_chain (chain, block_number, known_hash, found_hash) values ($1, $2, $3, $4)
         on conflict do nothing`,
        [chainId, contradiction?.blockNumber.toString(), contradiction?.knownHash, contradiction?.foundHash],
      )
    },
    async has(chainId) {
      const rows = await database.query('select from halted_chain where chain = $1 and cleared_at is null', [
        chainId,
      ])
      return rows.length > 0
    },
    async clear(chainId) {
      const rows = await database.query(
        `update halted_chain set cleared_at = clock_timestamp(), cleared_by = $2
         where chain = $1 and cleared_at is null returning n`,
        [chainId, actor],
      )
      return rows.length > 0
    },
  }
}

function contradictionOf({ block_number: blockNumber, known_hash: knownHash, found_hash }: HaltRow) {
  if (blockNumber === null || knownHash === null) return undefined
  return { blockNumber, knownHash, foundHash: found_hash ?? undefined }
}

/** Cleared halts as audit entries, each with its operator, newest first. */
export async function clearancesIn(database: SqlDatabase): Promise<readonly AuditedChange[]> {
  const rows = await database.query<{ chain: string; at: Date; actor: string }>(
    `select chain, cleared_at as at, cleared_by as actor from halted_chain
     where cleared_at is not null order by cleared_at desc limit $1`,
    [auditedMax],
  )
  return rows.map(({ chain, at, actor }) => ({
    at: at.toISOString(),
    actor,
    action: 'halted.clear',
    subject: chain,
    outcome: 'done',
  }))
}
