import { rename } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigurationError, DomainError, type Hex, type Secret, type SqlDatabase } from '@causeway/core'
import type { Findings } from '@causeway/core/config'
import {
  createDatabase,
  type Database,
  examineDatabase,
  type MigrationDirectory,
  openMigrated,
  sqlState,
} from '@causeway/database'
import { createCapJournal } from '@causeway/signer'
import { AttestationError } from '../attestations/errors.ts'
import type { SharedCounting } from '../caps/openSigningGuard.ts'
import { createSettledJournal, type SettledOrders } from '../caps/settledOrders.ts'
import { createSharedCaps } from '../caps/sharedCaps.ts'
import { createSharedHeldStore, releasesIn } from '../caps/sharedHeldStore.ts'
import { createSharedSettledOrders, importSettledOrder } from '../caps/sharedSettledOrders.ts'
import { createHaltStore, type HaltStore } from '../halt/haltStore.ts'
import { clearancesIn, createSharedHaltStore } from '../halt/sharedHaltStore.ts'
import type { WatchLog } from '../halt/watchedChain.ts'
import type { OperatorState } from './operatorCommands.ts'

/** State that all processes of one oracle share in PostgreSQL: signing caps, settled orders and halts. */
export type SharedState = {
  readonly counting: SharedCounting
  readonly orders: SettledOrders
  readonly halts: HaltStore
  /** For `/ready`. @throws while the database cannot be used, so that nothing can be counted */
  check(): Promise<void>
  close(): Promise<void>
}

export const schemaModules: readonly MigrationDirectory[] = [
  { name: 'oracle', path: fileURLToPath(new URL('../../migrations', import.meta.url)) },
]

const setting = 'ORACLE_DATABASE_URL'
const poolSize = 6
/** Short, because an attestation has eight seconds in all. */
const timeouts = { acquireTimeoutMs: 1_000, statementTimeoutMs: 2_000 }

/** The oracle to which a database belongs. */
type Owner = { readonly signer: Hex; readonly environment: string }

type Options = Owner & {
  readonly url: Secret
  /** Folder of earlier runs without a database: its state is moved into the database. */
  readonly stateDirectory: string | undefined
  readonly log: WatchLog
}

/**
 * Opens and migrates the database at `ORACLE_DATABASE_URL`, and records that it belongs to this oracle.
 * @throws ConfigurationError for a database that cannot be used, or that belongs to another oracle
 */
export async function openSharedState(options: Options): Promise<SharedState> {
  const { url, log, stateDirectory } = options
  const database = await connect(url, log)
  // For all that runs after the start. The start and `check` use `database`, whose own errors say more.
  const guarded = refuseOnFailure(database)
  try {
    await claimDatabase(database, options)
    if (stateDirectory !== undefined) await moveState(database, stateDirectory, log)
  } catch (error) {
    await database.close()
    throw error
  }
  return {
    counting: {
      capsOf: (table, isUnlistedHeld) => createSharedCaps(guarded, { table, isUnlistedHeld }),
      held: createSharedHeldStore(guarded, actor()),
    },
    orders: createSharedSettledOrders(guarded),
    halts: createSharedHaltStore(guarded, actor()),
    async check() {
      await database.ping()
      await claimDatabase(database, options)
    },
    close: () => database.close(),
  }
}

/** Opens the shared state for one operator's command. */
export async function withSharedState<Result>(
  url: Secret,
  use: (state: OperatorState) => Promise<Result>,
): Promise<Result> {
  const database = await connect(url, undefined)
  try {
    return await use({
      place: 'the database',
      halts: createSharedHaltStore(database, actor()),
      held: createSharedHeldStore(database, actor()),
      audit: {
        // The changed rows record who changed them and when.
        record: (_command, change) => change(),
        async list() {
          const changes = [...(await releasesIn(database)), ...(await clearancesIn(database))]
          return changes.sort((one, other) => (one.at < other.at ? 1 : -1))
        },
      },
    })
  } finally {
    await database.close()
  }
}

/** Doctor's examination of the database: finds what would stop a start. */
export async function examineSharedState(
  {
    url,
    signer,
    environment,
  }: { readonly url: Secret } & { readonly [Member in keyof Owner]: Owner[Member] | undefined },
  nowMs: () => number,
  findings: Findings,
): Promise<void> {
  // A start does not wait for the database, and each process does its own jobs.
  const examined = { connectionString: url.reveal(), setting, isWaitedFor: false, nowMs }
  const before = findings.list.length
  await examineDatabase(
    { ...examined, connections: poolSize, runsJobs: true, directories: schemaModules },
    findings,
  )
  const isUsable = !findings.list.slice(before).some(({ severity }) => severity === 'stops')
  if (!isUsable || signer === undefined || environment === undefined) return
  const database = createDatabase({ connectionString: url.reveal(), poolSize: 1, ...timeouts })
  try {
    const rows = await database.query<{ there: boolean }>(
      `select to_regclass('oracle_owner') is not null as there`,
    )
    if (rows[0]?.there !== true) return
    const foreign = foreignOwner(await ownerIn(database), { signer, environment })
    if (foreign !== undefined) findings.problems([foreign], 'setting-contradicts')
  } finally {
    await database.close()
  }
}

