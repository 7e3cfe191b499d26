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

/** Actor and reason; stored with the action. */
export type AuditNote = { readonly actor: string; readonly reason: string }

/** Operations on the ledger: one implementation behind the command line and the admin listener. */
export interface LedgerAdministration {
  /**
   * Empty: the books add up. What is found stops new reservations. `cheap` leaves the replay of the whole
   * history out.
   */
  verify(depth: 'cheap' | 'all', actor: string): Promise<readonly LedgerFinding[]>
  halt(): Promise<LedgerHalt | undefined>
  /** Lets reservations go on unless something is still found, which is returned. */
  resume(
    auditNote: AuditNote,
  ): Promise<{ readonly findings: readonly LedgerFinding[]; readonly wasHalted: boolean }>
  /** False when the wallet has no account, or stands so already. */
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
      const isNews = await haltReservations(tx, findings)
      const details = { findings: findings.length }
      if (isNews) await recordAction(tx, { actor, action: 'ledger.verify', subject: 'reservations', details })
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
        const wasHalted = findings.length > 0 || (await clearHalt(tx, auditNote))
        if (findings.length > 0) await haltReservations(tx, findings)
        const outcome = findings.length > 0 ? 'LEDGER_FINDINGS' : wasHalted ? 'done' : 'unchanged'
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
