// Goal: whatever is killed, no acknowledged hold is lost or doubled, and none that nobody executes
// outlives its expiry by more than the sweeper's period. Method: quotes of several sponsors in flight, which share commits,
// SIGKILL for the service or for PostgreSQL, then the recovered books against what was answered. CAUSEWAY_FAULTS=1 runs
// the long form.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createDatabase,
  type Database,
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '@causeway/database'
import { verifyLedger } from '@causeway/ledger'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { quoteResponseSchema } from '../src/http/wire/quoteResponse.ts'
import { serviceEnvironment } from './fixtures/service.ts'
import { post, postPatiently, type QuoteAnswer, readOk } from './serviceSupport/callService.ts'
import { localRequest } from './serviceSupport/localRequest.ts'
import { spawnService } from './serviceSupport/serviceProcess.ts'
import { createSponsor, moneyOf, pepperText, type TestSponsor } from './sponsorSupport/sponsors.ts'

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const serviceKills = isLongForm ? 100 : 5
const databaseKills = isLongForm ? 20 : 2
const longest = isLongForm ? 3_600_000 : 480_000
const quotesAtOnce = 16
const sponsorCount = 4
const balance = 10n ** 12n

let network: TestNetwork
let directory: string
let server: EmbeddedPostgres
let database: Database

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  directory = await mkdtemp(join(tmpdir(), 'causeway-sponsored-kills-'))
})
afterAll(async () => {
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})

async function startServer(name: string, port?: number): Promise<void> {
  const dataDirectory = join(directory, name)
  server = await startEmbeddedPostgres({ dataDirectory, ...(port !== undefined && { port }) })
  // Patient: a busy machine is no reason to fail.
  const patience = { acquireTimeoutMs: 60_000, statementTimeoutMs: 60_000 }
  database = createDatabase({ connectionString: server.connectionString, poolSize: 2, ...patience })
}

function environment(): Promise<Record<string, string>> {
  return serviceEnvironment(network, directory, {
    LOG_LEVEL: 'info',
    DATABASE_URL: server.connectionString,
    API_KEY_PEPPERS: pepperText,
  })
}

/** Users of their own, and one who quotes again and again: their hold moves while things are killed. */
let users = 0
function bodyOf(index: number): object {
  if (index > 0) users += 1
  const user = `0x${(index === 0 ? 0xfff_ffff : users).toString(16).padStart(40, 'd')}`
  const more = { user, recipient: user, subsidizeFees: true }
  return localRequest(network, { amount: 60_000_000n, more })
}

/** Kills in the moment when the first of many answers is in; the others are answered, refused or cut off. */
async function quoteAndKill(
  url: string,
  sponsors: readonly TestSponsor[],
  kill: () => void,
): Promise<readonly Answered[]> {
  const calls = Array.from({ length: quotesAtOnce }, async (_, index) => {
    const sponsor = sponsors[index % sponsors.length]
    if (sponsor === undefined) throw new Error('there are sponsors')
    return {
      sponsor,
      answer: await postPatiently(`${url}/quote`, bodyOf(index), { 'x-api-key': sponsor.apiKey }),
    }
  })
  const killed = Promise.any(calls).then(kill)
  const settled = await Promise.allSettled(calls)
  await killed
  return settled
    .flatMap((call) => (call.status === 'fulfilled' ? [call.value] : []))
    .filter(({ answer }) => answer.status === 200)
    .map(({ sponsor, answer }) => ({ sponsor, quote: readOk(answer, quoteResponseSchema) }))
}

type Answered = { readonly sponsor: TestSponsor; readonly quote: QuoteAnswer }

async function createSponsors(): Promise<readonly TestSponsor[]> {
  const sponsors: TestSponsor[] = []
  while (sponsors.length < sponsorCount) sponsors.push(await createSponsor(database, balance))
  return sponsors
}

async function expectAllAcknowledged(
  sponsors: readonly TestSponsor[],
  answered: readonly Answered[],
): Promise<void> {
  for (const sponsor of sponsors) {
    const own = answered.filter((one) => one.sponsor === sponsor).map(({ quote }) => quote)
    await expectAcknowledged(sponsor, own)
  }
}

