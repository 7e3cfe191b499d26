// Goal: a key sees how often it was answered, and nothing of anybody else; what callers do costs bounded rows; no
// answer is counted twice. Adversaries: who names another's key, who asks random paths, a database that is gone or
// does not say what it did, a kill in the middle of a write. Method: a real database, two services on it.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type SqlDatabase, type SqlRow, UpstreamUnavailableError } from '@causeway/core'
import { createDatabase, startTestDatabase, type TestDatabase } from '@causeway/database'
import { ledgerMigrations } from '@causeway/ledger'
import { startTestNetwork } from '@causeway/localnet'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createUsageRecorder } from '../src/access/usage/usageRecorder.ts'
import { createUsageRetention } from '../src/compose/usage.ts'
import { type AccessService, pepperText, startAccessService } from './accessSupport/accessService.ts'
import { startTestService } from './fixtures/service.ts'
import { orderMigrations } from './orderSupport/orders.ts'

let testDatabase: TestDatabase
let one: AccessService
let other: AccessService
beforeAll(async () => {
  testDatabase = await startTestDatabase({
    directories: [{ name: 'ledger', path: ledgerMigrations }, orderMigrations],
  })
  const { database } = testDatabase
  one = await startAccessService({ database })
  other = await startAccessService({ database })
})
afterAll(async () => {
  await one?.close()
  await other?.close()
  await testDatabase?.stop()
})

const actor = 'cli:tester'
const newKey = () => one.administration.keys.create({ actor, label: 'shop' })
const flushAll = async () => {
  for (const { usage } of [one, other]) expect(await usage.recorder.flush()).toBe(true)
}

const answerSchema = z.object({
  metrics: z.array(
    z.strictObject({
      apiKey: z.string(),
      timestamp: z.string(),
      endpoint: z.string(),
      statusCode: z.number(),
      errorCode: z.string().optional(),
      count: z.number(),
    }),
  ),
})

async function ask(service: AccessService, apiKey: string, url: string, body?: object) {
  const answer = await service.app.inject({
    url,
    headers: { 'x-api-key': apiKey },
    ...(body !== undefined && { method: 'POST', payload: body }),
  })
  return { status: answer.statusCode, text: answer.body, json: () => answer.json() }
}

/** The figures of a key. Asking is itself counted, so it is left out. */
async function usageOf(apiKey: string, query = '') {
  const answer = await ask(one, apiKey, `/metrics/usage${query}`)
  expect(answer.status).toBe(200)
  const { metrics } = answerSchema.parse(answer.json())
  return metrics.filter(({ endpoint }) => endpoint !== '/metrics/usage')
}

const refusalOf = async (apiKey: string, query: string) => {
  const { status, text, json } = await ask(one, apiKey, `/metrics/usage${query}`)
  return { status, code: json().errorCode, text }
}

/** Rows as they are stored, whose time is the test's to choose. */
async function store(apiKeyId: string, rows: readonly { secondsAgo: number; endpoint?: string }[]) {
  let nowMs = 0
  const recorder = createUsageRecorder({
    database: testDatabase.database,
    writer: randomUUID(),
    now: () => nowMs,
    onFailure: (error) => expect.fail(String(error)),
    onLost: () => expect.fail('nothing may be lost'),
  })
  for (const { secondsAgo, endpoint = '/chains' } of rows) {
    nowMs = Date.now() - secondsAgo * 1_000
    recorder.count({ keyId: apiKeyId, route: endpoint, statusCode: 200, errorCode: undefined })
  }
  await recorder.close()
}

