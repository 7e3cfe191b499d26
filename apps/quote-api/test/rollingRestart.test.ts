// Goal: two replicas are restarted one after the other, under load and over the tables of the next release, and nobody
// notices: no request fails, and jobs go on at the other one within seconds. Method: `main.ts` as processes on one real
// database, clients that send to whichever replica says that it is ready, as a proxy does, and try again only where a
// busy machine has the service say so; the next release is today's migrations and one more of each module, which adds
// columns to the tables that are most in use.
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  createDatabase,
  type Database,
  type EmbeddedPostgres,
  freeLoopbackPort,
  migrate,
  startTestPostgres,
} from '@causeway/database'
import { verifyLedger } from '@causeway/ledger'
import { startTestNetwork, type TestNetwork, waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { schemaModules } from '../src/operate/database.ts'
import { serviceEnvironment } from './fixtures/service.ts'
import { postPatiently, send } from './serviceSupport/callService.ts'
import { localRequest } from './serviceSupport/localRequest.ts'
import { type ServiceProcess, spawnService } from './serviceSupport/serviceProcess.ts'
import { createSponsor, pepperText, type TestSponsor } from './sponsorSupport/sponsors.ts'

const drainMs = 1_000
/** Interval of the proxy's health checks. */
const lookMs = 100
let network: TestNetwork
let directory: string
let server: EmbeddedPostgres
let database: Database
let sponsor: TestSponsor
const replicas: Replica[] = []

beforeAll(async () => {
  const starting = startTestNetwork({ blockTimeSeconds: 1 })
  directory = await mkdtemp(join(tmpdir(), 'causeway-rolling-'))
  server = await startTestPostgres({ dataDirectory: join(directory, 'postgres') })
  network = await starting
  database = createDatabase({ connectionString: server.connectionString, poolSize: 2 })
  await migrate({ connectionString: server.connectionString, directories: schemaModules })
  sponsor = await createSponsor(database, 1_000_000_000n)
  replicas.push(await createReplica('one'), await createReplica('two'))
  await Promise.all(replicas.map((replica) => replica.start()))
})
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()))
  await database?.close()
  await server?.stop()
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})

type Replica = {
  readonly publicUrl: string
  readonly opsUrl: string
  /** Resolves when it is ready. */
  start(): Promise<void>
  /** SIGTERM; resolves with its exit code. */
  stop(): Promise<number | null | undefined>
  output(): string
}

/** One place, whose process is another one after each start. */
async function createReplica(name: string): Promise<Replica> {
  const [http, ops] = [await freeLoopbackPort(), await freeLoopbackPort()]
  const folder = await mkdtemp(join(directory, `${name}-`))
  const environment = await serviceEnvironment(network, folder, {
    DATABASE_URL: server.connectionString,
    API_KEY_PEPPERS: pepperText,
    LOG_LEVEL: 'info',
    HTTP_PORT: String(http),
    OPS_PORT: String(ops),
    DRAIN_MS: String(drainMs),
    RATE_LIMIT_PER_IP: '0',
    RATE_LIMIT_PER_KEY: '0',
  })
  const opsUrl = `http://127.0.0.1:${ops}`
  let process: ServiceProcess | undefined
  const replica: Replica = {
    publicUrl: `http://127.0.0.1:${http}`,
    opsUrl,
    async start() {
      process = spawnService(environment)
      await process.listening()
      await waitUntil('it is ready', async () => (await look(replica)) === 'ready')
    },
    stop: async () => (await process?.stop())?.code,
    output: () => process?.output() ?? '',
  }
  return replica
}

const readiness = z.object({ ready: z.boolean(), draining: z.boolean() })

async function look({ opsUrl }: Replica): Promise<'ready' | 'busy' | 'leaving'> {
  try {
    const { ready, draining } = readiness.parse(JSON.parse((await send(`${opsUrl}/ready`)).text))
    if (ready) return 'ready'
    return draining ? 'leaving' : 'busy'
  } catch {
    return 'leaving'
  }
}

