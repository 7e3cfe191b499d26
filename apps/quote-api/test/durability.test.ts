// Goal: a quote that was answered is never forgotten, whatever is killed the moment after. Method: the
// service as a process, and PostgreSQL as a process, killed with SIGKILL while quotes are being answered;
// afterwards every answered request id is looked up in the recovered database. CAUSEWAY_FAULTS=1 runs
// the long form.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, type EmbeddedPostgres, startEmbeddedPostgres } from '@causeway/database'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quoteResponseSchema } from '../src/http/wire/quoteResponse.ts'
import { serviceEnvironment, startTestService } from './fixtures/service.ts'
import { type Answer, post, quote, readError, readOk, send } from './serviceSupport/callService.ts'
import { localRequest } from './serviceSupport/localRequest.ts'
import { spawnService } from './serviceSupport/serviceProcess.ts'

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const serviceKills = isLongForm ? 100 : 5
const databaseKills = isLongForm ? 20 : 2
const longest = isLongForm ? 1_800_000 : 120_000
const quotesAtOnce = 12
/** Within this every answer comes, whatever is down; the slowest statement alone may take five seconds. */
const answerBudgetMs = 20_000

let network: TestNetwork
let directory: string

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  directory = await mkdtemp(join(tmpdir(), 'causeway-durability-'))
})
afterAll(async () => {
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})

const bridge = () => localRequest(network, { amount: 60_000_000n })

/**
 * Sends quotes at once and kills in the moment when the first answer is in; the others are answered,
 * refused or cut off.
 */
async function quoteAndKill(url: string, kill: () => void): Promise<readonly Answer[]> {
  const calls = Array.from({ length: quotesAtOnce }, () => post(`${url}/quote`, bridge()))
  const killed = Promise.any(calls).then(kill)
  const settled = await Promise.allSettled(calls)
  await killed
  return settled.flatMap((call) => (call.status === 'fulfilled' ? [call.value] : []))
}

function answeredIds(answers: readonly Answer[]): readonly string[] {
  return answers
    .filter(({ status }) => status === 200)
    .map((answer) => readOk(answer, quoteResponseSchema).requestId)
}

/** The given request ids that the database does not have. */
async function missingIn(server: EmbeddedPostgres, ids: readonly string[]): Promise<readonly string[]> {
  const database = createDatabase({ connectionString: server.connectionString })
  try {
    const rows = await database.query<{ id: string }>(
      `select '0x' || encode(request_id, 'hex') as id from orders`,
    )
    const stored = new Set(rows.map(({ id }) => id))
    return ids.filter((id) => !stored.has(id))
  } finally {
    await database.close()
  }
}

describe('kill -9 of the service right after an answer', () => {
  test(
    'loses no answered quote, and the next start takes its database over',
    async () => {
      const environment = await serviceEnvironment(network, directory, { LOG_LEVEL: 'info' })
      const answered: string[] = []
      for (let kill = 1; kill <= serviceKills; kill += 1) {
        const service = spawnService(environment)
        try {
          const { publicUrl } = await service.listening()
          // Deposits were not read while nothing ran: nothing is sold until they are.
          answered.push((await quote(publicUrl, bridge())).requestId)
          const answers = await quoteAndKill(publicUrl, () => service.signal('SIGKILL'))
          answered.push(...answeredIds(answers))
        } finally {
          service.signal('SIGKILL')
        }
        expect(await service.ended).toEqual({ code: null, signal: 'SIGKILL' })
        expect(service.output().includes('Took over the database')).toBe(kill > 1)
      }
      expect(answered.length).toBeGreaterThanOrEqual(2 * serviceKills)
      const server = await startEmbeddedPostgres({ dataDirectory: join(directory, 'postgres') })
      try {
        expect(server.adopted).toBe(true)
        expect(await missingIn(server, answered)).toEqual([])
      } finally {
        await server.stop()
      }
    },
    longest,
  )
})

describe('kill -9 of PostgreSQL right after an answer', () => {
  test(
    'loses no answered quote; the service refuses meanwhile and recovers by itself',
    async () => {
      const dataDirectory = join(directory, 'killed-postgres')
      let server = await startEmbeddedPostgres({ dataDirectory })
      const { port } = server
      const service = await startTestService(network, { DATABASE_URL: server.connectionString })
      try {
        const { publicUrl, opsUrl } = await service.listen()
        const answered: string[] = []
        for (let kill = 1; kill <= databaseKills; kill += 1) {
          const answers = await quoteAndKill(publicUrl, () => process.kill(server.pid, 'SIGKILL'))
          expect(answers).toHaveLength(quotesAtOnce)
          for (const answer of answers.filter(({ status }) => status !== 200)) expectRefused(answer)
          answered.push(...answeredIds(answers))

          await expectServesWithoutDatabase(publicUrl, opsUrl)
          // Takes note that the server is gone, so that its directory may be used again.
          await server.stop()
          server = await startEmbeddedPostgres({ dataDirectory, port })
          expect(await missingIn(server, answered)).toEqual([])
          await expect
            .poll(async () => (await post(`${publicUrl}/quote`, bridge())).status, { timeout: 30_000 })
            .toBe(200)
          await expect.poll(async () => (await send(`${opsUrl}/ready`)).status, { timeout: 30_000 }).toBe(200)
          answered.push((await quote(publicUrl, bridge())).requestId)
        }
        expect(answered.length).toBeGreaterThanOrEqual(2 * databaseKills)
        expect(await missingIn(server, answered)).toEqual([])
      } finally {
        await service.stop()
        await server.stop()
      }
    },
    longest,
  )
})

/** Nothing is answered that is not stored: a refusal, typed and retryable, and soon. */
function expectRefused(answer: Answer): void {
  expect(answer.status).toBe(503)
  expect(readError(answer)).toMatchObject({ retryable: true })
  expect(['SERVICE_UNAVAILABLE', 'DATABASE_STARTING']).toContain(readError(answer).errorCode)
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]/)
  expect(answer.elapsedMs).toBeLessThan(answerBudgetMs)
}

async function expectServesWithoutDatabase(publicUrl: string, opsUrl: string): Promise<void> {
  const refused = await Promise.all(Array.from({ length: 5 }, () => post(`${publicUrl}/quote`, bridge())))
  for (const answer of refused) expectRefused(answer)
  // A price is stored nowhere, and a process without a database is still alive.
  expect((await post(`${publicUrl}/price`, bridge())).status).toBe(200)
  expect((await send(`${publicUrl}/lives/v1`)).status).toBe(200)
  const ready = await send(`${opsUrl}/ready`)
  expect([ready.status, JSON.parse(ready.text)]).toMatchObject([
    503,
    {
      ready: false,
      draining: false,
      checks: {
        clock: 'ok',
        database: 'failed',
        jobs: 'failed',
        'fill wallet': 'ok',
        market: 'ok',
        'order signer': 'ok',
        requests: 'ok',
        solver: 'ok',
        stops: 'ok',
      },
      reasons: { database: 'SERVICE_UNAVAILABLE' },
    },
  ])
}
