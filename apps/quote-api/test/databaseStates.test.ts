// Goal: a database that comes up, recovers, migrates, is a standby or has a full disk stops nothing for good: the service
// says what it waits for, refuses by a typed 503 and goes on by itself; what only an operator can mend is
// refused at start. Method: `main.ts` as a process, real PostgreSQL in each of these states. The disk is a
// small file system where the account of the tests may mount one; everywhere the server itself says 53100.
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  createDatabase,
  type EmbeddedPostgres,
  freeLoopbackPort,
  startEmbeddedPostgres,
  startTestPostgres,
} from '@causeway/database'
import { startTestNetwork, type TestNetwork, waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quoteResponseSchema } from '../src/http/wire/quoteResponse.ts'
import { serviceEnvironment } from './fixtures/service.ts'
import { type Answer, post, quote, readError, readOk, send } from './serviceSupport/callService.ts'
import { localRequest } from './serviceSupport/localRequest.ts'
import { type ServiceProcess, spawnService } from './serviceSupport/serviceProcess.ts'
import { mountSmallDisk, type SmallDisk } from './serviceSupport/smallDisk.ts'

let network: TestNetwork
let directory: string
const disk = await mountSmallDisk(256)
if (disk === undefined) console.log('WARN no file system may be mounted here: the server alone says 53100')

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  directory = await mkdtemp(join(tmpdir(), 'causeway-database-states-'))
})
afterAll(async () => {
  await network?.stop()
  await disk?.remove()
  await rm(directory, { recursive: true, force: true })
})

const bridge = () => localRequest(network, { amount: 60_000_000n })

type Ports = { readonly publicUrl: string; readonly opsUrl: string }

/** On ports that stay the same while the service waits and after. */
async function spawnOn(databaseUrl: string): Promise<Ports & { readonly service: ServiceProcess }> {
  const [http, ops] = [await freeLoopbackPort(), await freeLoopbackPort()]
  const service = spawnService(
    await serviceEnvironment(network, directory, {
      DATABASE_URL: databaseUrl,
      LOG_LEVEL: 'info',
      HTTP_PORT: String(http),
      OPS_PORT: String(ops),
    }),
  )
  return { service, publicUrl: `http://127.0.0.1:${http}`, opsUrl: `http://127.0.0.1:${ops}` }
}

const statusOf = (url: string) =>
  send(url).then(
    ({ status }) => status,
    () => 0,
  )

async function reasonOf(opsUrl: string): Promise<unknown> {
  const { status, text } = await send(`${opsUrl}/ready`)
  const { ready, reasons } = JSON.parse(text)
  return { status, ready, reason: reasons?.database }
}

function expectRefusal(answer: Answer, errorCode: string): void {
  expect(answer.status, answer.text).toBe(503)
  expect(readError(answer)).toMatchObject({ errorCode, retryable: true })
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]/)
}

/** Alive, not ready and saying why; everything else is refused with the same reason. */
async function expectWaiting({ publicUrl, opsUrl }: Ports): Promise<void> {
  await waitUntil('it says that it waits', async () => (await statusOf(`${opsUrl}/ready`)) === 503)
  expect(await reasonOf(opsUrl)).toEqual({ status: 503, ready: false, reason: 'DATABASE_STARTING' })
  expect(await statusOf(`${publicUrl}/lives/v1`)).toBe(200)
  expectRefusal(await post(`${publicUrl}/quote`, bridge()), 'DATABASE_STARTING')
  expectRefusal(await send(`${publicUrl}/requests/v2`), 'DATABASE_STARTING')
}

async function expectServing({ service, publicUrl, opsUrl }: Awaited<ReturnType<typeof spawnOn>>) {
  await service.listening()
  await waitUntil('it is ready', async () => (await statusOf(`${opsUrl}/ready`)) === 200)
  await quote(publicUrl, bridge())
}

function linesOf(service: ServiceProcess, text: string): number {
  return service
    .output()
    .split('\n')
    .filter((line) => line.includes(text)).length
}

