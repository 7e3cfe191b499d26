// Goal: behind PgBouncer everything works that works without it, or the cause is named. Attacks: limits that are dropped
// unseen or leak to others, plans of another connection, notifications that never come, two leaders, a full list of clients.
// Method: PgBouncer itself in both of its modes, a real server, quote-api whole.
import {
  createDatabase,
  openMigrated,
  startElections,
  startListening,
  startTestDatabase,
  type TestDatabase,
} from '@causeway/database'
import { startTestNetwork, type TestNetwork, waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService } from '../../apps/quote-api/test/fixtures/service.ts'
import { quote, send } from '../../apps/quote-api/test/serviceSupport/callService.ts'
import { localRequest } from '../../apps/quote-api/test/serviceSupport/localRequest.ts'
import { fillItem, paidOrder } from '../../apps/solver/test/support/paidOrders.ts'
import { startSolverBed } from '../../apps/solver/test/support/solverBed.ts'
import { type PgBouncer, startPgBouncer } from './pgBouncer.ts'

let server: TestDatabase
beforeAll(async () => {
  server = await startTestDatabase()
  await server.database.query(
    `create table job_epoch (job text primary key, epoch bigint, holder text, since timestamptz default now())`,
  )
})
afterAll(() => server?.stop())

describe.each(['session', 'transaction'])('PgBouncer in %s mode', (mode) => {
  let pooler: PgBouncer
  beforeAll(async () => {
    pooler = await startPgBouncer(server.connectionString, { mode })
  })
  afterAll(() => pooler?.stop())

  test('O-57: each pool keeps its own time limits, and none is left to others', async () => {
    const { connectionString } = pooler
    const quick = createDatabase({ connectionString, statementTimeoutMs: 300 })
    const patient = createDatabase({ connectionString, statementTimeoutMs: 60_000 })
    const limit = "select current_setting('statement_timeout') as value"
    const read = (pool: typeof quick) =>
      Promise.all(
        Array.from({ length: 12 }, () =>
          Promise.all([pool.query(limit), pool.transaction((tx) => tx.query(limit))]),
        ),
      )
    const [short, long] = await Promise.all([read(quick), read(patient)])
    expect(new Set(short.flat(2).map(({ value }) => value))).toEqual(new Set(['300ms']))
    expect(new Set(long.flat(2).map(({ value }) => value))).toEqual(new Set(['1min']))
    await expect(quick.query('select pg_sleep(30)')).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      cause: { code: '57014' },
    })
    await Promise.all([quick.close(), patient.close()])
  })

  test('O-57: statements with parameters find their plan on every connection', async () => {
    const database = createDatabase({ connectionString: pooler.connectionString })
    const sums = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        database.transaction(
          async (tx) => (await tx.query('select $1::int + 1 as sum', [index]))[0]?.['sum'],
        ),
      ),
    )
    expect(sums).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
    await database.close()
  })

  test('O-57: changes are heard, or looked for every second where they cannot be', async () => {
    let looks = 0
    const heard: string[] = []
    const lost: string[] = []
    const listening = startListening({
      connectionString: pooler.connectionString,
      channel: 'changes',
      applicationName: 'listener',
      onNotification: (payload) => heard.push(payload),
      onConnected: () => {
        looks += 1
      },
      onLost: ({ message }) => lost.push(message),
    })
    await expect.poll(() => looks).toBeGreaterThan(0)
    await server.database.query(`select pg_notify('changes', 'one')`)
    if (mode === 'session') {
      await expect.poll(() => heard).toEqual(['one'])
      expect(lost).toEqual([])
    } else {
      await expect.poll(() => looks).toBeGreaterThan(2)
      expect(lost).toEqual([
        'a pooler that pools transactions keeps notifications away: changes are looked for every second',
      ])
    }
    await listening.close()
  })

  test('O-57: one of several leads a job', async () => {
    const database = createDatabase({ connectionString: pooler.connectionString })
    const locks = [1, 2].map(() => createDatabase({ connectionString: pooler.connectionString, poolSize: 1 }))
    const leaders = new Set<number>()
    const elections = locks.map((lockDatabase, index) =>
      startElections({
        jobs: [`job-${mode}`],
        lockDatabase,
        database,
        holder: String(index),
        leaseMs: 2_000,
        onChange: (_job, epoch) => (epoch === undefined ? leaders.delete(index) : leaders.add(index)),
        onFailure: () => undefined,
      }),
    )
    await expect.poll(() => leaders.size).toBe(1)
    const [first = 0] = leaders
    await elections[first]?.close()
    await expect.poll(() => [...leaders]).toEqual([1 - first])
    await elections[1 - first]?.close()
    await Promise.all([database, ...locks].map((one) => one.close()))
  })
})

test('O-58: a full list of clients is told in the words of the pooler', async () => {
  const pooler = await startPgBouncer(server.connectionString, { mode: 'session', clientsMax: 1 })
  const { connectionString } = pooler
  const first = createDatabase({ connectionString, poolSize: 1 })
  // The look whether it listens may still be counted.
  await expect.poll(() => first.ping().then(() => 'up', String)).toBe('up')
  await expect(openMigrated({ connectionString, setting: 'SOME_URL', directories: [] })).rejects.toThrow(
    'The database of SOME_URL cannot be used (08P01): no more connections allowed (max_client_conn).',
  )
  await first.close()
  await pooler.stop()
})

describe('quote-api', () => {
  let network: TestNetwork
  let own: TestDatabase
  beforeAll(async () => {
    network = await startTestNetwork({ blockTimeSeconds: 1 })
    own = await startTestDatabase()
  })
  afterAll(() => Promise.all([network?.stop(), own?.stop()]))

  test.each(['session', 'transaction'])(
    'O-57: starts and sells behind PgBouncer in %s mode',
    async (mode) => {
      const pooler = await startPgBouncer(own.connectionString, { mode })
      const service = await startTestService(network, { DATABASE_URL: pooler.connectionString })
      const { publicUrl, opsUrl } = await service.listen()
      await expect.poll(async () => (await send(`${opsUrl}/ready`)).status).toBe(200)
      const { requestId } = await quote(publicUrl, localRequest(network, { amount: 60_000_000n }))
      const [row] = await own.database.query('select count(*) as count from orders where request_id = $1', [
        Buffer.from(requestId.slice(2), 'hex'),
      ])
      expect(row).toEqual({ count: 1n })
      await service.stop()
      await pooler.stop()
    },
  )
})

test.each(['session', 'transaction'])('O-57: a solver fills behind PgBouncer in %s mode', async (mode) => {
  const [bed, own] = await Promise.all([startSolverBed(), startTestDatabase()])
  const pooler = await startPgBouncer(own.connectionString, { mode })
  try {
    const { work } = await bed.start({ DATABASE_URL: pooler.connectionString })
    const fill = fillItem(bed.network, await paidOrder(bed.network))
    work.add(fill)
    await waitUntil('it is filled', () => work.reports.has(fill.id))
    const [row] = await own.database.query('select count(*) as count from signed_record')
    expect(row).toEqual({ count: 1n })
  } finally {
    await bed.stop()
    await pooler.stop()
    await own.stop()
  }
})
