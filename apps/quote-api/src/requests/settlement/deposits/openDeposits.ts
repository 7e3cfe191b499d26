import type { SqlDatabase } from '@causeway/core'

/** SQL condition on a row of chain $1: a final deposit above the cursor's last final block. */
export const isFinalAboveCursor = `chain_id = $1 and is_final and state <> 'orphaned'
  and block_number > (select final_to from deposit_cursor where chain_id = $1 and final_hash is not null)`

/** False if the chain has no deposit to compare with its blocks or to decide, due or not: then no list names one. */
export async function hasOpenDeposits(
  database: Pick<SqlDatabase, 'query'>,
  chainId: number,
): Promise<boolean> {
  const [row] = await database.query<{ is_open: boolean }>(
    `select exists (select from deposit_seen where chain_id = $1 and not is_final and state <> 'orphaned')
       or exists (select from deposit_seen where chain_id = $1 and state = 'seen')
       or exists (select from deposit_seen where ${isFinalAboveCursor}) as is_open`,
    [chainId],
  )
  return row?.is_open === true
}