/** As a proxy does: sends to those that were ready at its last look, where there is none to one that is not leaving. */
function startLoad() {
  const seen = new Map<Replica, Awaited<ReturnType<typeof look>>>(replicas.map((one) => [one, 'ready']))
  const answered = new Map<Replica, number>(replicas.map((one) => [one, 0]))
  const failures: string[] = []
  const stopped = new AbortController()
  let turn = 0
  const pick = (): Replica | undefined => {
    const places = ['ready', 'busy'].map((state) => replicas.filter((one) => seen.get(one) === state))
    const open = places.find(({ length }) => length > 0) ?? []
    turn += 1
    return open[turn % open.length]
  }
  let busy = 0
  const ask = async (path: string, init: RequestInit, isSecond = false): Promise<void> => {
    const replica = pick()
    if (replica === undefined) throw new Error('no replica takes requests')
    const { status, text } = await send(`${replica.publicUrl}${path}`, init)
    answered.set(replica, (answered.get(replica) ?? 0) + 1)
    if (status === 200) return
    if (isSecond || status !== 503 || !text.includes('"retryable":true')) throw new Error(`${status} ${text}`)
    busy += 1
    await sleep(1_000)
    await ask(path, init, true)
  }
  const repeat = async (work: () => Promise<unknown>, pauseMs: number) => {
    while (!stopped.signal.aborted) {
      await work()
      await sleep(pauseMs)
    }
  }
  const asking = (path: string, init: RequestInit, pauseMs: number) =>
    repeat(
      () =>
        ask(path, init).catch((error: Error) => {
          failures.push(`${path}: ${error.message} ${String(error.cause ?? '')}`)
        }),
      pauseMs,
    )
  const body = (more: object) => JSON.stringify(localRequest(network, { amount: 1_000_000n, more }))
  const headers = { 'content-type': 'application/json', 'x-api-key': sponsor.apiKey }
  const running = [
    ...replicas.map((one) => repeat(async () => seen.set(one, await look(one)), lookMs)),
    asking('/quote', { method: 'POST', headers, body: body({}) }, 100),
    asking('/quote', { method: 'POST', headers, body: body({ subsidizeFees: true }) }, 100),
    asking('/price', { method: 'POST', headers, body: body({}) }, 50),
    asking('/requests/v3', { headers }, 100),
    asking('/chains', {}, 50),
  ]
  return {
    failures,
    answered,
    /** Refusals of a moment: a connection to the database that took a second, a price that grew old. */
    busy: () => busy,
    async stop() {
      stopped.abort()
      await Promise.all(running)
    },
  }
}

/** Jobs that a replica leads, by its own figures. */
async function jobsOf({ opsUrl }: Replica): Promise<readonly string[]> {
  const { text } = await send(`${opsUrl}/metrics`)
  return [...text.matchAll(/^job_leading\{[^}]*name="([^"]+)"[^}]*\} 1$/gm)]
    .map(([, job]) => job ?? '')
    .sort()
}

async function nextRelease() {
  const copies = await Promise.all(
    schemaModules.map(async (module) => {
      const path = join(directory, 'next', basename(module.path), module.name)
      await cp(module.path, path, { recursive: true })
      return { ...module, path }
    }),
  )
  const [ledger, quotes] = copies
  await writeFile(
    join(ledger?.path ?? '', '9000_next.sql'),
    `alter table hold add column next_note text;
     alter table account add column next_note text;
     create table next_statement (id bigint primary key);`,
  )
  await writeFile(
    join(quotes?.path ?? '', '9000_next.sql'),
    `alter table orders add column next_note text;
     alter table request_sponsorship add column next_note text not null default '';
     create index orders_next on orders (origin_chain_id, created_at);`,
  )
  return copies
}

test('an upgrade and the restart of both replicas fail no request, and jobs move within seconds', async () => {
  const [one, two] = replicas
  if (one === undefined || two === undefined) throw new Error('two replicas expected')
  // The first answers of a process may wait for its market.
  for (const { publicUrl } of replicas)
    expect(
      (await postPatiently(`${publicUrl}/quote`, localRequest(network, { amount: 1_000_000n }))).status,
    ).toBe(200)
  await waitUntil(
    'all jobs are led',
    async () => [...(await jobsOf(one)), ...(await jobsOf(two))].length > 10,
  )
  const jobs = [...(await jobsOf(one)), ...(await jobsOf(two))].sort()

  const load = startLoad()
  try {
    const applied = await migrate({
      connectionString: server.connectionString,
      directories: await nextRelease(),
    })
    expect(applied).toEqual(['ledger/9000_next', 'quote_api/9000_next'])
    for (const [replica, other] of [
      [one, two],
      [two, one],
    ] as const) {
      expect(await replica.stop()).toBe(0)
      const endedAtMs = performance.now()
      await waitUntil('the other leads all jobs', async () => (await jobsOf(other)).join() === jobs.join())
      expect(performance.now() - endedAtMs).toBeLessThan(10_000)
      // Over tables of a later release: as after a rollback.
      await replica.start()
      expect(replica.output()).toContain('A later release ran 9000_next of ledger, and lets this one run.')
      const before = load.answered.get(replica) ?? 0
      await waitUntil('it serves again', () => (load.answered.get(replica) ?? 0) > before + 10)
    }
  } finally {
    await load.stop()
  }
  expect(load.failures).toEqual([])
  const answered = [...load.answered.values()].reduce((sum, count) => sum + count, 0)
  expect(answered).toBeGreaterThan(100)
  expect(load.busy()).toBeLessThan(answered / 50)
  expect(await verifyLedger(database)).toEqual([])
})
