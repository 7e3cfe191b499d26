// Goal: work of one kind keeps none of another from the solver, however much of it waits. Adversary: who signs
// permits, which cost nothing; who deposits dust, whose refunds wait for the solver's budget. Method: the list that a
// solver reads, over a real database.
import { fileURLToPath } from 'node:url'
import { createDatabase, type Database, startTestDatabase, type TestDatabase } from '@causeway/database'
import { ledgerMigrations } from '@causeway/ledger'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { pageOf, readOpenLanes } from '../src/requests/work/openWork.ts'
import { addWork, listPendingPermitWork } from '../src/requests/work/workStore.ts'
import { listDue } from '../src/webhooks/deliveryStore.ts'
import { rowsRead } from './serviceSupport/unpaidQuotes.ts'
import { createSponsor } from './sponsorSupport/sponsors.ts'

let server: TestDatabase
/** One connection, so that what it read is told at once. */
let counted: Database

beforeAll(async () => {
  const path = fileURLToPath(new URL('../migrations', import.meta.url))
  const directories = [
    { name: 'ledger', path: ledgerMigrations },
    { name: 'quote_api', path },
  ]
  server = await startTestDatabase({ directories })
  counted = createDatabase({ connectionString: server.connectionString, poolSize: 1 })
})
afterAll(async () => {
  await counted?.close()
  await server?.stop()
})
beforeEach(async () => void (await server.database.query('delete from work_item')))

const page = () => ({ limit: 500, endedBefore: Math.floor(Date.now() / 1_000) })

/** Rows and index entries that the one connection has read so far. */
async function rowsOf(): Promise<number> {
  await counted.query('select pg_stat_force_next_flush()')
  return rowsRead(counted)
}

type Asked = 'fill' | 'permit' | 'refund' | 'dust'

async function ask(asked: Asked, count: number, first = 0): Promise<void> {
  const [kind, isUnderpaid] = asked === 'dust' ? (['refund', true] as const) : ([asked, false] as const)
  const deadline = Math.floor(Date.now() / 1_000) + 3_600
  // CAST: the list looks at the deadline alone.
  const payload = { deadline } as Parameters<typeof addWork>[1]['payload']
  await server.database.transaction(async (tx) => {
    for (let index = first; index < first + count; index += 1) {
      const subject = `${asked} ${index}`
      await addWork(tx, { kind, requestId: undefined, subject, chainId: 1, payload, isUnderpaid })
    }
  })
}

const pageFor = async (limit: number) => pageOf(await readOpenLanes(server.database, limit), limit)
const kinds = async (limit: number) => (await pageFor(limit)).map(({ kind }) => kind)
const countOf = (list: readonly string[], kind: string) => list.filter((one) => one === kind).length

test('Q-196: a fill is offered at once behind a thousand older permits', async () => {
  await ask('permit', 1_000)
  await ask('fill', 1)
  await ask('refund', 1)
  const list = await kinds(50)
  expect(list.slice(0, 2)).toEqual(['fill', 'refund'])
  expect(list).toHaveLength(50)
})

test('Q-196: a fifth of a page is for permits behind a thousand fills', async () => {
  await ask('fill', 1_000)
  await ask('permit', 20)
  const list = await kinds(50)
  expect([countOf(list, 'fill'), countOf(list, 'permit')]).toEqual([40, 10])
  expect(await kinds(1)).toEqual(['fill'])
})

test('L-76: a fill and a refund that pays for itself are offered at once behind a thousand refunds of dust', async () => {
  await ask('dust', 1_000)
  await ask('refund', 1)
  await ask('fill', 1)
  const list = await pageFor(50)
  expect(list.slice(0, 3).map(({ subject }) => subject)).toEqual(['fill 0', 'refund 0', 'dust 0'])
  expect(list).toHaveLength(50)
})

test('L-76: refunds of dust have a tenth of a page behind a thousand fills', async () => {
  await ask('fill', 1_000)
  await ask('dust', 1_000)
  await ask('permit', 1_000)
  const list = await kinds(50)
  expect(['fill', 'refund', 'permit'].map((kind) => countOf(list, kind))).toEqual([35, 5, 10])
})

test('O-170: open permits cost the pass that follows them nothing, however many there are', async () => {
  const cost = async () => {
    const before = await rowsOf()
    expect(await listPendingPermitWork(counted, page())).toEqual([])
    return (await rowsOf()) - before
  }
  await ask('permit', 100)
  await server.database.query('analyze work_item')
  const few = await cost()
  await ask('permit', 8_000, 100)
  await server.database.query('analyze work_item')
  const many = await cost()
  console.log(JSON.stringify({ few, many }))
  expect(many).toBeLessThan(few * 2 + 50)
})

test('O-170: messages that wait for an endpoint that is dead cost a pass nothing more, however many there are', async () => {
  const { keyId } = await createSponsor(server.database, 0n)
  await server.database.query(
    `insert into webhook_endpoint (api_key_id, url, sealed, pepper_id) values ($1, 'https://example.org', '', 'v1')`,
    [keyId],
  )
  const wait = async (count: number) => {
    await server.database.query(
      `insert into webhook_delivery (event_id, api_key_id, request_id, body)
       select gen_random_uuid(), $1, sha256(convert_to(gen_random_uuid()::text, 'UTF8')), '{}' from generate_series(1, $2::int)`,
      [keyId, count],
    )
    await server.database.query('analyze webhook_delivery')
    const before = await rowsOf()
    const due = await listDue(counted, { perEndpoint: 4, limit: 32, underway: [] })
    expect(due).toHaveLength(4)
    return (await rowsOf()) - before
  }
  const [few, many] = [await wait(100), await wait(8_000)]
  console.log(JSON.stringify({ few, many }))
  expect(many).toBeLessThan(few * 2 + 50)
})

test('of open permits those are followed whose signature ended, and those that the solver reported', async () => {
  await ask('permit', 10)
  await server.database.query(
    `update work_item set payload = '{"deadline": 1}'::json where subject = 'permit 3'`,
  )
  await server.database.query(
    `update work_item set state = 'failed' where subject in ('permit 4', 'permit 5')`,
  )
  const pending = await listPendingPermitWork(server.database, page())
  expect(pending.map(({ subject }) => subject).toSorted()).toEqual(['permit 3', 'permit 4', 'permit 5'])
})

test('either alone has the whole page', async () => {
  await ask('permit', 60)
  expect(countOf(await kinds(50), 'permit')).toBe(50)
})
