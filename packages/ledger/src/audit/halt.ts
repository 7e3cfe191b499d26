import type { SqlTx } from '@causeway/core'
import type { LedgerFinding } from './finding.ts'

/** A halt of the ledger: no new hold or claim is accepted since `haltedAt`, because of these findings. */
export type LedgerHalt = {
  readonly haltedAt: Date
  readonly findings: readonly LedgerFinding[]
}

/** The open halt; `undefined` while reservations are decided as usual. */
export async function readHalt(tx: SqlTx): Promise<LedgerHalt | undefined> {
  const [row] = await tx.query<{ halted_at: Date; findings: readonly LedgerFinding[] }>(
    'select halted_at, findings from ledger_halt where cleared_at is null',
  )
  return row && { haltedAt: row.halted_at, findings: row.findings }
}

/**
 * Refuses every new reservation until `clearHalt`; pins, posts, voids and expiries go on. False when the
 * ledger is halted already. @source rule L-46
 */
export async function haltReservations(tx: SqlTx, findings: readonly LedgerFinding[]): Promise<boolean> {
  const rows = await tx.query(
    'insert into ledger_halt (findings) values ($1) on conflict do nothing returning id',
    [JSON.stringify(findings)],
  )
  return rows.length > 0
}

/** Ends the halt, and stores who did it and why. False when the ledger was not halted. */
export async function clearHalt(tx: SqlTx, args: { actor: string; reason: string }): Promise<boolean> {
  const rows = await tx.query(
    `update ledger_halt set cleared_at = clock_timestamp(), cleared_by = $1, reason = $2
     where cleared_at is null returning id`,
    [args.actor, args.reason],
  )
  return rows.length > 0
}
