// Goal: an acknowledged order is there, whatever is killed. Method: a real server that syncs to disk,
// a writer in a process of its own, SIGKILL for either.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { UpstreamUnavailableError } from '@causeway/core'
import {
  createDatabase,
  startEmbeddedPostgres,
  startTestDatabase,
  type TestDatabase,
} from '@causeway/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOrderStore, DuplicateOrderError } from '../src/requests/orders/orderStore.ts'
import { hexOf, orderMigrations, orderNamed } from './orderSupport/orders.ts'

let testDatabase: TestDatabase
beforeAll(async () => {
  testDatabase = await startTestDatabase({ durable: true, directories: [orderMigrations] })
})
afterAll(async () => {
  await testDatabase.stop()
})

const createStore = () => createOrderStore({ database: testDatabase.database })

test('an order is found by both ids, text for text', async () => {
  const store = createStore()
  const order = orderNamed('found', {
    orderData: '{"b":1, "a":"\\u2028 \\"quoted\\" \\\\ \u00fc \u{1f600}"}',
  })
  await store.save(order)
  expect(await store.findByRequestId(order.requestId)).toEqual(order)
  expect(await store.findByOrderId(order.orderId ?? '0x')).toEqual(order)
  expect(await store.findByRequestId(hexOf('unknown'))).toBeUndefined()
  expect(await store.findByOrderId(hexOf('unknown'))).toBeUndefined()
})

test('a quote without solver has no order, and many of those can be kept', async () => {
  const store = createStore()
  const none = { orderId: undefined, orderData: undefined, orderSignature: undefined, apiKeyId: undefined }
  const orders = ['alone 1', 'alone 2'].map((name) => orderNamed(name, none))
  await Promise.all(orders.map((order) => store.save(order)))
  for (const order of orders) expect(await store.findByRequestId(order.requestId)).toEqual(order)
})

test('concurrent orders of every size keep their own columns and share commits', async () => {
  const store = createStore()
  const orders = Array.from({ length: 600 }, (_, index) =>
    orderNamed(`many ${index}`, {
      user: `user ${index}`,
      originChainId: index + 1,
      deadlineSeconds: 1_800_000_000 + index,
      expiresAtSeconds: 1_790_000_000 + index,
      orderData: JSON.stringify({ index, calls: 'x'.repeat((index % 7) * 1_500) }),
    }),
  )
  const commits = async () => {
    const [row] = await testDatabase.database.query(
      'select count(distinct xmin::text) as commits from orders where user_address like $1',
      ['user %'],
    )
    return row?.['commits']
  }
  await Promise.all(orders.map((order) => store.save(order)))
  // Groups of at most 256.
  expect(await commits()).toBe(3n)
  for (const order of orders) expect(await store.findByRequestId(order.requestId)).toEqual(order)
})

test('a repeated request id is a conflict and takes nobody else down', async () => {
  const store = createStore()
  await store.save(orderNamed('twice'))
  const again = store.save(orderNamed('twice', { orderId: hexOf('another order') }))
  await expect(again).rejects.toBeInstanceOf(DuplicateOrderError)
  const names = ['beside 1', 'twice', 'beside 2', 'beside 2', 'beside 3']
  const outcomes = await Promise.allSettled(names.map((name) => store.save(orderNamed(name))))
  expect(outcomes.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'rejected',
    'fulfilled',
  ])
  for (const name of ['beside 1', 'beside 2', 'beside 3']) {
    expect(await store.findByRequestId(orderNamed(name).requestId)).toBeDefined()
  }
})

test('a malformed order fails alone', async () => {
  const store = createStore()
  const bad = [
    orderNamed('short digest', { stepsDigest: Buffer.alloc(31) }),
    orderNamed('separator', { user: 'a\u001eb' }),
    orderNamed('not json', { quoted: '{' }),
  ]
  const all = [orderNamed('good 1'), ...bad, orderNamed('good 2')]
  const outcomes = await Promise.allSettled(all.map((order) => store.save(order)))
  const states = outcomes.map(({ status }) => status)
  expect(states).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected', 'fulfilled'])
})

test('orders are kept for 30 days after their deadline', async () => {
  await createStore().save(orderNamed('kept'))
  const [row] = await testDatabase.database.query(
    'select extract(epoch from keep_until - deadline)::bigint as seconds from orders where request_id = $1',
    [Buffer.from(hexOf('kept request').slice(2), 'hex')],
  )
  expect(row).toEqual({ seconds: 30n * 86_400n })
})

test('kill -9 of the writing process loses no acknowledged order, five times over', async () => {
  const { connectionString } = testDatabase
  const script = join(import.meta.dirname, 'orderSupport/writerProcess.ts')
  for (const round of ['kill 1', 'kill 2', 'kill 3', 'kill 4', 'kill 5']) {
    const writer = spawn(process.execPath, [script, connectionString, round], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    const target = 50 + 40 * Number(round.slice(-1))
    for await (const chunk of writer.stdout) {
      output += String(chunk)
      if (output.split('\n').length > target && !writer.killed) writer.kill('SIGKILL')
    }
    const acknowledged = output.split('\n').slice(0, -1)
    expect(acknowledged.length).toBeGreaterThanOrEqual(target)
    const store = createStore()
    for (const name of acknowledged) {
      expect(await store.findByRequestId(orderNamed(name).requestId)).toEqual(orderNamed(name))
    }
  }
})

test('kill -9 of the database loses no acknowledged order; what is in flight is told to try again', async () => {
  const { dataDirectory, connectionString } = testDatabase
  let { server } = testDatabase
  const port = server.port
  for (const round of [1, 2, 3]) {
    const database = createDatabase({ connectionString })
    const store = createOrderStore({ database })
    const acknowledged: string[] = []
    const failures: unknown[] = []
    const lanes = [0, 1, 2, 3, 4, 5, 6, 7].map(async (lane) => {
      for (let index = 0; failures.length === 0; index += 1) {
        const name = `crash ${round}.${lane}.${index}`
        try {
          await store.save(orderNamed(name))
          acknowledged.push(name)
          if (acknowledged.length === 100) process.kill(server.pid, 'SIGKILL')
        } catch (error) {
          failures.push(error)
        }
      }
    })
    await Promise.all(lanes)
    for (const failure of failures) expect(failure).toBeInstanceOf(UpstreamUnavailableError)
    await server.stop()
    server = await startEmbeddedPostgres({ dataDirectory, port, durable: true })
    for (const name of acknowledged) {
      await expect.poll(() => store.findByRequestId(orderNamed(name).requestId)).toEqual(orderNamed(name))
    }
    await store.save(orderNamed(`after ${round}`))
    await database.close()
  }
  await server.stop()
})
