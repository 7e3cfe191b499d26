import type { SqlDatabase } from '@causeway/core'
import { type AdminAction, recordAction } from '../../access/adminAction.ts'
import { type AuditLine, type AuditQuery, readAudit } from '../../access/auditLog.ts'

/** The lines that every change by an operator leaves. */
export interface AuditAdministration {
  /** Newest first. */
  list(query: AuditQuery): Promise<readonly AuditLine[]>
  /** Keeps an attempt that changed nothing, in a transaction of its own: that of the attempt is gone. */
  refused(attempt: AdminAction & { readonly outcome: string }): Promise<void>
}

export function createAuditAdministration(database: SqlDatabase): AuditAdministration {
  return {
    list: (query) => readAudit(database, query),
    refused: (attempt) => database.transaction((tx) => recordAction(tx, attempt)),
  }
}
