import type pg from 'pg'

/** Time limits that the server enforces, in milliseconds. */
export type SessionLimits = {
  readonly statement_timeout: number
  readonly idle_in_transaction_session_timeout: number
}

/** Properties of a connection whose time limits were verified. */
export type Session = {
  /** SQL that opens a transaction with the limits in force. */
  readonly begin: string
  /** A pooler stands in between: the next transaction may run on another connection of the server. */
  readonly isPooled: boolean
  /** Nothing may be written: the server is a standby, or the role or database is read-only. */
  readonly isReadOnly: boolean
}

/** The server does not keep a time limit, so that a statement could hold its locks for ever. */
export class LimitNotKeptError extends Error {
  override readonly name = 'LimitNotKeptError'
}

/**
 * Sets the limits on a new connection and reads them back. They are not sent as connection options, because poolers
 * refuse or silently drop those. Behind a pooler they are set in each transaction, which may run on any connection.
 * @throws LimitNotKeptError for a limit that has another value when it is read back
 */
export async function openSession(client: pg.ClientBase, limits: SessionLimits): Promise<Session> {
  const isPooled = await isBehindPooler(client)
  const settings = Object.entries(limits)
  const setSql = (scope: string) => settings.map(([name, ms]) => `set ${scope} ${name} = ${ms}`).join('; ')
  const begin = isPooled ? `begin; ${setSql('local')}` : 'begin'
  // Statements in a row on one connection: set the limits, read them back, end a transaction that was begun.
  const [, { rows }] = await Promise.all([
    client.query(isPooled ? begin : setSql('session')),
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

/** True if a pooler answered the connection: it names another process id than that of the server's process. */
export async function isBehindPooler(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return !('processID' in client && client.processID === rows[0]?.pid)
}
