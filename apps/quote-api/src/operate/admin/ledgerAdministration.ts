import type { BalanceRecord, Hex, SqlDatabase } from '@causeway/core'
import { backupDatabase, restoreDatabase } from '@causeway/database'
import {
  clearHalt,
  createLedger,
  exportTransfers,
  haltReservations,
  type LedgerFinding,
  type LedgerHalt,
  readHalt,
  setSponsorFrozen,
} from '@causeway/ledger'
import { recordAction } from '../../access/adminAction.ts'
import { checkBooks } from '../../jobs/invariants.ts'

/** The operator who does something, and the reason, for the audit log; `actor` as in `AdminAction`. */
export type AuditNote = { readonly actor: string; readonly reason: string }

/** Operations on the ledger: one implementation behind the command line and the admin listener. */
export interface LedgerAdministration {
  /**
   * Checks the books; a finding stops new reservations. Empty if the books add up. `cheap` leaves out the replay of the
   * whole history.
   */
  verify(depth: 'cheap' | 'all', actor: string): Promise<readonly LedgerFinding[]>
  /** The halt of reservations; undefined while there is none. */
  halt(): Promise<LedgerHalt | undefined>
  /** Checks all books, then lets reservations go on, or halts them: `wasHalted` is true with findings. */
  resume(
    auditNote: AuditNote,
  ): Promise<{ readonly findings: readonly LedgerFinding[]; readonly wasHalted: boolean }>
  /** False if the wallet has no account, or is in that state already. */
  setFrozen(wallet: Hex, frozen: boolean, auditNote: AuditNote): Promise<boolean>
  /** Every transfer as one line of JSON, oldest first. */
  export(afterSeq: bigint): AsyncIterable<string>
  /** All tables as lines of text, from one snapshot. */
  backup(write: (lines: string) => Promise<void>): Promise<void>
  /** Fills an empty, migrated database. @throws ConfigurationError and changes nothing */
  restore(lines: AsyncIterable<string>, actor: string): Promise<void>
  balance(wallet: Hex): Promise<BalanceRecord>
}

export function createLedgerAdministration(database: SqlDatabase): LedgerAdministration {
  const verify = async (depth: 'cheap' | 'all', actor: string) => {
    const findings = await checkBooks(database, depth)
    if (findings.length === 0) return findings
    await database.transaction(async (tx) => {
      const isNewHalt = await haltReservations(tx, findings)
      const details = { findings: findings.length }
      if (isNewHalt)
        await recordAction(tx, { actor, action: 'ledger.verify', subject: 'reservations', details })
    })
    return findings
  }
  return {
    verify,
    halt: () => readHalt(database),
    async resume(auditNote) {
      const { actor, reason } = auditNote
      const findings = await checkBooks(database, 'all')
      return database.transaction(async (tx) => {
        const hasFindings = findings.length > 0
        // With findings, reservations stay halted, or halt now.
        if (hasFindings) await haltReservations(tx, findings)
        const wasHalted = hasFindings || (await clearHalt(tx, auditNote))
        const resumedOutcome = wasHalted ? 'done' : 'unchanged'
        const outcome = hasFindings ? 'LEDGER_FINDINGS' : resumedOutcome
        const details = { reason, findings: findings.length }
        await recordAction(tx, { actor, action: 'ledger.resume', subject: 'reservations', details, outcome })
        return { findings, wasHalted }
      })
    },
    setFrozen: (sponsor, frozen, auditNote) =>
      database.transaction(async (tx) => {
        const isChanged = await setSponsorFrozen(tx, { sponsor, frozen, ...auditNote })
        const { actor, reason } = auditNote
        const action = frozen ? 'sponsor.freeze' : 'sponsor.unfreeze'
        const outcome = isChanged ? 'done' : 'unchanged'
        await recordAction(tx, { actor, action, subject: sponsor, details: { reason }, outcome })
        return isChanged
      }),
    export: (afterSeq) => exportTransfers(database, { afterSeq }),
    backup: (write) => backupDatabase(database, write),
    restore: (lines, actor) =>
      restoreDatabase(database, lines, (tx) =>
        recordAction(tx, { actor, action: 'ledger.restore', subject: 'database' }),
      ),
    balance: (wallet) => database.transaction((tx) => createLedger().balance(tx, wallet)),
  }
}
