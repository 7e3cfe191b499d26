import type { QueryOptions, SqlDatabase, SqlRow } from '@causeway/core'
import pg from 'pg'
import { createDiskSpace, type DiskSpace, writeProbe } from './diskSpace.ts'
import {
  type DatabaseDiskFullError,
  DatabaseOverloadedError,
  DatabaseStartingError,
  isConnectionError,
  toCallerError,
  toConnectingError,
} from './errors.ts'
import { openSession, type Session } from './session.ts'
import { type RunStatement, runTransaction, UnfinishedTransaction } from './transaction.ts'

export type DatabaseOptions = {
  readonly connectionString: string
  /** Connections; 4 to 8 per process are best, because more of them contend for hot rows. Default 6. */
  readonly poolSize?: number
  /** Callers that may wait for a connection before more are refused. Default 256. */
  readonly queueMax?: number
  /** Time to wait for a connection. Default 1 s. */
  readonly acquireTimeoutMs?: number
  /** Time for one statement, enforced by the server and, a little later, by us. Default 5 s. */
  readonly statementTimeoutMs?: number
  /** Shown in `pg_stat_activity`. */
  readonly applicationName?: string
  /** Called for each connection that broke while idle. */
  readonly onConnectionLost?: (error: Error) => void
  /** Called once when the disk of the server is full, and once with `undefined` when it has room again. */
  readonly onDiskFull?: (full: DatabaseDiskFullError | undefined) => void
}

/** Connections in use, callers that wait for one, and the most that are opened. */
export type PoolUsage = { readonly inUse: number; readonly waiting: number; readonly limit: number }

/** The pool of connections of a process. */
export interface Database extends SqlDatabase {
  /** @throws UpstreamUnavailableError; DatabaseStartingError or DatabaseDiskFullError while nothing can be written */
  ping(): Promise<void>
  /** The pool now. */
  usage(): PoolUsage
  /** Waits for what is running, then closes every connection. */
  close(): Promise<void>
}

/** The client's statement timeout is this much longer than the server's: it serves where the server does not answer. */
const clientGraceMs = 500
const idleInTransactionMs = 10_000

/**
 * Opens a pool; connects at first use. `numeric` and `int8` are read as `bigint`. Errors of availability become
 * `UpstreamUnavailableError`. After one it is unknown whether the transaction was committed, so callers repeat it with
 * the same ids. Other errors are the driver's, with the SQLSTATE in `code`.
 * @throws DatabaseOverloadedError from every method, when too many callers wait
 */
export function createDatabase(options: DatabaseOptions): Database {
  const { poolSize = 6, queueMax = 256 } = options
  const sessions = new WeakMap<object, Session>()
  const pool = openPool(options, poolSize, sessions)
  const nameOf = createStatementNames()
  let callers = 0
  const disk = createDiskSpace({
    probe: () => transaction(writeProbe),
    onChange: (full) => options.onDiskFull?.(full),
  })

  const withClient = async <T>(work: (run: RunStatement, session: Session | undefined) => Promise<T>) => {
    if (callers >= poolSize + queueMax) throw new DatabaseOverloadedError()
    callers += 1
    try {
      return await useClient(pool, disk, (client) => {
        const session = sessions.get(client)
        return work(statementsOn(client, session, nameOf), session)
      })
    } finally {
      callers -= 1
    }
  }

  const query = <Row extends SqlRow>(text: string, values?: readonly unknown[], more?: QueryOptions) =>
    withClient(async (runOn, session) =>
      // Behind a pooler time limits hold within a transaction only, so a single query needs one. `more` is
      // about prepared statements, which are not used there.
      session?.isPooled === true
        ? runTransaction(runOn, (tx) => tx.query<Row>(text, values), {
            begin: session.begin,
            // The only statement needs no transaction around it, so it need not wait for `begin`.
            opensWithRead: true,
          })
        : (await runOn<Row>(text, values, more)).rows,
    )

  const transaction: Database['transaction'] = (work, options) =>
    withClient((runOn, session) => runTransaction(runOn, work, { ...options, begin: session?.begin }))

  return {
    query,
    transaction,
    async ping() {
      await withClient(async (runOn) => {
        const { rows } = await runOn("select current_setting('transaction_read_only') as value")
        if (rows[0]?.['value'] === 'on') throw new DatabaseStartingError()
      })
      disk.requireSpace()
    },
    usage: () => ({
      inUse: pool.totalCount - pool.idleCount,
      waiting: pool.waitingCount,
      limit: poolSize,
    }),
    async close() {
      disk.close()
      await pool.end()
    },
  }
}

