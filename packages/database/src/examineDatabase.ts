import {
  clockFindings,
  counted,
  type Finding,
  type FindingCode,
  type Findings,
  type Severity,
} from '@causeway/core/config'
import pg from 'pg'
import { writeProbe } from './diskSpace.ts'
import { jobLockClass } from './election.ts'
import { sqlState, whileStarting } from './errors.ts'
import { catalogOf } from './migrations/describeSchema.ts'
import { examineSchema } from './migrations/history.ts'
import type { MigrationDirectory } from './migrations/migrationFiles.ts'
import { refusalOf } from './openMigrated.ts'
import { openSession } from './session.ts'

/** Facts about a server and the connected role, from which `judgeDatabase` makes findings. */
export type DatabaseFacts = {
  /** As `server_version_num`, e.g. 170007. */
  readonly version: number
  readonly isStandby: boolean
  /** True for a role or a database whose transactions are read-only. */
  readonly isReadOnly: boolean
  readonly mayCreateTables: boolean
  /** Names of this project's tables that the role cannot read and write; five at most. */
  readonly closedTables: readonly string[]
  /** True once migrations ran. */
  readonly isMigrated: boolean
  /** True if some process holds the lock of a job. */
  readonly hasJobs: boolean
  /** Connections that the server takes from ordinary roles. */
  readonly connectionsMax: number
  /** True where a write of about a megabyte found no room. */
  readonly isDiskFull: boolean
  /** This machine's clock less the server's. */
  readonly clockOffsetMs: number
}

/** A database that a service would use, and how. */
export type ExaminedDatabase = {
  readonly connectionString: string
  /** Environment variable that names it. */
  readonly setting: string
  /** True if the service starts without its database and waits for it. */
  readonly isWaitedFor: boolean
  /** Most connections that the service opens. */
  readonly connections: number
  /** True if this process runs jobs. */
  readonly runsJobs: boolean
  readonly nowMs: () => number
  /** Modules whose tables the service keeps there. */
  readonly directories?: readonly MigrationDirectory[]
}

const connectTimeoutMs = 5_000
/** Oldest version that PostgreSQL's makers still support, and the version that this release is tested with. */
const oldestMajor = 14
const testedMajor = 17

/** Examines a database for the `doctor` command, and adds findings. Connects once; leaves nothing behind. */
export async function examineDatabase(examined: ExaminedDatabase, findings: Findings): Promise<void> {
  const { setting, isWaitedFor } = examined
  try {
    const { facts, schema } = await readFacts(examined)
    findings.add(...judgeDatabase(facts, examined), ...schema.map((finding) => ({ ...finding, setting })))
  } catch (error) {
    const mayWait = isWaitedFor && whileStarting(error) !== undefined
    findings.add({
      code: 'database-unreachable',
      severity: mayWait ? 'degrades' : 'stops',
      setting,
      seen: `the database cannot be used${refusalOf(error) ?? ''}${mayWait ? '; the start waits for it' : ''}`,
      fix: fixOf(sqlState(error)),
    })
  }
}

/** Advice for an SQLSTATE or Node's code of a connection that failed. */
function fixOf(state: string | undefined): string {
  if (state?.startsWith('28') === true)
    return 'Compare user and password with those of the server, and see that the password is still valid.'
  if (state === '53300') return 'End connections that nobody needs, or raise max_connections.'
  if (state?.startsWith('08') === true) return 'See what the pooler in front of the server says.'
  if (state === '3D000') return 'Create the database: create database <name> owner <user>.'
  if (state === 'ENOTFOUND') return 'Compare the host name; inside containers it is the name of the service.'
  if (state === 'ERR_INVALID_URL')
    return 'Write postgres://user:password@host:5432/name, the password URL-encoded.'
  return 'See that the server runs and that this machine reaches its port.'
}

async function readFacts({
  connectionString,
  nowMs,
  directories = [],
}: ExaminedDatabase): Promise<{ readonly facts: DatabaseFacts; readonly schema: readonly Finding[] }> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: connectTimeoutMs,
    pipeline: true,
    application_name: 'causeway-doctor',
  })
  client.on('error', () => {})
  await client.connect()
  try {
    await openSession(client, {
      statement_timeout: connectTimeoutMs,
      idle_in_transaction_session_timeout: connectTimeoutMs,
    })
    const askedAtMs = nowMs()
    const { rows } = await client.query<FactsRow>(factsQuery, [jobLockClass])
    const [row] = rows
    if (row === undefined) throw new Error('the database said nothing of itself')
    // The server's time is compared with the middle of question and answer.
    const clockOffsetMs = (askedAtMs + nowMs()) / 2 - Number(row.clockMs)
    const isReadOnly = row.readOnly === 'on'
    const facts = { ...row, isReadOnly, isDiskFull: !isReadOnly && (await isDiskFull(client)), clockOffsetMs }
    // The closed tables may include a history of migrations, which could not be read.
    const hasClosedTables = facts.closedTables.length > 0
    return { facts, schema: hasClosedTables ? [] : await examineSchema(catalogOf(client), directories) }
  } finally {
    await client.end()
  }
}

