import type { SqlTx } from '@causeway/core'

/** One change by an operator or integrator, as the audit log keeps it. `details` never hold a secret. */
export type AdminAction = {
  /** `cli:<account>`, `admin` for the admin listener, `key:<id>` for the holder of a key. */
  readonly actor: string
  /** `<noun>.<verb>`, e.g. `keys.create`. */
  readonly action: string
  /** Changed object, e.g. the id of a key. */
  readonly subject: string
  readonly details?: Readonly<Record<string, string | number | boolean | null>>
  /** `done` by default; `unchanged` if nothing had to change; or the error code of a refusal. */
  readonly outcome?: string
}

/** Adds the action to the append-only audit log, in the transaction that carries it out. */
export async function recordAction(tx: SqlTx, action: AdminAction): Promise<void> {
  const { actor, subject, details = {}, outcome = 'done' } = action
  await tx.query(
    'insert into admin_action (actor, action, subject, details, outcome) values ($1, $2, $3, $4, $5)',
    [actor, action.action, subject, JSON.stringify(details), outcome],
  )
}
