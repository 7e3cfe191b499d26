// Goal: a look at blocks and a look at balances of the same deposit addresses both come to their end. Method: two
// transactions of a real database, planned as over many addresses, that come to them from both ends, while a third holds
// the one between.
import type { SqlTx } from '@causeway/core'
import { createDatabase, startTestDatabase, type TestDatabase } from '@causeway/database'
import { ledgerMigrations } from '@causeway/ledger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recheckAddressesAfter } from '../src/requests/depositAddresses/addressStore.ts'
import { markPaid } from '../src/requests/depositAddresses/arrivals/paidAddressStore.ts'
import { createOrderStore } from '../src/requests/orders/orderStore.ts'
import { orderMigrations, orderNamed } from './orderSupport/orders.ts'
import { bytesOf } from './settlementSupport/requestDriver.ts'

const chainId = 8_453
const names = Array.from({ length: 9 }, (_, index) => `0xa${index}`)

let server: TestDatabase
beforeAll(async () => {
  server = await startTestDatabase({
    directories: [{ name: 'ledger', path: ledgerMigrations }, orderMigrations],
  })
  for (const address of names) {
    const order = orderNamed(address)
    await createOrderStore({ database: server.database }).save(order)
    await server.database.query(
      `insert into deposit_address (address, chain_id, order_signer, sweeper, depositor, nonce, request_id, currency, is_strict)
       values ($1, $2, '0x1', '0x2', '0x3', $3, $3, '0x70', false)`,
      [address, chainId, bytesOf(order.requestId)],
    )
  }
})
afterAll(() => server?.stop())

const payments = (paid: readonly string[]) => ({
  paid: new Map(paid.map((address) => [address, new Map([['0x70', 5n]])] as const)),
  named: [],
})
const pauses = { leastMs: 1, keepsLaneMs: 0 }
const looked = (addresses: readonly string[]) => addresses.map((address) => ({ address, isEmpty: true }))

test.each([
  ['from both ends', [...names].reverse(), names],
  ['the other way round', names, [...names].reverse()],
])(
  'F-53: blocks and balances of the same addresses, which come %s, wait in no circle',
  async (_, first, second) => {
    const { connectionString } = server
    const database = createDatabase({ connectionString, poolSize: 3, acquireTimeoutMs: 10_000 })
    const [middle] = names.slice(4)
    const waiting = async (count: number) => {
      const pending = async () =>
        (
          await server.database.query(
            `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
          )
        ).length
      while ((await pending()) < count) await new Promise((resolve) => setTimeout(resolve, 10))
    }
    try {
      const started: Promise<unknown>[] = []
      const start = (work: (tx: SqlTx) => Promise<unknown>) =>
        started.push(
          database.transaction(async (tx) => {
            for (const way of ['seqscan', 'hashjoin', 'mergejoin', 'bitmapscan'])
              await tx.query(`set local enable_${way} = off`)
            return work(tx)
          }),
        )
      await database.transaction(async (tx) => {
        await tx.query('select 1 from deposit_address where address = $1 for update', [middle])
        start((own) => markPaid(own, chainId, payments(first)))
        await waiting(1)
        start((own) => recheckAddressesAfter(own, looked(second), pauses))
        await waiting(2)
      })
      expect(await Promise.all(started)).toEqual([names.length, undefined])
    } finally {
      await database.close()
    }
  },
)
