// Goal: rows of a request's story are written with every change and stand in nobody's way. Attackers: a report of a
// solver that comes while a job holds the order, a rollback, a request that is deleted.
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOrderStore } from '../src/requests/orders/orderStore.ts'
import { orderMigrations, orderNamed } from './orderSupport/orders.ts'
import { bytesOf } from './settlementSupport/requestDriver.ts'

let server: TestDatabase
beforeAll(async () => {
  server = await startTestDatabase({ directories: [orderMigrations] })
})
afterAll(async () => {
  await server?.stop()
})

async function offered(name: string): Promise<Buffer> {
  const order = orderNamed(name)
  await createOrderStore({ database: server.database }).save(order)
  const id = bytesOf(order.requestId)
  await server.database.query(
    `insert into work_item (kind, request_id, chain_id, payload) values ('fill', $1, 10, '{}')`,
    [id],
  )
  return id
}

async function storyOf(id: Buffer): Promise<readonly string[]> {
  const rows = await server.database.query<{ told: string }>(
    `select part || ' ' || state as told from request_event where request_id = $1 order by id`,
    [id],
  )
  return rows.map(({ told }) => told)
}

const report = (id: Buffer, hash: string) =>
  server.database.query(`update work_item set state = 'reported', tx_hash = $2 where request_id = $1`, [
    id,
    hash,
  ])

test('a report waits for nobody who holds its order, so that two who need both never wait for each other', async () => {
  const id = await offered('held')
  await server.database.transaction(async (tx) => {
    await tx.query('select 1 from orders where request_id = $1 for update', [id])
    await report(id, '0x1')
    await tx.query(`update work_item set state = 'done' where request_id = $1`, [id])
  })
  expect(await storyOf(id)).toEqual(['work open', 'work reported', 'work done'])
})

test('a change that is rolled back is in no story, and a request takes its story along', async () => {
  const id = await offered('undone')
  const undone = server.database.transaction(async (tx) => {
    await tx.query(`update work_item set state = 'failed' where request_id = $1`, [id])
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  expect(await storyOf(id)).toEqual(['work open'])
  await server.database.query('delete from orders where request_id = $1', [id])
  expect(await storyOf(id)).toEqual([])
})
