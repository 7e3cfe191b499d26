import type { Hex, SqlTx } from '@causeway/core'
import type { LedgerAsset } from '../transfers/accounts.ts'

export type ClaimableBalance = { readonly asset: LedgerAsset; readonly amount: bigint }

type AssetRow = {
  readonly chain_id: bigint
  readonly address: string
  readonly symbol: string
  readonly name: string
  readonly decimals: number
}

const assetColumns = 's.chain_id, s.address, s.symbol, s.name, s.decimals'

/** What a wallet may claim, per currency, those of zero left out. */
export async function readClaimableAppFees(tx: SqlTx, wallet: string): Promise<readonly ClaimableBalance[]> {
  const rows = await tx.query<AssetRow & { amount: bigint }>(
    `select ${assetColumns}, ledger_available(a) as amount
     from account a join asset s on s.id = a.asset_id
     where a.kind = 'app_fee' and a.owner = $1 and ledger_available(a) > 0
     order by s.chain_id, s.address`,
    [wallet],
  )
  return rows.map((row) => ({ asset: toAsset(row), amount: row.amount }))
}

export type AppFeeClaim = {
  readonly claimId: string
  readonly wallet: string
  readonly recipient: string
  readonly asset: LedgerAsset
  readonly amount: bigint
  readonly status: 'pending' | 'paid' | 'failed'
  readonly transactionHash: Hex | undefined
  readonly createdAt: Date
}

type ClaimRow = AssetRow & {
  readonly id: string
  readonly wallet: string
  readonly recipient: string
  readonly amount: bigint
  readonly status: AppFeeClaim['status']
  readonly tx_hash: Buffer | null
  readonly seq: bigint
  readonly created_at: Date
}

/** Claims of a wallet, newest first; `cursor` is the one that the page before ended with. */
export async function listAppFeeClaims(
  tx: SqlTx,
  { wallet, limit, cursor }: { wallet: string; limit: number; cursor?: bigint },
): Promise<{ readonly claims: readonly AppFeeClaim[]; readonly cursor: bigint | undefined }> {
  const rows = await tx.query<ClaimRow>(
    `select c.id, c.wallet, c.recipient, ${assetColumns}, c.amount, c.status, c.tx_hash, c.seq, c.created_at
     from app_fee_claim c join asset s on s.id = c.asset_id
     where c.wallet = $1 and ($2::bigint is null or c.seq < $2) order by c.seq desc limit $3`,
    [wallet, cursor ?? null, limit],
  )
  const claims = rows.map((row) => ({
    claimId: row.id,
    wallet: row.wallet,
    recipient: row.recipient,
    asset: toAsset(row),
    amount: row.amount,
    status: row.status,
    transactionHash: row.tx_hash === null ? undefined : (`0x${row.tx_hash.toString('hex')}` as const),
    createdAt: row.created_at,
  }))
  return { claims, cursor: rows.length < limit ? undefined : rows.at(-1)?.seq }
}

function toAsset({ chain_id, address, symbol, name, decimals }: AssetRow): LedgerAsset {
  return { chainId: Number(chain_id), address, symbol, name, decimals }
}
