// Databases of solver processes in tests, and the connections and leases of one process.
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import {
  createDatabase,
  type Database,
  migrate,
  startElections,
  startTestDatabase,
  type TestDatabase,
} from '@causeway/database'
import { onTestFinished } from 'vitest'

const migrations = fileURLToPath(new URL('../../migrations', import.meta.url))

export type SolverDatabases = {
  /** @returns connection string of an empty, migrated database */
  database(): Promise<string>
  stop(): Promise<void>
}

/** The server starts with the first of them. */
export function openSolverDatabases(): SolverDatabases {
  let started: Promise<TestDatabase> | undefined
  return {
    async database() {
      started ??= startTestDatabase()
      const server = await started
      const name = `solver_${randomBytes(6).toString('hex')}`
      await server.database.query(`create database ${name}`)
      const url = new URL(server.connectionString)
      url.pathname = `/${name}`
      await migrate({ connectionString: url.toString(), directories: [{ name: 'solver', path: migrations }] })
      return url.toString()
    },
    async stop() {
      const stopped = started
      started = undefined
      await (await stopped)?.stop()
    },
  }
}

/** @param closeRest what ends with the process @returns what a process that is killed loses */
export function connectProcess(
  connectionString: string,
  job: string,
  closeRest: () => Promise<unknown> = async () => undefined,
) {
  const database: Database = createDatabase({ connectionString })
  const lockDatabase = createDatabase({ connectionString, poolSize: 1 })
  const elections = startElections({
    jobs: [job],
    database,
    lockDatabase,
    holder: 'test',
    leaseMs: 2_000,
    onChange: () => undefined,
    onFailure: () => undefined,
  })
  let isKilled = false
  const kill = async () => {
    if (isKilled) return
    isKilled = true
    await elections.close()
    await Promise.all([database.close(), lockDatabase.close(), closeRest()])
  }
  onTestFinished(kill)
  return { database, leadership: () => elections.leadershipOf(job), kill }
}