describe('a database that is not there yet', () => {
  test('O-156: is waited for, visibly, and used when it comes', async () => {
    const port = await freeLoopbackPort()
    const dataDirectory = join(directory, 'late')
    // Creates the files and the password, so that the address is known before anything listens.
    const before = await startTestPostgres({ dataDirectory, port })
    await before.stop()
    const started = await spawnOn(before.connectionString)
    let server: EmbeddedPostgres | undefined
    try {
      await expectWaiting(started)
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      expect(linesOf(started.service, 'waiting for the database')).toBe(1)
      server = await startTestPostgres({ dataDirectory, port })
      await expectServing(started)
    } finally {
      await started.service.stop()
      await server?.stop()
    }
  })

  test('ends at once when it is told to stop while it waits', async () => {
    const port = await freeLoopbackPort()
    const started = await spawnOn(`postgres://causeway:none@127.0.0.1:${port}/causeway`)
    await expectWaiting(started)
    started.service.signal('SIGTERM')
    expect(await started.service.ended).toEqual({ code: 0, signal: null })
  })
})

test('O-156: a database that gets its tables is waited for visibly: nobody takes the start for dead', async () => {
  const server = await startTestPostgres({ dataDirectory: join(directory, 'migrating') })
  const other = createDatabase({ connectionString: server.connectionString, poolSize: 1 })
  const started = await other.transaction(async (tx) => {
    // As another process that migrates.
    await tx.query('select pg_advisory_xact_lock(7241865325823964)')
    const spawned = await spawnOn(server.connectionString)
    await expectWaiting(spawned)
    // It waits for the database before it waits for the tables.
    await waitUntil(
      'it says so',
      async () => linesOf(spawned.service, 'Another process migrates this database') === 1,
    )
    return spawned
  })
  try {
    await expectServing(started)
    expect(linesOf(started.service, 'Applied the migration ledger/0001_ledger')).toBe(1)
  } finally {
    await started.service.stop()
    await other.close()
    await server.stop()
  }
})

describe('a standby', () => {
  test.each([
    ['that takes reads', 'on'],
    ['that takes no connection, as a server that recovers', 'off'],
  ])('%s is waited for until it is promoted', async (_what, hotStandby) => {
    const port = await freeLoopbackPort()
    const dataDirectory = join(directory, `standby-${hotStandby}`)
    const cluster = join(dataDirectory, 'cluster')
    const primary = await startTestPostgres({ dataDirectory, port })
    await primary.stop()
    await writeFile(join(cluster, 'standby.signal'), '')
    await writeFile(join(cluster, 'postgresql.auto.conf'), `hot_standby = ${hotStandby}\n`)
    // One that takes no connections is not up before its promotion.
    const coming = startTestPostgres({ dataDirectory, port })
    coming.catch(() => {})
    const started = await spawnOn(primary.connectionString)
    try {
      await expectWaiting(started)
      expect(linesOf(started.service, 'quote-api is listening')).toBe(0)
      await promote(cluster)
      await expectServing(started)
    } finally {
      await started.service.stop()
      await (await coming).stop()
    }
  })
})

