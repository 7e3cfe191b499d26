import type { SqlTx } from '@causeway/core'

/** Work that a transaction leaves for a worker after its commit, in the table `outbox`. */
export type OutboxMessage = { readonly id: bigint; readonly payload: unknown; readonly createdAt: Date }

/** Adds a message in the caller's transaction, so that it exists exactly if that commits. */
export async function enqueue(tx: SqlTx, topic: string, payload: unknown): Promise<void> {
  await tx.query('insert into outbox (topic, payload) values ($1, $2)', [topic, JSON.stringify(payload)])
}

/**
 * Takes the oldest waiting messages of a topic that no other transaction has taken. They stay locked until this
 * transaction ends: call `finishOutbox` in it, else others can take them again.
 */
export async function takeOutbox(tx: SqlTx, topic: string, limit: number): Promise<readonly OutboxMessage[]> {
  const rows = await tx.query<{ id: bigint; payload: unknown; created_at: Date }>(
    `select id, payload, created_at from outbox where topic = $1 and done_at is null
     order by id limit $2 for update skip locked`,
    [topic, limit],
  )
  return rows.map(({ id, payload, created_at }) => ({ id, payload, createdAt: created_at }))
}

/** Marks taken messages as done. */
export async function finishOutbox(tx: SqlTx, ids: readonly bigint[]): Promise<void> {
  await tx.query('update outbox set done_at = clock_timestamp() where id = any($1)', [ids])
}