type FactsRow = Omit<DatabaseFacts, 'isReadOnly' | 'isDiskFull' | 'clockOffsetMs'> & {
  readonly readOnly: string
  readonly clockMs: string
}

/** `pg_locks` shows the first half of a job's lock key as `classid`, an oid. */
const factsQuery = `
  select current_setting('server_version_num')::int as version,
         pg_is_in_recovery() as "isStandby",
         current_setting('transaction_read_only') as "readOnly",
         coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) as "mayCreateTables",
         array(select relname::text from pg_class
               where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
                 and not (has_table_privilege(oid, 'SELECT') and has_table_privilege(oid, 'INSERT')
                          and has_table_privilege(oid, 'UPDATE') and has_table_privilege(oid, 'DELETE'))
               order by relname limit 5) as "closedTables",
         exists(select from pg_class where relnamespace = current_schema()::regnamespace
                and relname like 'migrations\\_%' and relkind = 'r') as "isMigrated",
         exists(select from pg_locks where locktype = 'advisory' and classid = $1::int8::oid
                and database = (select oid from pg_database where datname = current_database())) as "hasJobs",
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
           as "connectionsMax",
         (extract(epoch from clock_timestamp()) * 1000)::text as "clockMs"`

/** True only for the SQLSTATE of a full disk: some roles may not make temporary tables at all. */
async function isDiskFull(client: pg.Client): Promise<boolean> {
  try {
    await client.query('begin')
    await writeProbe(client)
    return false
  } catch (error) {
    return sqlState(error) === '53100'
  } finally {
    await client.query('rollback')
  }
}

/** Findings for an operator from these facts. Pure. */
export function judgeDatabase(
  facts: DatabaseFacts,
  { setting, connections, runsJobs, isWaitedFor }: Omit<ExaminedDatabase, 'connectionString' | 'nowMs'>,
): readonly Finding[] {
  const when = (
    isFound: boolean,
    code: FindingCode,
    severity: Severity,
    [seen, fix]: readonly [string, string],
  ) => (isFound ? [{ code, severity, setting, seen, fix }] : [])
  const major = Math.floor(facts.version / 10_000)
  const old = `PostgreSQL ${major}, and this release is tested with ${testedMajor} and newer`
  const upgrade = 'Upgrade the server.'
  const grant = 'Let the user own the database: alter database <name> owner to <user>.'
  const { isStandby, closedTables, isMigrated, connectionsMax } = facts
  const noTables = `this user may create no tables${isMigrated ? ', which the next upgrade does' : ''}`
  return [
    ...when(major < oldestMajor, 'database-version', 'stops', [old, upgrade]),
    ...when(major >= oldestMajor && major < testedMajor, 'database-version', 'note', [old, upgrade]),
    ...when(isStandby, 'database-rights', isWaitedFor ? 'degrades' : 'stops', [
      'it is a standby, which takes no writes',
      'Name the primary, or promote this server.',
    ]),
    ...when(facts.isReadOnly && !isStandby, 'database-rights', 'stops', [
      'transactions of this user are read-only',
      grant,
    ]),
    ...when(!facts.mayCreateTables, 'database-rights', isMigrated ? 'degrades' : 'stops', [noTables, grant]),
    ...when(closedTables.length > 0, 'database-rights', 'stops', [
      `this user may not write ${closedTables.join(', ')}`,
      grant,
    ]),
    ...when(facts.isDiskFull, 'database-full', 'degrades', [
      'the disk of the server has no room',
      'Make room on it.',
    ]),
    ...when(connections > connectionsMax, 'setting-contradicts', 'stops', [
      `the server takes ${counted(connectionsMax, 'connection')}, and this process holds up to ${connections}`,
      'Lower DATABASE_POOL_SIZE or raise max_connections.',
    ]),
    ...when(!runsJobs && !facts.hasJobs, 'jobs-elsewhere', 'degrades', [
      'is off here, and no process runs the jobs of this database: nothing is settled',
      'Set JOBS=on for one process at least; several elect one.',
    ]).map((finding) => ({ ...finding, setting: 'JOBS' })),
    ...clockFindings({ setting, with: "the database's clock", offsetMs: facts.clockOffsetMs }),
  ]
}
