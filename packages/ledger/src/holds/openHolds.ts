import { bytesToHex, type Hex, type SqlTx } from '@causeway/core'
import { usdcAssetId } from '../transfers/accounts.ts'

/** A reserved hold, as a sponsor sees it in the list of his holds. */
export type OpenHold = {
  readonly requestId: Hex
  readonly apiKeyId: string
  readonly amountMicroUsd: bigint
  /** A deposit was seen, so the hold ends with its settlement. */
  readonly isPinned: boolean
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** The newest open holds of a wallet, at most `limit`. */
export async function readOpenHolds(tx: SqlTx, wallet: string, limit: number): Promise<readonly OpenHold[]> {
  const rows = await tx.query<HoldRow>(
    `select request_id, api_key_id, amount, pinned, h.created_at, expires_at
     from hold h join account a on a.id = h.sponsor
     where a.kind = 'sponsor' and a.owner = $1 and a.asset_id = $2 and h.state = 'reserved'
     order by h.created_at desc, h.id limit $3`,
    [wallet, usdcAssetId, limit],
  )
  return rows.map((row) => ({
    requestId: bytesToHex(row.request_id),
    apiKeyId: row.api_key_id,
    amountMicroUsd: row.amount,
    isPinned: row.pinned,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }))
}

type HoldRow = {
  readonly request_id: Buffer
  readonly api_key_id: string
  readonly amount: bigint
  readonly pinned: boolean
  readonly created_at: Date
  readonly expires_at: Date
}
