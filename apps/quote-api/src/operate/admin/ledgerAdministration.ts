import type { BalanceRecord, Hex, SqlDatabase } from '@causeway/core'
import {
  backupDatabase,
  clearHalt,
  createLedger,
  exportTransfers,
  haltReservations,
  type LedgerFinding,
  type LedgerHalt,
  readHalt,
  restoreDatabase,
  setSponsorFrozen,
} from '@causeway/ledger'
import { checkBooks } from '../../jobs/invariants.ts'

/** Who acts and why; stored with the action. */
export type Deed = { readonly actor: string; readonly reason: string }

/** What operators ask of the books: one implementation behind the command line and the admin listener. */
export interface LedgerAdministration {
  /**
   * Empty: the books add up. What is found stops new reservations. `cheap` leaves the replay of the whole
   * history out.
   */
  verify(depth: 'cheap' | 'all'): Promise<readonly LedgerFinding[]>
  halt(): Promise<LedgerHalt | undefined>
  /** Lets reservations go on unless something is still found, which is returned. */
  resume(deed: Deed): Promise<{ readonly findings: readonly LedgerFinding[]; readonly wasHalted: boolean }>
  /** False when the wallet has no account, or stands so already. */
  setFrozen(wallet: Hex, frozen: boolean, deed: Deed): Promise<boolean>
  /** Every transfer as one line of JSON, oldest first. */
  export(afterSeq: bigint): AsyncIterable<string>
  /** All tables as lines of text, from one snapshot. */
  backup(write: (lines: string) => Promise<void>): Promise<void>
  /** Fills an empty, migrated database. @throws ConfigurationError and changes nothing */
  restore(lines: AsyncIterable<string>): Promise<void>
  balance(wallet: Hex): Promise<BalanceRecord>
}

export function createLedgerAdministration(database: SqlDatabase): LedgerAdministration {
  const verify = async (depth: 'cheap' | 'all') => {
    const findings = await checkBooks(database, depth)
    if (findings.length > 0) await database.transaction((tx) => haltReservations(tx, findings))
    return findings
  }
  return {
    verify,
    halt: () => readHalt(database),
    async resume(deed) {
      const findings = await verify('all')
      if (findings.length > 0) return { findings, wasHalted: true }
      return { findings, wasHalted: await database.transaction((tx) => clearHalt(tx, deed)) }
    },
    setFrozen: (sponsor, frozen, deed) =>
      database.transaction((tx) => setSponsorFrozen(tx, { sponsor, frozen, ...deed })),
    export: (afterSeq) => exportTransfers(database, { afterSeq }),
    backup: (write) => backupDatabase(database, write),
    restore: (lines) => restoreDatabase(database, lines),
    balance: (wallet) => database.transaction((tx) => createLedger().balance(tx, wallet)),
  }
}
