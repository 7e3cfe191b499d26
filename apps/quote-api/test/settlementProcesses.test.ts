// Goal: several processes share the work of settlement and do none of it twice, also when one is killed in the
// middle. Method: two processes of the service over one database, both with jobs; a solver that asks either of
// them; stand-in oracles that sign for real.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, type Database, type EmbeddedPostgres, startTestPostgres } from '@causeway/database'
import { verifyLedger } from '@causeway/ledger'
import { startTestNetwork, type TestNetwork, waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serviceEnvironment } from './fixtures/service.ts'
import type { QuoteAnswer } from './serviceSupport/callService.ts'
import { type ServiceProcess, spawnService } from './serviceSupport/serviceProcess.ts'
import {
  bytesOf,
  createRequestDriver,
  debitOf,
  type RequestDriver,
} from './settlementSupport/requestDriver.ts'
import { createScriptedSolver } from './settlementSupport/scriptedSolver.ts'
import {
  type StandInOracles,
  serviceSettings,
  solverKey,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, moneyOf } from './sponsorSupport/sponsors.ts'

const balance = 1_000_000_000n
const requestsPerHalf = 3
let network: TestNetwork
let directory: string
let server: EmbeddedPostgres
let database: Database
let oracles: StandInOracles
const processes: ServiceProcess[] = []
const drivers: RequestDriver[] = []

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  directory = await mkdtemp(join(tmpdir(), 'causeway-processes-'))
  server = await startTestPostgres({ dataDirectory: join(directory, 'postgres') })
  database = createDatabase({ connectionString: server.connectionString, poolSize: 2 })
  oracles = await startStandInOracles()
  const settings = { ...serviceSettings(server.connectionString, oracles.setting), LOG_LEVEL: 'info' }
  for (const name of ['one', 'two']) {
    const folder = await mkdtemp(join(directory, `${name}-`))
    const process = spawnService(await serviceEnvironment(network, folder, settings))
    processes.push(process)
    const { publicUrl: url } = await process.listening()
    const solver = createScriptedSolver({ network, url, apiKey: solverKey })
    drivers.push(createRequestDriver({ network, database, url, solver }))
  }
}, 240_000)
afterAll(async () => {
  await Promise.all(processes.map((process) => process.stop()))
  await oracles?.stop()
  await database?.close()
  await server?.stop()
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})

/** Fills, holds that were posted and transactions of a request, each as often as there are rows. */
async function countsOf({ requestId }: QuoteAnswer) {
  const [row] = await database.query<{ items: bigint; posts: bigint; fills: bigint }>(
    `select (select count(*) from work_item where request_id = $1) as items,
       (select count(*) from hold where request_id = $1 and state = 'posted') as posts,
       (select count(*) from request_transaction where request_id = $1 and role = 'fill') as fills`,
    [bytesOf(requestId)],
  )
  return row
}

/** Which of the two leads jobs now, by its own log. */
function leads(process: ServiceProcess | undefined): boolean {
  const lines = process?.output().split('\n') ?? []
  const last = lines.findLast((line) => /"job":"fills".*"msg":"job leadership (won|lost)"/.test(line))
  return last?.includes('leadership won') === true
}

test('two processes settle each request once, and the one that is left goes on alone', async () => {
  const sponsor = await createSponsor(database, balance)
  const [one, two] = drivers
  if (one === undefined || two === undefined) throw new Error('two processes expected')
  await waitUntil('one of them leads', async () => processes.some(leads))

  const live = async (driver: RequestDriver, solvedBy: RequestDriver): Promise<QuoteAnswer> => {
    const quote = await driver.quoted(sponsor, { amount: 20_000_000n })
    await driver.execute(quote)
    const { solver } = solvedBy
    await solver.carryOut(await solvedBy.workFor(quote, 'fill'))
    return quote
  }
  const quotes: QuoteAnswer[] = []
  for (let index = 0; index < requestsPerHalf; index += 1) quotes.push(await live(one, two))

  // The other process finishes the work that the leader has begun.
  const leader = processes.findIndex(leads)
  processes[leader]?.signal('SIGKILL')
  await processes[leader]?.ended
  const left = leader === 0 ? two : one
  for (let index = 0; index < requestsPerHalf; index += 1) quotes.push(await live(left, left))
  for (const quote of quotes) {
    await left.reachesStage(quote, 'settled')
    expect((await left.statusOf(quote)).status).toBe('success')
    expect(await countsOf(quote)).toEqual({ items: 1n, posts: 1n, fills: 1n })
  }
  const debited = quotes.reduce((sum, quote) => sum + debitOf(quote), 0n)
  expect(await moneyOf(database, sponsor.wallet)).toEqual({ available: balance - debited, held: 0n })
  expect(await database.transaction((tx) => verifyLedger(tx, { depth: 'all' }))).toEqual([])
}, 600_000)
