import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import { findPostgresBinaries } from './binaries.ts'
import { freeLoopbackPort } from './freeLoopbackPort.ts'
import { initialiseCluster } from './initialise.ts'
import { findRunningServer, readOwner, removeOwner, writeOwner } from './owner.ts'
import { processIdentity } from './processIdentity.ts'
import { readLogTail, type ServerSpawn, spawnServer, stopServer } from './serverProcess.ts'
import { connectWhenUp, databaseName, embeddedConnectionString } from './superuserConnection.ts'
import { createRunner } from './unprivileged.ts'

export type EmbeddedPostgresOptions = {
  /** Directory for the server alone; created when missing. */
  readonly dataDirectory: string
  /** Loopback port; default: one of `choosePort`. */
  readonly port?: number
  /** Called again when another program took the port meanwhile; default: a free one. */
  readonly choosePort?: () => Promise<number>
  /** False: faster, but data may be lost in a crash; for tests that crash nothing. Default true. */
  readonly durable?: boolean
  /** Gets one sentence for each event that people wait for. */
  readonly log?: (message: string) => void
}

/** A running embedded server. */
export type EmbeddedPostgres = {
  /** Superuser on the database `causeway`, with its password. */
  readonly connectionString: string
  readonly port: number
  readonly pid: number
  readonly logFile: string
  /** True when the server of an owner that died was taken over, and no new one was started. */
  readonly adopted: boolean
  /** Disconnects clients, stops the server, keeps the files. */
  stop(): Promise<void>
}

const startTimeoutMs = 60_000

/**
 * Starts a real PostgreSQL on loopback in its own directory, for development and tests. One process owns a directory at
 * a time. If the owner died and left its server running, that server is adopted if its settings fit, else stopped.
 * @throws ConfigurationError when another live process owns the directory
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { durable = true, log = () => {} } = options
  const dataDirectory = resolve(options.dataDirectory)
  const binaries = await findPostgresBinaries()
  const runner = await createRunner()
  await mkdir(dataDirectory, { recursive: true })
  await runner.giveTo(dataDirectory)
  const previous = await readOwner(dataDirectory)
  if (previous?.isAlive) {
    throw new ConfigurationError(`The database in ${dataDirectory} is in use by process ${previous.pid}.`)
  }
  await writeOwner(dataDirectory, durable)
  const password = await initialiseCluster({ dataDirectory, durable, binaries, runner })
  const logFile = join(dataDirectory, 'postgres.log')
  // A server whose owner died: no live process owns the directory now.
  const orphan = await findRunningServer(dataDirectory)
  const hasPort = options.port === undefined || options.port === orphan?.port
  const hasSettings = previous?.durable === durable && hasPort
  if (orphan !== undefined && hasSettings && (await waitForAnswer({ ...orphan, password, logFile }))) {
    log(`Took over the database that process ${previous?.pid} left running.`)
    return runningServer({ ...orphan, password, logFile, dataDirectory, adopted: true })
  }
  if (orphan !== undefined) {
    log('Stopping a database that was left running with other settings.')
    await stopServer(orphan.pid)
  }
  const spawnOptions = { dataDirectory, durable, logFile, binaries, runner }
  const server = await spawnUntilUp(spawnOptions, { ...options, password })
  return runningServer({ ...server, password, logFile, dataDirectory, adopted: false })
}

type Server = {
  readonly pid: number
  readonly port: number
  readonly password: string
  readonly logFile: string
}

function runningServer(server: Server & { dataDirectory: string; adopted: boolean }): EmbeddedPostgres {
  const { pid, port, password, logFile, dataDirectory, adopted } = server
  return {
    connectionString: embeddedConnectionString({ port, password }),
    port,
    pid,
    logFile,
    adopted,
    async stop() {
      await stopServer(pid)
      await removeOwner(dataDirectory)
    },
  }
}

/** Log of a start that failed because children of a killed server still run: it may succeed a moment later. */
const leftoverPattern = /pre-existing shared memory block|lock file "postmaster.pid" already exists/
const portTakenPattern = /could not bind/
/** Characters at the log's end in which the latest try shows; earlier tries are in the same log. */
const latestTryLength = 600

type StartOptions = Pick<EmbeddedPostgresOptions, 'port' | 'choosePort'> & { readonly password: string }

/** Starts servers until one answers. A failure that may pass is retried, another one is thrown. */
async function spawnUntilUp(
  spawnOptions: Omit<ServerSpawn, 'port'>,
  { port: fixedPort, choosePort = freeLoopbackPort, password }: StartOptions,
): Promise<{ readonly pid: number; readonly port: number }> {
  const { logFile } = spawnOptions
  const retriedPatterns = fixedPort === undefined ? [leftoverPattern, portTakenPattern] : [leftoverPattern]
  const deadline = performance.now() + startTimeoutMs
  for (;;) {
    const port = fixedPort ?? (await choosePort())
    const pid = spawnServer({ ...spawnOptions, port })
    if (await waitForAnswer({ pid, port, password, logFile })) return { pid, port }
    const tail = await readLogTail(logFile)
    const latestTry = tail.slice(-latestTryLength)
    if (!retriedPatterns.some((pattern) => pattern.test(latestTry)) || performance.now() > deadline) {
      throw new Error(`PostgreSQL did not start; the end of its log: ${tail}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/**
 * True once the server answers and has the database `causeway`; false when its process ended before.
 * @throws Error for one that runs and does not answer within a minute, after stopping it
 */
async function waitForAnswer({ pid, port, password, logFile }: Server): Promise<boolean> {
  const deadline = performance.now() + startTimeoutMs
  while (performance.now() < deadline) {
    if ((await processIdentity(pid)) === undefined) return false
    if (await ensureDatabase(embeddedConnectionString({ port, password, database: 'postgres' }))) return true
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await stopServer(pid)
  throw new Error(`PostgreSQL did not answer in time; the end of its log: ${await readLogTail(logFile)}`)
}

/** Creates the database unless it exists. False while the server does not take connections. */
async function ensureDatabase(url: string): Promise<boolean> {
  const client = await connectWhenUp(url)
  if (client === undefined) return false
  try {
    const databases = await client.query('select from pg_database where datname = $1', [databaseName])
    if (databases.rowCount === 0) await client.query(`create database ${databaseName}`)
    return true
  } finally {
    await client.end()
  }
}
