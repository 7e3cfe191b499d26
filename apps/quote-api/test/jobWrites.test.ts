// Goal: whoever sells knows whether the jobs, which see deposits, still write. Attacks: jobs that nobody runs, a role that is
// read-only for a moment, a row of an earlier start. Method: a real database, the job and the check as they are composed.
import { createDatabase, type Database, startTestDatabase, type TestDatabase } from '@causeway/database'
import { createReadiness } from '@causeway/http'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createJobWrites } from '../src/jobs/jobWrites.ts'
import { schemaModules } from '../src/operate/database.ts'

let server: TestDatabase
let database: Database
let nowMs = 0
beforeAll(async () => {
  server = await startTestDatabase({ directories: schemaModules })
  await server.database.query(`create role service login superuser password 'canary'`)
  const url = Object.assign(new URL(server.connectionString), { username: 'service', password: 'canary' })
  database = createDatabase({ connectionString: url.href, poolSize: 2 })
})
afterAll(async () => {
  await database?.close()
  await server?.stop()
})
beforeEach(async () => {
  await server.database.query('delete from job_write')
})

function start() {
  nowMs = 1_000_000
  const { job, check } = createJobWrites({ database, silentSeconds: 30, now: () => nowMs })
  return {
    write: () => job.run({ fence: async () => undefined, signal: new AbortController().signal }),
    report: () => createReadiness({ checks: [check], timeoutMs: 20_000 }).report(),
  }
}

const ready = (seconds: number) => ({ ready: true, checks: { jobs: 'ok' }, agesSeconds: { jobs: seconds } })
const silent = (seconds: number) => ({
  ready: false,
  checks: { jobs: 'failed' },
  agesSeconds: { jobs: seconds },
  reasons: { jobs: 'JOBS_SILENT' },
})

test('O-59: a process is not ready once the jobs wrote nothing for longer than the limit', async () => {
  const { write, report } = start()
  expect(await report()).toMatchObject(ready(0))
  nowMs += 31_000
  expect(await report()).toMatchObject(silent(31))
  await write()
  expect((await report()).ready).toBe(true)
  await server.database.query(`update job_write set written_at = written_at - interval '40 minutes'`)
  expect((await report()).agesSeconds?.['jobs']).toBeGreaterThanOrEqual(2_400)
  expect((await report()).reasons).toEqual({ jobs: 'JOBS_SILENT' })
  await write()
  expect(await report()).toMatchObject({ ready: true })
})

test('O-59: what an earlier start wrote is shown, and gives a new process its time', async () => {
  await start().write()
  await server.database.query(`update job_write set written_at = written_at - interval '1 day'`)
  const { report } = start()
  expect(await report()).toMatchObject({ ready: true })
  nowMs += 31_000
  expect((await report()).reasons).toEqual({ jobs: 'JOBS_SILENT' })
})

test('O-56: jobs whose role was read-only for a moment write again by themselves', async () => {
  const { write, report } = start()
  await write()
  await server.database.query('alter role service set default_transaction_read_only = on')
  await server.database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'service'`,
  )
  await expect
    .poll(() =>
      write().then(
        () => '',
        (error) => error.code,
      ),
    )
    .toBe('DATABASE_STARTING')
  await server.database.query('alter role service reset default_transaction_read_only')
  await write()
  expect(await report()).toMatchObject({ ready: true })
})
