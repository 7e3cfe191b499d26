import type { SqlDatabase } from '@causeway/core'
import { type AdminAction, recordAction } from '../../access/adminAction.ts'

/** One line of the audit log: a change or a refused attempt (see `AdminAction`). */
export type AuditLine = {
  /** Grows with time; the next page has lines before it. */
  readonly id: bigint
  readonly at: Date
  readonly actor: string
  readonly action: string
  readonly subject: string
  readonly outcome: string
  readonly details: Readonly<Record<string, unknown>>
}

export type AuditQuery = {
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly subject?: string | undefined
  readonly since?: Date | undefined
  /** Lines before this one only. */
  readonly before?: bigint | undefined
  readonly limit: number
}

/** Audit entries, newest first. */
export async function readAudit(
  database: Pick<SqlDatabase, 'query'>,
  { actor, action, subject, since, before, limit }: AuditQuery,
): Promise<readonly AuditLine[]> {
  const rows = await database.query<Omit<AuditLine, 'at'> & { readonly done_at: Date }>(
    `select id, done_at, actor, action, subject, outcome, details from admin_action
     where ($1::text is null or actor = $1) and ($2::text is null or action = $2)
       and ($3::text is null or subject = $3) and ($4::timestamptz is null or done_at >= $4)
       and ($5::bigint is null or id < $5)
     order by id desc limit $6`,
    [actor ?? null, action ?? null, subject ?? null, since ?? null, before ?? null, limit],
  )
  return rows.map(({ done_at: at, ...line }) => ({ at, ...line }))
}

/** The audit log of changes by operators: one implementation behind the command line and the admin listener. */
export interface AuditAdministration {
  /** Newest first. */
  list(query: AuditQuery): Promise<readonly AuditLine[]>
  /** Adds an attempt that was refused, in a new transaction: the attempt's own was rolled back. */
  refused(attempt: AdminAction & { readonly outcome: string }): Promise<void>
}

export function createAuditAdministration(database: SqlDatabase): AuditAdministration {
  return {
    list: (query) => readAudit(database, query),
    refused: (attempt) => database.transaction((tx) => recordAction(tx, attempt)),
  }
}