/** @param sessions gets the session of each new connection */
function openPool(options: DatabaseOptions, poolSize: number, sessions: WeakMap<object, Session>): pg.Pool {
  const { acquireTimeoutMs = 1_000, statementTimeoutMs = 5_000 } = options
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    max: poolSize,
    connectionTimeoutMillis: acquireTimeoutMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    // Statements are sent before earlier ones are answered. They are always of one transaction, since a caller has its
    // connection alone.
    pipeline: true,
    query_timeout: statementTimeoutMs + clientGraceMs,
    application_name: options.applicationName ?? 'causeway',
    types: typeParsers,
    async onConnect(client) {
      const session = await openSession(client, {
        statement_timeout: statementTimeoutMs,
        idle_in_transaction_session_timeout: idleInTransactionMs,
      })
      if (session.isReadOnly) throw new DatabaseStartingError()
      sessions.set(client, session)
    },
  })
  pool.on('error', (error) => options.onConnectionLost?.(error))
  // The caller of a connection that breaks gets the error from its statement. Without a listener, the event would end
  // the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/**
 * Lends a connection to `work`, maps its errors to those of callers, and drops the connection if it broke.
 * `disk` notes each error for "disk full", and while the disk is full names that as the cause of lost
 * connections.
 */
async function useClient<T>(
  pool: pg.Pool,
  disk: DiskSpace,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw disk.judge(toConnectingError(error), isConnectionError(error))
  })
  let isBroken = false
  try {
    return await work(client)
  } catch (error) {
    const cause = error instanceof UnfinishedTransaction ? error.cause : error
    isBroken = isConnectionError(error) || error instanceof UnfinishedTransaction
    throw disk.judge(toCallerError(cause), isConnectionError(cause))
  } finally {
    // A connection is kept after an error of its statement alone.
    client.release(isBroken)
  }
}

/** Most prepared statements per connection, so that dynamic SQL does not fill the server with plans. */
const namedStatementsMax = 200

type NameOf = (text: string) => string | undefined

/** Gives each statement text the name under which connections prepare it; undefined beyond the maximum. */
function createStatementNames(): NameOf {
  const names = new Map<string, string>()
  return (text) => {
    const cachedName = names.get(text)
    if (cachedName !== undefined || names.size >= namedStatementsMax) return cachedName
    const name = `causeway_${names.size + 1}`
    names.set(text, name)
    return name
  }
}

function statementsOn(client: pg.PoolClient, session: Session | undefined, nameOf: NameOf): RunStatement {
  return (text, values, { isPlannedEachTime = false } = {}) => {
    // A prepared plan belongs to one connection of the server, and a pooler may use another for the next transaction.
    const isPrepared = session?.isPooled !== true && !isPlannedEachTime
    return run(client, isPrepared ? nameOf : () => undefined, text, values)
  }
}

async function run<Row extends SqlRow>(
  client: pg.PoolClient,
  nameOf: NameOf,
  text: string,
  values?: readonly unknown[],
): Promise<pg.QueryResult<Row>> {
  // A text without values may hold several statements, which cannot be prepared.
  if (values === undefined) return client.query<Row>(text)
  const name = nameOf(text)
  return client.query<Row>({ text, values: [...values], ...(name !== undefined && { name }) })
}

// Type ids of PostgreSQL's catalog.
const int8Oid = 20
const numericOid = 1700
const int8ArrayOid = 1016
const numericArrayOid = 1231
const textArrayOid: number = 1009

type TextParser = (text: string) => unknown

/** Splits the text of any array into the texts of its items. */
const parseTextArray: TextParser = pg.types.getTypeParser(textArrayOid, 'text')

/**
 * Column types as this project reads them: `int8` and `numeric` are `bigint`, never a rounded
 * number or a string. A fraction in a numeric column throws: money has none.
 */
const typeParsers = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): TextParser {
    if (format === 'binary') return pg.types.getTypeParser(oid, 'binary')
    if (oid === int8Oid || oid === numericOid) return parseInteger
    if (oid === int8ArrayOid || oid === numericArrayOid) return parseIntegerArray
    return pg.types.getTypeParser(oid, 'text')
  },
}

function parseInteger(text: string): bigint {
  if (!/^-?[0-9]+$/.test(text)) throw new RangeError('a numeric column holds something other than an integer')
  return BigInt(text)
}

function parseIntegerArray(text: string): unknown {
  const parsed = parseTextArray(text)
  return Array.isArray(parsed) ? parsed.map(toInteger) : parsed
}

function toInteger(item: unknown): unknown {
  if (Array.isArray(item)) return item.map(toInteger)
  return typeof item === 'string' ? parseInteger(item) : item
}
