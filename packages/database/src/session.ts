import type pg from 'pg'

/** Time limits that the server keeps itself, in milliseconds. */
export type SessionLimits = {
  readonly statement_timeout: number
  readonly idle_in_transaction_session_timeout: number
}

/** A connection that its limits hold on. */
export type Session = {
  /** Opens a transaction that its limits hold in. */
  readonly begin: string
  /** A pooler answers: the next transaction may run on another connection of the server. */
  readonly isPooled: boolean
  /** Nothing may be written: a standby, or a role or database that is read-only. */
  readonly isReadOnly: boolean
}

/** A statement without an end would hold its locks, and the connection, for ever. */
export class LimitNotKeptError extends Error {
  override readonly name = 'LimitNotKeptError'
}

/**
 * Sets the limits and reads them back. A pooler refuses limits that come with the connection, or drops them unseen.
 * Behind one they are set in each transaction, because the next transaction may run elsewhere.
 * @throws LimitNotKeptError for a limit that reads otherwise
 */
export async function openSession(client: pg.ClientBase, limits: SessionLimits): Promise<Session> {
  const isPooled = await isBehindPooler(client)
  const settings = Object.entries(limits)
  const set = (scope: string) => settings.map(([name, ms]) => `set ${scope} ${name} = ${ms}`).join('; ')
  const begin = isPooled ? `begin; ${set('local')}` : 'begin'
  const [, { rows }] = await Promise.all([
    client.query(isPooled ? begin : set('session')),
    client.query<{ name: string; value: string }>(
      `select name, setting as value from pg_settings where name = any($1)`,
      [[...settings.map(([name]) => name), 'transaction_read_only']],
    ),
    ...(isPooled ? [client.query('commit')] : []),
  ])
  const values = new Map(rows.map(({ name, value }) => [name, value]))
  for (const [name, ms] of settings) {
    if (values.get(name) === String(ms)) continue
    throw new LimitNotKeptError(
      `the time limit ${name} was set to ${ms} ms and reads ${values.get(name)} ms: what stands before the server must pass SET on`,
    )
  }
  return { begin, isPooled, isReadOnly: values.get('transaction_read_only') === 'on' }
}

/** A pooler names a process of its own to whoever connects. */
export async function isBehindPooler(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return !('processID' in client && client.processID === rows[0]?.pid)
}
