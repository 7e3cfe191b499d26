import type { SqlTx } from '@causeway/core'
import { recordAction } from '../audit/operatorAction.ts'

/** @source docs/concepts/ledger.md, Accounts */
export type AccountKind =
  /** Money that custody received on chain, less payouts. */
  | 'custody'
  /** A sponsor's balance. */
  | 'sponsor'
  /** Fees that sponsors paid. */
  | 'solver_earned'
  /** Top-ups that name no wallet. */
  | 'suspense'
  /** App fees that are owed to their recipient. */
  | 'app_fee'
  /** The other side of all app fees. */
  | 'app_fee_due'
  /** Claims whose payout is not final on chain. */
  | 'payout_clearing'
  /** Corrections by an operator, and what was paid for lost deposits. */
  | 'adjustment'
  /** Losses from final blocks that were taken back. */
  | 'bad_debt'

/** Asset of sponsor money, in micro-USDC. */
export const usdcAssetId = 1

/** A currency of one chain in which accounts are kept. */
export type LedgerAsset = {
  readonly chainId: number
  /** Lower-case where the family's addresses have no case. */
  readonly address: string
  readonly symbol: string
  readonly name: string
  readonly decimals: number
}

/** Id of an account, which is opened if it is new. `owner` is lower-case where addresses have no case. */
export async function openAccount(
  tx: SqlTx,
  args: { kind: AccountKind; owner: string; assetId?: number },
): Promise<bigint> {
  const { kind, owner, assetId = usdcAssetId } = args
  const [row] = await tx.query<{ id: bigint }>('select ledger_account($1, $2, $3) as id', [
    kind,
    owner,
    assetId,
  ])
  if (row === undefined) throw new Error('an account was neither found nor opened')
  return row.id
}

/** Id of the asset of a currency, which is registered if it is new. A known asset keeps its symbol and name. */
export async function registerAsset(tx: SqlTx, asset: LedgerAsset): Promise<number> {
  const { chainId, address, symbol, name, decimals } = asset
  await tx.query(
    `insert into asset (chain_id, address, symbol, name, decimals) values ($1, $2, $3, $4, $5)
     on conflict (chain_id, address) do nothing`,
    [chainId, address, symbol, name, decimals],
  )
  const [row] = await tx.query<{ id: number; decimals: number }>(
    'select id, decimals from asset where chain_id = $1 and address = $2',
    [chainId, address],
  )
  if (row?.decimals !== decimals) throw new Error('an asset changed its decimals')
  return row.id
}

/**
 * Freezes a sponsor's balance, or unfreezes it. A frozen one has no new holds and makes no payments, but existing holds
 * are still posted. Stores who did it and why. False when the wallet has no account or nothing changes.
 */
export async function setSponsorFrozen(
  tx: SqlTx,
  args: { sponsor: string; frozen: boolean; actor: string; reason: string },
): Promise<boolean> {
  const { sponsor, frozen, actor, reason } = args
  const rows = await tx.query(
    `update account set frozen = $2, version = version + 1
     where kind = 'sponsor' and owner = $1 and asset_id = ${usdcAssetId} and frozen <> $2 returning id`,
    [sponsor, frozen],
  )
  if (rows.length === 0) return false
  await recordAction(tx, { actor, action: frozen ? 'freeze' : 'unfreeze', subject: sponsor, reason })
  return true
}
