import type { SqlDatabase, SqlTx } from '@causeway/core'
import type { LedgerFinding } from './finding.ts'

// A checkpoint is a link of a hash chain over the transfer table: the hash of a range of rows and of the link before.
// It reveals rows that were changed or removed later.

/** Transfers per link, so that a finding names a short range and one statement stays short. */
const rowsPerLink = 10_000n

/**
 * Links the transfers since the last checkpoint into the hash chain. A job calls it regularly. Writers are
 * locked out while a short transaction reads the last `seq`, so that none can commit a lower `seq` later.
 * @returns the last linked `seq`, `undefined` when there was nothing to link
 */
export async function writeCheckpoints(database: SqlDatabase): Promise<bigint | undefined> {
  const [end] = await database.transaction(async (tx) => {
    await tx.query('lock table transfer in share mode')
    return tx.query<{ seq: bigint | null }>('select max(seq) as seq from transfer')
  })
  const last = end?.seq ?? 0n
  return database.transaction(async (tx) => {
    // One process at a time, because each link contains the one before.
    await tx.query('lock table checkpoint in share row exclusive mode')
    const [previous] = await tx.query<{ upto_seq: bigint }>(
      'select upto_seq from checkpoint order by n desc limit 1',
    )
    let from = (previous?.upto_seq ?? 0n) + 1n
    if (from > last) return undefined
    for (; from <= last; from += rowsPerLink) {
      const upto = from + rowsPerLink - 1n < last ? from + rowsPerLink - 1n : last
      await tx.query(appendLink, [from, upto])
    }
    return last
  })
}

const appendLink = `
  insert into checkpoint (from_seq, upto_seq, transfers, rows_hash, link)
  select $1, $2, r.transfers, r.rows_hash,
    sha256(coalesce((select link from checkpoint order by n desc limit 1), ''::bytea) || r.rows_hash)
  from ledger_rows_hash($1, $2) r`

/**
 * Ranges whose transfers are no longer those that were linked, and links that do not follow each other. In
 * the SQL `before` and `ended` are the link and the last `seq` of the checkpoint before; the first one
 * follows an empty link and 0.
 */
export async function verifyCheckpoints(tx: SqlTx): Promise<readonly LedgerFinding[]> {
  const rows = await tx.query<Record<'from_seq' | 'upto_seq' | 'linked' | 'found', bigint>>(`
    select c.from_seq, c.upto_seq, c.transfers as linked, r.transfers as found
    from (select *, coalesce(lag(link) over (order by n), ''::bytea) as before,
        coalesce(lag(upto_seq) over (order by n), 0) as ended from checkpoint) c
    cross join lateral ledger_rows_hash(c.from_seq, c.upto_seq) r
    where r.rows_hash <> c.rows_hash or c.link <> sha256(c.before || c.rows_hash) or c.from_seq <> c.ended + 1
    order by c.n`)
  return rows.map(({ from_seq, upto_seq, linked, found }) => ({
    invariant: 'chain',
    problem: 'Transfers of a range are not those that a checkpoint recorded.',
    figures: {
      fromSeq: from_seq.toString(),
      uptoSeq: upto_seq.toString(),
      linkedTransfers: linked.toString(),
      foundTransfers: found.toString(),
    },
  }))
}
