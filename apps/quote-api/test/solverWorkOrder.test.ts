// Goal: permits, which cost their signers nothing, keep no fill from the solver, nor fills a permit. Method: the
// list that a solver reads, over a real database.
import { fileURLToPath } from 'node:url'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { ledgerMigrations } from '@causeway/ledger'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { addWork, listOpenWork } from '../src/requests/work/workStore.ts'

let server: TestDatabase

beforeAll(async () => {
  const path = fileURLToPath(new URL('../migrations', import.meta.url))
  const directories = [
    { name: 'ledger', path: ledgerMigrations },
    { name: 'quote_api', path },
  ]
  server = await startTestDatabase({ directories })
})
afterAll(() => server?.stop())
beforeEach(async () => void (await server.database.query('delete from work_item')))

async function ask(kind: 'fill' | 'permit' | 'refund', count: number): Promise<void> {
  const deadline = Math.floor(Date.now() / 1_000) + 3_600
  // CAST: the list looks at the deadline alone.
  const payload = { deadline } as Parameters<typeof addWork>[1]['payload']
  await server.database.transaction(async (tx) => {
    for (let index = 0; index < count; index += 1)
      await addWork(tx, { kind, requestId: undefined, subject: String(index), chainId: 1, payload })
  })
}

const kinds = async (limit: number) => (await listOpenWork(server.database, limit)).map(({ kind }) => kind)
const countOf = (list: readonly string[], kind: string) => list.filter((one) => one === kind).length

test('a fill is offered at once behind a thousand older permits', async () => {
  await ask('permit', 1_000)
  await ask('fill', 1)
  await ask('refund', 1)
  const list = await kinds(50)
  expect(list.slice(0, 2)).toEqual(['fill', 'refund'])
  expect(list).toHaveLength(50)
})

test('a fifth of a page is for permits behind a thousand fills', async () => {
  await ask('fill', 1_000)
  await ask('permit', 20)
  const list = await kinds(50)
  expect([countOf(list, 'fill'), countOf(list, 'permit')]).toEqual([40, 10])
  expect(await kinds(1)).toEqual(['fill'])
})

test('either alone has the whole page', async () => {
  await ask('permit', 60)
  expect(countOf(await kinds(50), 'permit')).toBe(50)
})