describe('a key', () => {
  test('sees what both services answered it, added up', async () => {
    const { id, apiKey } = await newKey()
    for (const service of [one, other, other])
      expect((await ask(service, apiKey, '/chains')).status).toBe(200)
    const wallet = `0x${'a1'.repeat(20)}`
    await ask(one, apiKey, `/app-fees/${wallet}/balances`)
    expect((await ask(one, apiKey, '/currencies/trending?chainId=1')).status).toBe(400)
    expect((await ask(other, apiKey, `/balance-events/${wallet}`)).status).toBe(403)
    await flushAll()
    for (const [granularity, lengthMs] of [
      ['minutely', 60_000],
      ['hourly', 3_600_000],
      ['daily', 86_400_000],
    ] as const) {
      const metrics = await usageOf(apiKey, `?granularity=${granularity}`)
      for (const { timestamp } of metrics) {
        expect(Date.parse(timestamp) % lengthMs).toBe(0)
        expect(Date.now() - Date.parse(timestamp)).toBeLessThan(lengthMs + 120_000)
      }
      const sums = new Map<string, number>()
      for (const { apiKey: of, endpoint, statusCode, errorCode, count } of metrics) {
        const what = [of, endpoint, statusCode, errorCode].join(' ')
        sums.set(what, (sums.get(what) ?? 0) + count)
      }
      expect(Object.fromEntries(sums)).toEqual({
        [`${id} /chains 200 `]: 3,
        [`${id} /app-fees/{wallet}/balances 200 `]: 1,
        [`${id} /currencies/trending 400 UNSUPPORTED_CHAIN`]: 1,
        [`${id} /balance-events/{wallet} 403 `]: 1,
      })
    }
  })

  test('L-91: that asks 700 random paths has one more row', async () => {
    const { id, apiKey } = await newKey()
    for (let index = 0; index < 700; index += 1) {
      const path = `/${randomUUID()}/${index}`
      expect((await ask(one, apiKey, index % 2 === 0 ? path : `/chains${path}`)).status).toBe(404)
    }
    await flushAll()
    const metrics = await usageOf(apiKey, '?granularity=daily')
    expect(metrics.map(({ endpoint, statusCode }) => [endpoint, statusCode])).toEqual(
      metrics.map(() => ['unknown', 404]),
    )
    expect(metrics.reduce((sum, { count }) => sum + count, 0)).toBe(700)
    const rows = await testDatabase.database.query('select 1 from key_usage where api_key_id = $1', [id])
    // More than three where a minute, an hour or a day ends meanwhile.
    expect(rows.length).toBeLessThan(12)
  })

  test('L-90: is shown no other key, whether it exists or not', async () => {
    const [mine, theirs] = [await newKey(), await newKey()]
    await ask(one, theirs.apiKey, '/chains')
    await flushAll()
    const refusals = await Promise.all(
      [theirs.id, `${mine.id},${theirs.id}`, 'aaaaaaaaaa'].map((ids) =>
        refusalOf(mine.apiKey, `?apiKey=${ids}`),
      ),
    )
    expect(refusals.map(({ status, code }) => [status, code])).toEqual(refusals.map(() => [403, 'FORBIDDEN']))
    expect(new Set(refusals.map(({ text }) => text)).size).toBe(1)
    expect(await usageOf(mine.apiKey)).toEqual([])
    expect(await usageOf(theirs.apiKey, `?apiKey=${theirs.id}`)).toHaveLength(1)
  })

  test('is shown the keys of its wallet, also one that is revoked, while it is linked itself', async () => {
    const [first, second, stranger] = [await newKey(), await newKey(), await newKey()]
    const link = (id: string, wallet: string | null) =>
      testDatabase.database.query(
        `update api_key set wallet = $2, wallet_linked_at = case when $2::text is null then null else clock_timestamp() end
         where id = $1`,
        [id, wallet],
      )
    const wallet = `0x${'b2'.repeat(20)}`
    await link(first.id, wallet)
    await link(second.id, wallet)
    await ask(one, second.apiKey, '/chains')
    await flushAll()
    await one.administration.keys.revoke({ actor, id: second.id })
    const both = `?apiKey=${first.id},${second.id},${second.id}`
    expect((await usageOf(first.apiKey, both)).map(({ apiKey }) => apiKey)).toEqual([second.id])
    expect(await usageOf(first.apiKey)).toEqual([])
    // Two keys without a wallet have none in common.
    expect(await refusalOf(stranger.apiKey, both)).toMatchObject({ status: 403 })
    await link(first.id, null)
    expect(await refusalOf(first.apiKey, both)).toMatchObject({ status: 403 })
  })

  test('that is revoked sees nothing and counts nothing', async () => {
    const { id, apiKey } = await newKey()
    await one.administration.keys.revoke({ actor, id })
    expect(await refusalOf(apiKey, '')).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
    expect((await one.app.inject({ url: '/metrics/usage' })).statusCode).toBe(401)
    await flushAll()
    expect(await testDatabase.database.query('select 1 from key_usage where api_key_id = $1', [id])).toEqual(
      [],
    )
  })

  test('L-90: that sends its secret as a filter is refused, and the secret is not repeated', async () => {
    const { apiKey } = await newKey()
    const { status, code, text } = await refusalOf(apiKey, `?apiKey=${apiKey}`)
    expect([status, code]).toEqual([400, 'INVALID_REQUEST'])
    expect(text).not.toContain(apiKey)
    await flushAll()
    const rows = await testDatabase.database.query<{ text: string }>(
      'select u::text as text from key_usage u',
    )
    expect(rows.filter((row) => row.text.includes(apiKey))).toEqual([])
  })

  test.each([
    'granularity=yearly',
    'granularity=minutely&granularity=daily',
    'startTimestamp=-1',
    'startTimestamp=1e30',
    'startTimestamp=now',
    'endTimestamp=1.5',
    'startTimestamp=2000000000&endTimestamp=1999999999',
    'apiKey=',
    'apiKey=aaaaaaaaaa,',
    'apiKey=aaaaaaaaaa%00',
    "apiKey='%20or%201=1%20--",
    `apiKey=${Array.from({ length: 51 }, () => 'aaaaaaaaaa').join(',')}`,
  ])('is refused a hostile query: %s', async (query) => {
    const { apiKey } = await newKey()
    expect(await refusalOf(apiKey, `?${query}`)).toMatchObject({ status: 400, code: 'INVALID_REQUEST' })
  })
})

