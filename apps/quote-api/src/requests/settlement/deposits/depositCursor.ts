import type { SqlDatabase, SqlTx } from '@causeway/core'

/** Blocks up to which the deposits of a chain were read. */
export type DepositCursor = {
  /** Height up to which final blocks were read for good; undefined if an older release stored the cursor. */
  readonly finalTo: bigint | undefined
  /** Hash of the block `finalTo`; undefined until a reading of final blocks has ended there. */
  readonly finalHash: string | undefined
  readonly scannedTo: bigint
  /** Hash of the block `scannedTo`, as the chain spells it. */
  readonly scannedHash: string
  /** Unix time at which that block was a quorum's newest one; undefined if a newer one may have existed. */
  readonly newestAtSeconds: number | undefined
}

export async function readDepositCursor(
  database: Pick<SqlDatabase, 'query'>,
  chainId: number,
): Promise<DepositCursor | undefined> {
  const [row] = await database.query<{
    final_to: bigint | null
    final_hash: string | null
    scanned_to: bigint
    scanned_hash: string
    newest_at: bigint | null
  }>(
    `select final_to, final_hash, scanned_to, scanned_hash, floor(extract(epoch from newest_at))::bigint as newest_at
     from deposit_cursor where chain_id = $1`,
    [chainId],
  )
  if (row === undefined) return undefined
  return {
    finalTo: row.final_to ?? undefined,
    finalHash: row.final_hash ?? undefined,
    scannedTo: row.scanned_to,
    scannedHash: row.scanned_hash,
    newestAtSeconds: row.newest_at === null ? undefined : Number(row.newest_at),
  }
}

/**
 * Moves the cursor of the newest blocks. The hash of the last final block stays as long as `finalTo` does.
 * Stops and standstills are judged by `moved_at`, when the newest block last changed; the latter by `pace_ms`
 * too.
 * @param chain.paceMs time between two blocks
 */
export async function moveDepositCursor(
  tx: SqlTx,
  chain: { readonly chainId: number; readonly paceMs: number },
  cursor: Omit<DepositCursor, 'finalHash'>,
): Promise<void> {
  const { finalTo, scannedTo, scannedHash, newestAtSeconds } = cursor
  await tx.query(
    `insert into deposit_cursor as c (chain_id, final_to, scanned_to, scanned_hash, newest_at, pace_ms)
     values ($1, $2, $3, $4, to_timestamp($5), $6)
     on conflict (chain_id) do update
       set final_hash = case when c.final_to = $2 then c.final_hash end, final_to = $2, scanned_to = $3, scanned_hash = $4, newest_at = to_timestamp($5), pace_ms = $6,
         moved_at = case when c.scanned_to = $3 and c.scanned_hash = $4 then c.moved_at else clock_timestamp() end`,
    [chain.chainId, finalTo, scannedTo, scannedHash, newestAtSeconds ?? null, Math.ceil(chain.paceMs)],
  )
}

/** Moves the cursor of final blocks alone. */
export async function moveFinalCursor(
  tx: SqlTx,
  chainId: number,
  { finalTo, finalHash }: { readonly finalTo: bigint; readonly finalHash: string | undefined },
): Promise<void> {
  await tx.query('update deposit_cursor set final_to = $2, final_hash = $3 where chain_id = $1', [
    chainId,
    finalTo,
    finalHash ?? null,
  ])
}
