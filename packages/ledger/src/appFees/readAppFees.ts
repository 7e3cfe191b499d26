import type { Hex, SqlTx } from '@causeway/core'
import type { LedgerAsset } from '../transfers/accounts.ts'
import { hexToBuffer } from '../transfers/transfers.ts'
import type { AppFeeClaimTerms } from './claims.ts'

export type ClaimableBalance = { readonly asset: LedgerAsset; readonly amount: bigint }

type AssetRow = {
  readonly chain_id: bigint
  readonly address: string
  readonly symbol: string
  readonly name: string
  readonly decimals: number
}

const assetColumns = 's.chain_id, s.address, s.symbol, s.name, s.decimals'

/** Balances that a wallet may claim, per currency, without zeros. */
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

export type AppFeeClaim = AppFeeClaimTerms & {
  readonly status: 'pending' | 'paid' | 'failed'
  /** Hash of the payout, once it is final, as its chain spells it. */
  readonly transactionHash: string | undefined
  readonly createdAt: Date
}

type ClaimRow = AssetRow & {
  readonly claim_id: Buffer
  readonly wallet: string
  readonly recipient: string
  readonly amount: bigint
  readonly status: AppFeeClaim['status']
  readonly tx_hash: string | null
  readonly seq: bigint
  readonly created_at: Date
}

const claimColumns = `c.claim_id, c.wallet, c.recipient, ${assetColumns}, c.amount, c.status, c.tx_hash, c.seq,
  c.created_at`

/**
 * One page of a wallet's claims, newest first. Pass `cursor` of the page before; that of the last is
 * undefined.
 */
export async function listAppFeeClaims(
  tx: SqlTx,
  { wallet, limit, cursor }: { wallet: string; limit: number; cursor?: bigint },
): Promise<{ readonly claims: readonly AppFeeClaim[]; readonly cursor: bigint | undefined }> {
  const rows = await tx.query<ClaimRow>(
    `select ${claimColumns}
     from app_fee_claim c join asset s on s.id = c.asset_id
     where c.wallet = $1 and ($2::bigint is null or c.seq < $2) order by c.seq desc limit $3`,
    [wallet, cursor ?? null, limit],
  )
  return { claims: rows.map(toClaim), cursor: rows.length < limit ? undefined : rows.at(-1)?.seq }
}

export type PendingAppFeeClaim = AppFeeClaimTerms & Pick<AppFeeClaim, 'createdAt'>

/** Claims that wait for their payout, the oldest first. */
export async function listPendingAppFeeClaims(
  tx: Pick<SqlTx, 'query'>,
  { limit }: { limit: number },
): Promise<readonly PendingAppFeeClaim[]> {
  const rows = await tx.query<ClaimRow>(
    `select ${claimColumns} from app_fee_claim c join asset s on s.id = c.asset_id
     where c.status = 'pending' order by c.created_at, c.claim_id limit $1`,
    [limit],
  )
  return rows.map((row) => {
    const { claimId, wallet, recipient, asset, amount, createdAt } = toClaim(row)
    return { claimId, wallet, recipient, asset, amount, createdAt }
  })
}

/** One claim in any status. */
export async function readAppFeeClaim(tx: SqlTx, claimId: Hex): Promise<AppFeeClaim | undefined> {
  const [row] = await tx.query<ClaimRow>(
    `select ${claimColumns} from app_fee_claim c join asset s on s.id = c.asset_id where c.claim_id = $1`,
    [hexToBuffer(claimId)],
  )
  return row === undefined ? undefined : toClaim(row)
}

function toClaim(row: ClaimRow): AppFeeClaim {
  return {
    claimId: toHex(row.claim_id),
    wallet: row.wallet,
    recipient: row.recipient,
    asset: toAsset(row),
    amount: row.amount,
    status: row.status,
    transactionHash: row.tx_hash ?? undefined,
    createdAt: row.created_at,
  }
}

function toHex(bytes: Buffer): Hex {
  return `0x${bytes.toString('hex')}`
}

function toAsset({ chain_id, address, symbol, name, decimals }: AssetRow): LedgerAsset {
  return { chainId: Number(chain_id), address, symbol, name, decimals }
}