/** Account that the audit names: only operators' commands release or clear, never the service. */
const actor = () => `cli:${userInfo().username}`

function connect(url: Secret, log: WatchLog | undefined): Promise<Database> {
  return openMigrated({
    setting,
    directories: schemaModules,
    connectionString: url.reveal(),
    applicationName: 'causeway-oracle',
    poolSize,
    ...timeouts,
    onConnectionLost: (error) =>
      log?.warn({ event: 'database_connection_lost', err: error }, 'database connection lost'),
    onDiskFull: (full) => {
      if (full !== undefined) log?.error({ event: 'database_full', err: full }, full.message)
    },
  })
}

/** Records the owner of a new database. It writes each time, so that a read-only database fails. @throws ConfigurationError for another oracle's database */
async function claimDatabase(database: SqlDatabase, { signer, environment }: Owner): Promise<void> {
  await database.query(
    'insert into oracle_owner (signer, environment) values ($1, $2) on conflict do nothing',
    [signer, environment],
  )
  const foreign = foreignOwner(await ownerIn(database), { signer, environment })
  if (foreign !== undefined) throw new ConfigurationError(foreign)
}

async function ownerIn(database: SqlDatabase): Promise<Owner | undefined> {
  const [owner] = await database.query<Owner>('select signer, environment from oracle_owner')
  return owner
}

/** Sentence on a database that belongs to another oracle; `undefined` for one's own. */
function foreignOwner(owner: Owner | undefined, self: Owner): string | undefined {
  if (owner === undefined) return undefined
  if (owner.signer === self.signer && owner.environment === self.environment) return undefined
  return `${setting} is the database of the oracle ${owner.signer} of ${owner.environment}: each oracle needs one of its own, or what one signed is free for the other.`
}

/** The database, with failures turned into a refusal of the attestation: without it nothing would be counted. */
function refuseOnFailure(database: SqlDatabase): SqlDatabase {
  const refuse = (error: unknown): never => {
    if (!(error instanceof DomainError) && sqlState(error) === undefined) throw error
    throw new AttestationError(
      'SHARED_STATE_UNAVAILABLE',
      'The database of caps, settled orders and halts cannot be used, so that nothing that lets value out is signed.',
      { cause: error, retryAfterSeconds: 2 },
    )
  }
  return {
    query: (text, values) => database.query<never>(text, values).catch(refuse),
    transaction: (work, options) => database.transaction(work, options).catch(refuse),
  }
}

/**
 * Moves the state of earlier runs from `STATE_DIR` into the database, so that no settled order is forgotten and no hour
 * of a cap begins anew. The files are renamed afterwards. If the process dies before that, the next start counts them
 * again: too much, never too little.
 */
async function moveState(database: SqlDatabase, directory: string, log: WatchLog): Promise<void> {
  // The journals are only read, so no write can fail.
  const onFailed = () => undefined
  const caps = createCapJournal(directory, onFailed).load()
  const orders = createSettledJournal(directory, onFailed).load()
  const haltFiles = createHaltStore(directory)
  const halts = await haltFiles.load()
  if (caps.length + orders.length + halts.size === 0) return
  // No caps are needed: an import judges nothing.
  const sharedCaps = createSharedCaps(database, { table: new Map(), isUnlistedHeld: true })
  await database.transaction(async (tx) => {
    for (const { minute, counted, key, amounts } of caps) {
      // Counts always stand beside their minute.
      if (counted !== undefined && minute !== undefined) await sharedCaps.importCounts(tx, counted, minute)
      if (key !== undefined && amounts !== undefined) await sharedCaps.importKey(tx, { key, amounts })
    }
    for (const order of orders) await importSettledOrder(tx, order)
  })
  const sharedHalts = createSharedHaltStore(database, actor())
  for (const [chain, contradiction] of halts) {
    await sharedHalts.save(chain, contradiction)
    await haltFiles.clear(chain)
  }
  for (const name of ['signing-caps.jsonl', 'settled-orders.jsonl']) {
    const path = join(directory, name)
    await rename(path, `${path}.moved`).catch((error: unknown) => {
      // `sqlState` reads the `code` of any error, that of a missing file too.
      if (sqlState(error) !== 'ENOENT') throw error
    })
  }
  log.warn({ event: 'state_moved', orders: orders.length }, 'what STATE_DIR kept is in the database now')
}