/** As `pg_ctl promote` does. */
async function promote(cluster: string): Promise<void> {
  const [pid] = (await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n')
  await writeFile(join(cluster, 'promote'), '')
  process.kill(Number(pid), 'SIGUSR1')
}

describe('what waiting cannot mend', () => {
  let server: EmbeddedPostgres
  beforeAll(async () => {
    server = await startTestPostgres({ dataDirectory: join(directory, 'refusing') })
  })
  afterAll(() => server?.stop())

  test.each([
    ['a wrong password', (url: URL) => Object.assign(url, { password: 'wrong-9f2c61' })],
    ['a database that does not exist', (url: URL) => Object.assign(url, { pathname: '/elsewhere' })],
  ])('O-156: %s is refused, naming DATABASE_URL', async (_what, change) => {
    const url = String(change(new URL(server.connectionString)))
    const { service } = await spawnOn(url)
    expect(await service.ended, service.output()).toEqual({ code: 1, signal: null })
    expect(service.output()).toContain('DATABASE_URL')
    expect(service.output()).not.toContain('waiting for the database')
    expect(service.output()).not.toContain('wrong-9f2c61')
  })
})

describe('a full disk', () => {
  type FullDisk = Pick<SmallDisk, 'directory' | 'fill' | 'empty'>
  type Opened = { readonly server: EmbeddedPostgres; readonly disk: FullDisk }
  const places: readonly (readonly [string, () => Promise<Opened>])[] = [
    ['that the server tells of', openTellingServer],
    ...(disk === undefined ? [] : [['of a small file system', () => openSmallDisk(disk)] as const]),
  ]

  test.each(places)('O-157: %s is named, keeps nothing by half and ends by itself', async (_what, open) => {
    const { server, disk } = await open()
    const started = await spawnOn(server.connectionString)
    const { service, publicUrl, opsUrl } = started
    const database = createDatabase({ connectionString: server.connectionString, poolSize: 1 })
    try {
      await expectServing(started)
      await disk.fill()
      const answers: Answer[] = []
      await waitUntil('a quote is refused', async () => {
        // Free space inside existing pages and files is used up first.
        answers.push(
          ...(await Promise.all(Array.from({ length: 8 }, () => post(`${publicUrl}/quote`, bridge())))),
        )
        return answers.some(({ status }) => status !== 200)
      })
      for (const answer of answers.filter(({ status }) => status !== 200))
        expectRefusal(answer, 'DATABASE_DISK_FULL')
      expect(await reasonOf(opsUrl)).toEqual({ status: 503, ready: false, reason: 'DATABASE_DISK_FULL' })
      expect(await statusOf(`${publicUrl}/lives/v1`)).toBe(200)
      expect((await post(`${publicUrl}/price`, bridge())).status).toBe(200)
      expect(linesOf(service, 'the disk of the database is full')).toBe(1)

      await disk.empty()
      await waitUntil('it is ready again', async () => (await statusOf(`${opsUrl}/ready`)) === 200)
      await quote(publicUrl, bridge())
      expect(linesOf(service, 'the disk of the database has space again')).toBe(1)
      const answered = answers.filter(({ status }) => status === 200)
      const ids = answered.map((answer) => readOk(answer, quoteResponseSchema).requestId)
      // Two quotes beside these: before the disk was full and after.
      const rows = await database.query<{ id: string }>(
        `select '0x' || encode(request_id, 'hex') as id from orders`,
      )
      const stored = new Set(rows.map(({ id }) => id))
      expect(ids.filter((id) => !stored.has(id))).toEqual([])
      expect(stored.size).toBe(ids.length + 2)
    } finally {
      await service.stop()
      await database.close()
      await server.stop()
    }
  })

  test.each(disk === undefined ? [] : [64])(
    'of the log alone (%i MB) stops the server, is named, and is survived',
    async (megabytes) => {
      const walDisk = await mountSmallDisk(megabytes)
      if (walDisk === undefined) throw new Error('the first small file system could be mounted')
      const port = await freeLoopbackPort()
      const options = { dataDirectory: join(directory, 'full-log'), port }
      await (await startEmbeddedPostgres(options)).stop()
      const log = join(options.dataDirectory, 'cluster', 'pg_wal')
      await promisify(execFile)('mv', [log, walDisk.directory])
      await symlink(join(walDisk.directory, 'pg_wal'), log)
      // Whoever commits writes the log, and nobody beside: so it is the service whom the server tells why.
      await writeFile(join(options.dataDirectory, 'cluster', 'postgresql.auto.conf'), quietServer)
      let server = await startEmbeddedPostgres(options)
      const started = await spawnOn(server.connectionString)
      const { service, publicUrl, opsUrl } = started
      const answered: string[] = []
      try {
        await expectServing(started)
        await walDisk.fill()
        await fillLog(server.connectionString, log)
        const refusals = new Set<string>()
        await waitUntil('a quote is refused', async () => {
          for (const answer of await Promise.all(
            Array.from({ length: 8 }, () => post(`${publicUrl}/quote`, bridge())),
          )) {
            if (answer.status === 200) answered.push(readOk(answer, quoteResponseSchema).requestId)
            else {
              expect(answer.status, answer.text).toBe(503)
              refusals.add(readError(answer).errorCode)
            }
          }
          return refusals.size > 0
        })
        // The server panicked, and cannot write that it recovered.
        expect([...refusals]).toContain('DATABASE_DISK_FULL')
        expect(await statusOf(`${publicUrl}/lives/v1`)).toBe(200)
        await waitUntil('it is not ready', async () => (await statusOf(`${opsUrl}/ready`)) === 503)
        expectRefusal(await post(`${publicUrl}/quote`, bridge()), 'DATABASE_DISK_FULL')
        expect(linesOf(service, 'the disk of the database is full')).toBe(1)

        await walDisk.empty()
        await server.stop().catch(() => {})
        server = await startEmbeddedPostgres(options)
        await waitUntil('it is ready again', async () => (await statusOf(`${opsUrl}/ready`)) === 200)
        await quote(publicUrl, bridge())
        expect(linesOf(service, 'the disk of the database has space again')).toBe(1)
        const database = createDatabase({ connectionString: server.connectionString, poolSize: 1 })
        const rows = await database.query<{ id: string }>(
          `select '0x' || encode(request_id, 'hex') as id from orders`,
        )
        await database.close()
        const stored = new Set(rows.map(({ id }) => id))
        expect(answered.filter((id) => !stored.has(id))).toEqual([])
      } finally {
        await service.stop()
        await server.stop().catch(() => {})
        await walDisk.remove()
      }
    },
  )

  const quietServer = `autovacuum = off\nwal_writer_delay = 10s\ncheckpoint_timeout = 1h\n`

  /** Writes until less than this is left in the segments of the log that are there already. */
  const leftBytesMax = 300_000

  async function fillLog(connectionString: string, log: string): Promise<void> {
    const database = createDatabase({ connectionString, poolSize: 1 })
    const segmentBytes = 16 * 1024 * 1024
    await database.query('create table filler (text text)')
    for (;;) {
      const segments = (await readdir(log)).filter((name) => /^[0-9A-F]{24}$/.test(name)).sort()
      const last = segments.at(-1) ?? ''
      const end =
        (BigInt(`0x${last.slice(8, 16)}`) * 256n + BigInt(`0x${last.slice(16)}`) + 1n) * BigInt(segmentBytes)
      const [row] = await database.query<{ at: bigint }>(
        `select (pg_current_wal_insert_lsn() - '0/0')::bigint as at`,
      )
      const left = Number(end - (row?.at ?? 0n))
      if (left < leftBytesMax) break
      const rows = Math.ceil(Math.min(left - leftBytesMax / 2, 1_000_000) / 1_000)
      await database.query(`insert into filler select repeat('x', 900) from generate_series(1, $1::int)`, [
        rows,
      ])
    }
    await database.close()
  }

  /** The real server answers as it does for a full disk, to whoever writes a quote or a temporary table. */
  async function openTellingServer(): Promise<Opened> {
    const server = await startTestPostgres({ dataDirectory: join(directory, 'telling') })
    const run = async (...statements: string[]) => {
      const database = createDatabase({ connectionString: server.connectionString, poolSize: 1 })
      for (const statement of statements) await database.query(statement)
      await database.close()
    }
    const raise = `begin raise exception 'could not extend file: No space left on device'
      using errcode = 'disk_full'; end`
    return {
      server,
      disk: {
        directory: '',
        fill: () =>
          run(
            `create function tell_full() returns trigger language plpgsql as $$ ${raise} $$`,
            'create trigger tell_full before insert on orders for each row execute function tell_full()',
            `create function tell_full_ddl() returns event_trigger language plpgsql as $$ ${raise} $$`,
            `create event trigger tell_full_ddl on ddl_command_start when tag in ('CREATE TABLE AS')
               execute function tell_full_ddl()`,
          ),
        empty: () => run('drop event trigger tell_full_ddl', 'drop trigger tell_full on orders'),
      },
    }
  }

  async function openSmallDisk(disk: SmallDisk): Promise<Opened> {
    return { disk, server: await startEmbeddedPostgres({ dataDirectory: disk.directory }) }
  }
})
