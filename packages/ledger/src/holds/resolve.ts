import type {
  HoldOutcome,
  Ledger,
  ResolveOutcome,
  SponsoredComponent,
  SqlDatabase,
  SqlTx,
  SqlWriteTx,
} from '@causeway/core'
import type { HoldCaps } from './holdCaps.ts'
import { reserveHolds } from './reserve.ts'

// Ends and changes of a hold. `Ledger` in packages/core describes each method.

/** @see Ledger.post */
export function postHold(tx: SqlTx, args: Parameters<Ledger['post']>[1]): Promise<ResolveOutcome> {
  const { requestId, amountMicroUsd, evidence } = args
  if (amountMicroUsd < 0n) throw new RangeError('a post is not below zero')
  return outcomeOf(tx, `select ledger_hold_post($1, $2, 'settlement', $3) as status`, [
    toBytes(requestId),
    amountMicroUsd,
    JSON.stringify(evidence),
  ])
}

/** @see Ledger.void */
export function voidHold(tx: SqlTx, args: Parameters<Ledger['void']>[1]): Promise<ResolveOutcome> {
  const values = [toBytes(args.requestId), args.reason]
  return outcomeOf(tx, `select ledger_hold_void($1, 'settlement', $2) as status`, values)
}

/** @see Ledger.pin */
export function pinHold(tx: SqlTx, args: Parameters<Ledger['pin']>[1]): Promise<ResolveOutcome> {
  const values = [toBytes(args.requestId), args.until]
  return outcomeOf(tx, 'select ledger_hold_pin($1, true, $2) as status', values)
}

/** @see Ledger.unpin */
export function unpinHold(tx: SqlTx, args: Parameters<Ledger['unpin']>[1]): Promise<ResolveOutcome> {
  const values = [toBytes(args.requestId), args.expiresAt]
  return outcomeOf(tx, 'select ledger_hold_pin($1, false, $2) as status', values)
}

/** True if `expireDueHolds` would free a hold. */
export async function hasDueHolds(database: Pick<SqlDatabase, 'query'>): Promise<boolean> {
  // The statement's time, unlike the clock itself, can be looked up in an index.
  const [row] = await database.query<{ is_due: boolean }>(
    `select exists (select from hold
       where state = 'reserved' and expires_at > '-infinity' and expires_at <= statement_timestamp()) as is_due`,
  )
  return row?.is_due === true
}

/** @see Ledger.expireDue */
export async function expireDueHolds(tx: SqlTx, { limit }: { limit: number }): Promise<number> {
  const [row] = await tx.query<{ expired: number }>('select ledger_expire_due($1) as expired', [limit])
  return row?.expired ?? 0
}

type HoldRow = {
  readonly sponsor: string
  readonly api_key_id: string
  readonly user_key: string
  readonly recipient_key: string
  readonly origin_chain_id: bigint
  readonly destination_chain_id: bigint
  readonly components: readonly SponsoredComponent[]
  readonly requote_key: string
  readonly amount: bigint
  readonly lifetime_seconds: number
}

/** Columns common to `hold` and `hold_at_deposit`, which lists quotes that hold nothing before their deposit. */
const bodyColumns = `api_key_id, user_key, recipient_key, origin_chain_id, destination_chain_id, components,
  requote_key, amount, lifetime_seconds`

/** @see Ledger.reserveAgain */
export async function reserveHoldAgain(
  tx: SqlWriteTx,
  { requestId, until }: Parameters<Ledger['reserveAgain']>[1],
  caps: HoldCaps,
): Promise<HoldOutcome> {
  // An expired hold must be ended first, so that a new attempt may follow it.
  await tx.query('select ledger_hold_expire($1)', [toBytes(requestId)])
  // All attempts of a request have one body, which never changes, so that of the first is read.
  const [row] = await tx.query<HoldRow>(
    `select a.owner as sponsor, b.api_key_id, b.user_key, b.recipient_key, b.origin_chain_id,
       b.destination_chain_id, b.components, b.requote_key, b.amount, b.lifetime_seconds
     from (
       select sponsor, ${bodyColumns} from hold where request_id = $1 and attempt = 0
       union all
       select sponsor, ${bodyColumns} from hold_at_deposit
       where request_id = $1 and not exists (select from hold where request_id = $1)
     ) b join account a on a.id = b.sponsor`,
    [toBytes(requestId)],
  )
  if (row === undefined) return { status: 'unknown_hold' }
  const request = {
    requestId,
    sponsor: row.sponsor,
    apiKeyId: row.api_key_id,
    user: row.user_key,
    recipient: row.recipient_key,
    originChainId: Number(row.origin_chain_id),
    destinationChainId: Number(row.destination_chain_id),
    components: row.components,
    amountMicroUsd: row.amount,
    lifetimeSeconds: row.lifetime_seconds,
    requoteKey: row.requote_key,
  }
  const [outcome] = await reserveHolds(tx, [request], { caps, until })
  if (outcome === undefined) throw new Error('a request was not decided')
  return outcome
}

async function outcomeOf(tx: SqlTx, text: string, values: readonly unknown[]): Promise<ResolveOutcome> {
  const [row] = await tx.query<ResolveOutcome>(text, values)
  if (row === undefined) throw new Error('a hold had no outcome')
  return { status: row.status }
}

function toBytes(requestId: string): Buffer {
  return Buffer.from(requestId.slice(2), 'hex')
}
