import type { SqlTx } from '@causeway/core'

/** Stores an operator's manual change of the ledger; the row can never be changed. `subject`: what was changed. */
export async function recordAction(
  tx: SqlTx,
  args: { actor: string; action: string; subject: string; reason: string },
): Promise<void> {
  await tx.query('insert into operator_action (actor, action, subject, reason) values ($1, $2, $3, $4)', [
    args.actor,
    args.action,
    args.subject,
    args.reason,
  ])
}
