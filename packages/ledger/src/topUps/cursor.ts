import type { Hex, SqlTx } from '@causeway/core'
import { recordAction } from '../audit/operatorAction.ts'
import { hexToBuffer } from '../transfers/transfers.ts'

/** One account that is watched for top-ups: transfers of a token to custody on a chain. Addresses are lower case. */
export type TopUpAccount = { readonly chainId: number; readonly custody: Hex; readonly token: Hex }

/**
 * Blocks up to which one account's transfers were read. `settledTo` ≤ `finalTo` ≤ `scannedTo`.
 * `moveFinalCursor` moves all three after final blocks were booked, `moveLiveCursor` the last alone. Their
 * callers hold `lockTopUpCursor` in the same transaction and have checked that the cursor is still the one
 * that they read, and is not halted.
 */
export type TopUpCursor = {
  /** Last block that was read, near the head; it may still be reorganised. */
  readonly scannedTo: bigint
  /** Last final block whose top-ups were credited. */
  readonly finalTo: bigint
  /** Final blocks above it are read again for a while, since nodes may list their logs late; blocks up to it never. */
  readonly settledTo: bigint
  /** Hash of block `finalTo`; undefined before the first final block was read. */
  readonly finalHash: Hex | undefined
  /** Set after a final block changed: reading stops until an operator resumes it. */
  readonly haltedReason: string | undefined
}

const isAccount = 'chain_id = $1 and custody = $2 and token = $3'

/** The cursor of an account; a new one begins just before `fromBlock`. Takes no lock. */
export async function openTopUpCursor(
  tx: SqlTx,
  account: TopUpAccount,
  fromBlock: bigint,
): Promise<TopUpCursor> {
  // An empty hash: no final block was read yet.
  await tx.query(
    `insert into chain_cursor (chain_id, custody, token, scanned_to, final_to, final_hash)
     values ($1, $2, $3, $4, $4, '') on conflict do nothing`,
    [...accountValues(account), fromBlock - 1n],
  )
  const cursor = await readTopUpCursor(tx, account)
  if (cursor === undefined) throw new Error('a cursor was neither found nor opened')
  return cursor
}

export async function readTopUpCursor(tx: SqlTx, account: TopUpAccount): Promise<TopUpCursor | undefined> {
  const [row] = await tx.query<CursorRow>(
    `select ${columns} from chain_cursor where ${isAccount}`,
    accountValues(account),
  )
  return row && toCursor(row)
}

/** The present cursor, locked: no other transaction moves it before this one ends. */
export async function lockTopUpCursor(tx: SqlTx, account: TopUpAccount): Promise<TopUpCursor | undefined> {
  const [row] = await tx.query<CursorRow>(
    `select ${columns} from chain_cursor where ${isAccount} for update`,
    accountValues(account),
  )
  return row && toCursor(row)
}

/** Moves the cursor to a final block. @param to.settledTo never lowered; absent: equal to `finalTo` */
export async function moveFinalCursor(
  tx: SqlTx,
  account: TopUpAccount,
  to: { finalTo: bigint; finalHash: Hex; settledTo?: bigint },
): Promise<void> {
  const { finalTo, finalHash, settledTo = finalTo } = to
  await tx.query(
    `update chain_cursor set final_to = $4, final_hash = $5, scanned_to = greatest(scanned_to, $4), settled_to = $6
     where ${isAccount}`,
    [...accountValues(account), finalTo, hexToBuffer(finalHash), settledTo],
  )
}

/** Moves the cursor to the last block read near the head; after a reorganisation backwards, but not below `finalTo`. */
export async function moveLiveCursor(tx: SqlTx, account: TopUpAccount, scannedTo: bigint): Promise<void> {
  await tx.query(`update chain_cursor set scanned_to = greatest($4, final_to) where ${isAccount}`, [
    ...accountValues(account),
    scannedTo,
  ])
}

/** Stops the account for every process and freezes the sponsors that the given events credited. */
export async function haltTopUps(
  tx: SqlTx,
  account: TopUpAccount,
  args: { reason: string; eventIds: readonly bigint[] },
): Promise<void> {
  await tx.query('select halt_top_ups($1, $2, $3, $4, $5)', [
    ...accountValues(account),
    args.reason,
    args.eventIds,
  ])
}

/** Accounts that are halted; their cursors have the reason. */
export async function listHaltedTopUps(
  tx: SqlTx,
): Promise<readonly { readonly account: TopUpAccount; readonly cursor: TopUpCursor }[]> {
  const rows = await tx.query<CursorRow & { chain_id: bigint; custody: Hex; token: Hex }>(
    `select ${columns}, chain_id, '0x' || encode(custody, 'hex') as custody, '0x' || encode(token, 'hex') as token
     from chain_cursor where halted_at is not null order by chain_id`,
  )
  return rows.map(({ chain_id, custody, token, ...row }) => ({
    account: { chainId: Number(chain_id), custody, token },
    cursor: toCursor(row),
  }))
}

/** Resumes a halted account after block `finalTo`, whose hash the operator has verified. False when it was not halted. */
export async function resumeTopUps(
  tx: SqlTx,
  account: TopUpAccount,
  args: { finalTo: bigint; finalHash: Hex; actor: string; reason: string },
): Promise<boolean> {
  const { finalTo, finalHash, actor, reason } = args
  // Bound twice, because one parameter has one type: `final_to` is numeric, `settled_to` a bigint.
  const rows = await tx.query(
    `update chain_cursor set halted_at = null, halted_reason = null, final_to = $4, final_hash = $5,
       scanned_to = $4, settled_to = $6 where ${isAccount} and halted_at is not null returning chain_id`,
    [...accountValues(account), finalTo, hexToBuffer(finalHash), finalTo],
  )
  if (rows.length === 0) return false
  const subject = `${account.chainId}:${account.custody}:${account.token} after ${finalTo} ${finalHash}`
  await recordAction(tx, { actor, action: 'resume-top-ups', subject, reason })
  return true
}

/** Rows that are older than `settled_to` lack it, as do cursors that never reached a final block. */
const columns = `scanned_to, final_to, coalesce(settled_to, final_to) as settled_to, '0x' || encode(final_hash, 'hex') as final_hash, halted_reason`

type CursorRow = {
  readonly scanned_to: bigint
  readonly final_to: bigint
  readonly settled_to: bigint
  readonly final_hash: Hex
  readonly halted_reason: string | null
}

function toCursor(row: CursorRow): TopUpCursor {
  return {
    scannedTo: row.scanned_to,
    finalTo: row.final_to,
    settledTo: row.settled_to,
    finalHash: row.final_hash === '0x' ? undefined : row.final_hash,
    haltedReason: row.halted_reason ?? undefined,
  }
}

function accountValues({ chainId, custody, token }: TopUpAccount): readonly unknown[] {
  return [chainId, hexToBuffer(custody), hexToBuffer(token)]
}