describe('a window', () => {
  const day = 86_400

  test('L-93: shows the buckets that it touches, and nothing beyond the reach of its granularity', async () => {
    const { id, apiKey } = await newKey()
    await store(
      id,
      [0, 2 * 3_600, 2 * day, 8 * day, 16 * day].map((secondsAgo) => ({ secondsAgo })),
    )
    const countOf = async (query: string) => (await usageOf(apiKey, query)).length
    expect(await countOf('?granularity=minutely')).toBe(2)
    expect(await countOf('')).toBe(3)
    expect(await countOf('?granularity=daily')).toBeGreaterThanOrEqual(3)
    const now = Math.floor(Date.now() / 1_000)
    expect(await countOf('?granularity=minutely&startTimestamp=0')).toBe(2)
    expect(await countOf(`?granularity=hourly&startTimestamp=${now - 3 * 3_600}`)).toBe(2)
    const end = now - 3_600
    expect(await countOf(`?granularity=minutely&startTimestamp=${now - 3 * 3_600}&endTimestamp=${end}`)).toBe(
      1,
    )
    for (const outside of [
      `startTimestamp=${now - 90 * day}&endTimestamp=${now - 60 * day}`,
      `startTimestamp=${now + day}`,
      `startTimestamp=${now + day}&endTimestamp=${now + 2 * day}`,
    ])
      expect(await countOf(`?granularity=daily&${outside}`)).toBe(0)
  })

  test('L-93: that holds too much is refused, and a coarser one is shown', async () => {
    const { id, apiKey } = await newKey()
    const minutes = Array.from({ length: 1_400 }, (_, minute) => minute * 60)
    for (let part = 0; part < 3; part += 1)
      await store(
        id,
        minutes.flatMap((secondsAgo) =>
          ['/a', '/b', '/c', '/d', '/e'].map((path) => ({ secondsAgo, endpoint: `${path}${part}` })),
        ),
      )
    expect(await refusalOf(apiKey, '?granularity=minutely')).toMatchObject({ status: 400 })
    const hours = await usageOf(apiKey, '?granularity=hourly')
    expect(hours.reduce((sum, { count }) => sum + count, 0)).toBe(21_000)
  })

  test('is kept as long as its granularity reaches, and no longer', async () => {
    const { id } = await newKey()
    await store(
      id,
      [0, day + 120, 7 * day + 7_200, 16 * day].map((secondsAgo) => ({ secondsAgo })),
    )
    const job = createUsageRetention(testDatabase.database)
    await job.run({ fence: async () => {}, signal: new AbortController().signal })
    const kept = await testDatabase.database.query(
      `select granularity, count(*)::int as buckets from key_usage where api_key_id = $1
       group by granularity order by granularity`,
      [id],
    )
    expect(kept).toEqual([
      { granularity: 'daily', buckets: 3 },
      { granularity: 'hourly', buckets: 2 },
      { granularity: 'minutely', buckets: 1 },
    ])
  })
})

test('a service stores what it counted when it stops, beside what another one counted', async () => {
  const network = await startTestNetwork({ blockTimeSeconds: 1 })
  onTestFinished(() => network.stop())
  const { id, apiKey } = await newKey()
  const variables = {
    DATABASE_URL: testDatabase.connectionString,
    API_KEY_PEPPERS: pepperText,
    JOBS: 'off',
  }
  const services = [await startTestService(network, variables), await startTestService(network, variables)]
  for (const { app } of services) {
    for (const url of ['/chains', '/chains', '/nowhere'])
      await app.inject({ url, headers: { 'x-api-key': apiKey } })
  }
  for (const service of services) await service.stop()
  const metrics = await usageOf(apiKey, '?granularity=daily')
  const countOf = (path: string) =>
    metrics.reduce((sum, { endpoint, count }) => (endpoint === path ? sum + count : sum), 0)
  expect([countOf('/chains'), countOf('unknown')]).toEqual([4, 2])
  expect(new Set(metrics.map((row) => row.apiKey))).toEqual(new Set([id]))
})

