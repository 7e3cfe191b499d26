import type { BalanceRecord, SqlTx } from '@causeway/core'
import { usdcAssetId } from '../transfers/accounts.ts'

type BalanceRow = { readonly available: bigint; readonly held: bigint; readonly pending: bigint }

/** Zeros for a wallet that never had a balance. */
export async function readBalance(tx: SqlTx, sponsor: string): Promise<BalanceRecord> {
  const [row] = await tx.query<BalanceRow>(
    `select ledger_available(a) as available, debits_pending as held, credits_pending as pending
     from account a where kind = 'sponsor' and owner = $1 and asset_id = $2`,
    [sponsor, usdcAssetId],
  )
  const { available = 0n, held = 0n, pending = 0n } = row ?? {}
  return { sponsor, availableMicroUsd: available, heldMicroUsd: held, pendingMicroUsd: pending }
}