/** Every answer has its one hold of its amount and its order; every hold has its order and is counted once. */
async function expectAcknowledged(sponsor: TestSponsor, answered: readonly QuoteAnswer[]): Promise<void> {
  const holds = await database.query<{ id: string; amount: bigint; state: string; ordered: boolean }>(
    `select '0x' || encode(h.request_id, 'hex') as id, h.amount, h.state,
       exists (select from orders o join request_sponsorship s using (request_id)
         where o.request_id = h.request_id and s.debit_micro_usd = h.amount) as ordered
     from hold h join account a on a.id = h.sponsor where a.owner = $1`,
    [sponsor.wallet],
  )
  const byId = new Map(holds.map((hold) => [hold.id, hold]))
  expect(byId.size).toBe(holds.length)
  expect(holds.filter(({ ordered }) => !ordered)).toEqual([])
  for (const { requestId, fees } of answered) {
    expect(byId.get(requestId)?.amount.toString(), requestId).toBe(fees.subsidized.amount)
  }
  const held = holds.filter(({ state }) => state === 'reserved').reduce((sum, { amount }) => sum + amount, 0n)
  expect(await moneyOf(database, sponsor.wallet)).toEqual({ available: balance - held, held })
}

/** Passes of the sweeper that came to their end in this process; none before it leads the job. */
async function sweeps(opsUrl: string): Promise<number> {
  const metrics = await (await fetch(`${opsUrl}/metrics`)).text()
  const counted = (name: string) => {
    const found = new RegExp(`^${name}\\{[^}]*name="sweeper"[^}]*\\} ([0-9]+)$`, 'm').exec(metrics)
    return Number(found?.[1] ?? 0)
  }
  return counted('job_runs_total') - counted('job_failures_total')
}

/**
 * Ends the lifetime of what is held. The sweeper of a service that knows nothing of it has freed all of it
 * by the end of the first pass that began after: of two more passes, the second did. How long a pass of one
 * second's period takes is up to the machine.
 */
async function expectSwept(sponsors: readonly TestSponsor[], opsUrl: string): Promise<void> {
  await expect.poll(() => sweeps(opsUrl), { timeout: 120_000 }).toBeGreaterThan(0)
  await database.query(`update hold set expires_at = clock_timestamp() where state = 'reserved'`)
  const before = await sweeps(opsUrl)
  await expect.poll(() => sweeps(opsUrl), { timeout: 120_000 }).toBeGreaterThanOrEqual(before + 2)
  for (const { wallet } of sponsors) {
    expect(await moneyOf(database, wallet)).toEqual({ available: balance, held: 0n })
  }
}

async function expectBooksInOrder(): Promise<void> {
  expect(await verifyLedger(database)).toEqual([])
}

test(
  'kill -9 of the service under sponsored load: no acknowledged hold is lost, doubled or stranded',
  async () => {
    await startServer('killed-service')
    try {
      const variables = await environment()
      let sponsors: readonly TestSponsor[] = []
      const answered: Answered[] = []
      for (let kill = 1; kill <= serviceKills; kill += 1) {
        const service = spawnService(variables)
        try {
          const { publicUrl } = await service.listening()
          if (sponsors.length === 0) sponsors = await createSponsors()
          answered.push(...(await quoteAndKill(publicUrl, sponsors, () => service.signal('SIGKILL'))))
        } finally {
          service.signal('SIGKILL')
        }
        expect(await service.ended).toEqual({ code: null, signal: 'SIGKILL' })
        await expectAllAcknowledged(sponsors, answered)
      }
      expect(answered.length).toBeGreaterThanOrEqual(serviceKills)
      expect(answered.every(({ quote }) => quote.feeSponsorship?.status === 'full')).toBe(true)

      const service = spawnService(variables)
      try {
        const { opsUrl } = await service.listening()
        await expectSwept(sponsors, opsUrl)
      } finally {
        await service.stop()
      }
      await expectBooksInOrder()
    } finally {
      await database.close()
      await server.stop()
    }
  },
  longest,
)

test(
  'kill -9 of PostgreSQL under sponsored load: what was acknowledged is there when it is back',
  async () => {
    await startServer('killed-server')
    const { port } = server
    const service = spawnService(await environment())
    try {
      const { publicUrl, opsUrl } = await service.listening()
      const sponsors = await createSponsors()
      const answered: Answered[] = []
      for (let kill = 1; kill <= databaseKills; kill += 1) {
        answered.push(...(await quoteAndKill(publicUrl, sponsors, () => process.kill(server.pid, 'SIGKILL'))))
        await database.close()
        // Takes note that the server is gone, so that its directory may be used again.
        await server.stop()
        await startServer('killed-server', port)
        await expectAllAcknowledged(sponsors, answered)
        const headers = { 'x-api-key': sponsors[0]?.apiKey ?? '' }
        await expect
          .poll(async () => (await post(`${publicUrl}/quote`, bodyOf(1), headers)).status, {
            timeout: 60_000,
          })
          .toBe(200)
      }
      expect(answered.length).toBeGreaterThanOrEqual(databaseKills)
      await expectSwept(sponsors, opsUrl)
      await expectBooksInOrder()
    } finally {
      await service.stop()
      await database.close()
      await server.stop()
    }
  },
  longest,
)