describe('nothing is counted twice, and requests never notice', () => {
  const answersOf = async (id: string) => {
    const [row] = await testDatabase.database.query<{ sum: bigint }>(
      `select coalesce(sum(answers), 0)::bigint as sum from key_usage
       where api_key_id = $1 and granularity = 'daily'`,
      [id],
    )
    return Number(row?.sum)
  }
  const answer = (keyId: string) => ({ keyId, route: '/chains', statusCode: 200, errorCode: undefined })

  function recorderOver(database: Pick<SqlDatabase, 'query'>) {
    const told: string[] = []
    const recorder = createUsageRecorder({
      database,
      writer: randomUUID(),
      now: () => Date.now(),
      onFailure: () => told.push('failure'),
      onLost: (lost) => told.push(`lost ${lost}`),
    })
    return { recorder, told }
  }

  test('L-92: by a write that was committed and whose answer was lost', async () => {
    const { id } = await newKey()
    const { database } = testDatabase
    let isAnswerLost = true
    const { recorder, told } = recorderOver({
      async query<Row extends SqlRow>(text: string, values?: readonly unknown[]) {
        const rows = await database.query<Row>(text, values)
        if (isAnswerLost) throw new UpstreamUnavailableError('The database did not answer in time.')
        return rows
      },
    })
    recorder.count(answer(id))
    recorder.count(answer(id))
    expect(await recorder.flush()).toBe(false)
    recorder.count(answer(id))
    expect(await recorder.flush()).toBe(false)
    isAnswerLost = false
    await recorder.close()
    expect([await answersOf(id), told]).toEqual([3, ['failure']])
  })

  test('by a database that is away: counts wait within bounds, and what is lost is said', async () => {
    const { id, apiKey } = await newKey()
    const away = createDatabase({ connectionString: 'postgres://127.0.0.1:9/none', acquireTimeoutMs: 200 })
    onTestFinished(() => away.close())
    const { recorder, told } = recorderOver(away)
    recorder.count(answer(id))
    expect(await recorder.flush()).toBe(false)
    for (let route = 0; route < 10_007; route += 1) recorder.count({ ...answer(id), route: `/${route}` })
    expect(await recorder.flush()).toBe(false)
    await recorder.close()
    expect(told).toEqual(['failure', 'lost 7', 'lost 10001'])
    expect((await ask(one, apiKey, '/chains')).status).toBe(200)
  })

  test('by rows that the database refuses: they are given up, and those after them are stored', async () => {
    const { id } = await newKey()
    const { recorder, told } = recorderOver(testDatabase.database)
    recorder.count({ ...answer(id), statusCode: 99_999 })
    expect(await recorder.flush()).toBe(false)
    recorder.count(answer(id))
    await recorder.close()
    expect([await answersOf(id), told]).toEqual([1, ['failure', 'lost 1']])
  })

  test('by two replicas that write the same sums at once', async () => {
    const { id } = await newKey()
    const recorders = Array.from({ length: 6 }, () => recorderOver(testDatabase.database))
    for (let round = 0; round < 10; round += 1) {
      for (const [index, { recorder }] of recorders.entries()) {
        const routes = Array.from({ length: 20 }, (_, route) => `/${route}`)
        for (const route of index % 2 === 0 ? routes : routes.toReversed())
          recorder.count({ ...answer(id), route })
      }
      await Promise.all(recorders.map(({ recorder }) => recorder.flush()))
    }
    await Promise.all(recorders.map(({ recorder }) => recorder.close()))
    expect(recorders.flatMap(({ told }) => told)).toEqual([])
    expect(await answersOf(id)).toBe(6 * 10 * 20)
  })

  test('by a process that is killed while it writes', async () => {
    const { id } = await newKey()
    const run = (answers: number) => {
      const script = join(import.meta.dirname, 'usageSupport/usageProcess.ts')
      const { connectionString } = testDatabase
      const child = spawn(process.execPath, [script, connectionString, id, String(answers)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let output = ''
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString()
      })
      const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
      return { child, ended, output: () => output }
    }
    let killed: ReturnType<typeof run> | undefined
    await testDatabase.database.transaction(async (tx) => {
      await tx.query('lock table key_usage in exclusive mode')
      killed = run(7)
      const isWaiting = async () => {
        const waiting = await tx.query(
          `select 1 from pg_locks where relation = 'key_usage'::regclass and not granted`,
        )
        return waiting.length
      }
      await expect.poll(isWaiting).toBe(1)
      killed.child.kill('SIGKILL')
      await killed.ended
    })
    const next = run(5)
    await next.ended
    expect([killed?.output(), next.output()]).toEqual(['counted\n', 'counted\nstored\n'])
    const writing = async () => {
      const active = await testDatabase.database.query(
        `select 1 from pg_stat_activity where query like '%key_usage_writer%' and state = 'active'
         and pid <> pg_backend_pid()`,
      )
      return active.length
    }
    await expect.poll(writing).toBe(0)
    expect([5, 12]).toContain(await answersOf(id))
  })
})
