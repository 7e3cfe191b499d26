// Goal: every order that is paid is signed, once and by its own key, whoever asks first and whatever key came after.
// Attackers: two processes that sign at once, a tired operator who replaced the key while quotes were open.
import { Secret, type Signer } from '@causeway/core'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { createRawKeySigner } from '@causeway/signer'
import { recoverMessageAddress } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createOrderSignatures,
  OrderKeyReplacedError,
  signOpenOrders,
} from '../src/requests/orders/orderSignatures.ts'
import { createOrderStore } from '../src/requests/orders/orderStore.ts'
import type { StoredOrder } from '../src/requests/orders/storedOrder.ts'
import { hexOf, orderMigrations, orderNamed } from './orderSupport/orders.ts'

const key = createRawKeySigner({ privateKey: new Secret(hexOf('the key')) })
const keyOfBefore = createRawKeySigner({ privateKey: new Secret(hexOf('the key of before')) })
/** Unix seconds in the year 2100. */
const openUntil = 4_102_444_800

let bed: TestDatabase
beforeAll(async () => {
  bed = await startTestDatabase({ directories: [orderMigrations] })
})
afterAll(async () => {
  await bed?.stop()
})

const store = () => createOrderStore({ database: bed.database })

async function unsigned(name: string, by: Signer, change: Partial<StoredOrder> = {}) {
  const orderData = JSON.stringify({ solver: by.address })
  const order = orderNamed(name, {
    orderData,
    orderSignature: undefined,
    deadlineSeconds: openUntil,
    expiresAtSeconds: openUntil - 60,
    ...change,
  })
  await store().save(order)
  const { requestId, orderId } = order
  if (orderId === undefined) throw new Error('it has an order')
  return { requestId, orderId, order: { solver: by.address }, orderSignature: undefined }
}

const keptOf = async ({ requestId }: Pick<StoredOrder, 'requestId'>) =>
  (await store().findByRequestId(requestId))?.orderSignature

test('processes that sign at once keep one signature, of the order’s solver', async () => {
  const order = await unsigned('raced', key)
  let made = 0
  // As a key management service signs: another signature each time.
  const holder = {
    address: key.address,
    async sign() {
      made += 1
      return hexOf(`signature ${made}`, 65)
    },
  }
  const processes = Array.from({ length: 20 }, () =>
    createOrderSignatures({ database: bed.database, key: holder }),
  )
  const signatures = await Promise.all(processes.map((one) => one.of(order)))
  expect(new Set(signatures)).toEqual(new Set([await keptOf(order)]))
  expect(made).toBe(20)
  const [first] = processes
  expect(await first?.of({ ...order, orderSignature: signatures[0] })).toBe(signatures[0])
  expect(made).toBe(20)
})

test('a signature that is kept verifies for anyone, and never changes', async () => {
  const order = await unsigned('plain', key)
  const signatures = createOrderSignatures({ database: bed.database, key })
  const signature = await signatures.of(order)
  const signer = await recoverMessageAddress({ message: { raw: order.orderId }, signature })
  expect(signer.toLowerCase()).toBe(key.address)
  const forged = { address: key.address, sign: async () => hexOf('another', 65) }
  expect(await createOrderSignatures({ database: bed.database, key: forged }).of(order)).toBe(signature)
  expect(await keptOf(order)).toBe(signature)
})

test('another key signs nothing, and says what to run', async () => {
  const order = await unsigned('of before', keyOfBefore)
  const signing = createOrderSignatures({ database: bed.database, key }).of(order)
  await expect(signing).rejects.toThrow(OrderKeyReplacedError)
  await expect(signing).rejects.toThrow('orders sign')
  expect(await keptOf(order)).toBeUndefined()
})

test('the key of before signs what is open or paid of its own, thousands of them, and nothing else', async () => {
  const { database } = bed
  const over = await unsigned('over', keyOfBefore, {
    deadlineSeconds: 1_700_000_000,
    expiresAtSeconds: 1_699_999_000,
  })
  const paid = await unsigned('paid late', keyOfBefore, {
    deadlineSeconds: 1_700_000_000,
    expiresAtSeconds: 1_699_999_000,
  })
  await database.query(
    `insert into deposit_seen (chain_id, tx_hash, onchain_index, block_number, block_hash, block_time, order_id,
       request_id, depositor, currency, amount, state)
     values (1, 'a', '0', 1, '0xb', now(), $1, $2, '0xd', '0xc', 1, 'seen')`,
    [Buffer.from(paid.orderId.slice(2), 'hex'), Buffer.from(paid.requestId.slice(2), 'hex')],
  )
  const others = await unsigned('of the other key', key)
  const many = []
  for (let index = 0; index < 1_200; index += 1) many.push(await unsigned(`many ${index}`, keyOfBefore))
  const earlier = idsOf('of before')
  expect(await keptOf(earlier)).toBeUndefined()
  expect(await signOpenOrders({ database, key: keyOfBefore })).toBe(1_202)
  for (const order of [paid, many[0], many[1_199], earlier]) {
    const signature = order && (await keptOf(order))
    if (order === undefined || signature === undefined) throw new Error('it is signed')
    const signer = await recoverMessageAddress({ message: { raw: order.orderId }, signature })
    expect(signer.toLowerCase()).toBe(keyOfBefore.address)
  }
  expect([await keptOf(over), await keptOf(others)]).toEqual([undefined, undefined])
  expect(await signOpenOrders({ database, key: keyOfBefore })).toBe(0)
})

/** Ids of an order that an earlier test stored. */
function idsOf(name: string) {
  const { requestId, orderId } = orderNamed(name)
  if (orderId === undefined) throw new Error('it has an order')
  return { requestId, orderId }
}
