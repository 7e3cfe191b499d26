// Lower bound of a quote's cost: one signature with its check, one durable insert.
import { randomBytes } from 'node:crypto'
import { startTestDatabase } from '@causeway/database'
import { createOrderStore } from '../apps/quote-api/src/requests/orders/orderStore.ts'
import { orderMigrations, orderNamed } from '../apps/quote-api/test/orderSupport/orders.ts'
import { bareCurve } from './bareCurve.ts'
import { machineCpuMs } from './processFigures.ts'

const signatures = 5_000
const inserts = 20_000
/** As many as the connections of the load. */
const atOnce = 32

/** Time of all processors for one of each, microseconds. */
export async function measureQuoteFloor(): Promise<{ readonly signUs: number; readonly storeUs: number }> {
  return { signUs: await busyUs(signatures, async () => signAll()), storeUs: await measureStore() }
}

function signAll(): void {
  const curve = bareCurve(randomBytes(32))
  const digest = randomBytes(32)
  for (let count = 0; count < signatures; count += 1) curve.signAndRecover(digest)
}

async function measureStore(): Promise<number> {
  const { database, stop } = await startTestDatabase({ durable: true, directories: [orderMigrations] })
  try {
    const store = createOrderStore({ database })
    const orders = Array.from({ length: inserts }, (_, index) => orderNamed(`floor ${index}`))
    const next = orders.values()
    const save = async () => {
      for (const order of next) await store.save(order)
    }
    return await busyUs(inserts, () => Promise.all(Array.from({ length: atOnce }, save)))
  } finally {
    await stop()
  }
}

async function busyUs(count: number, work: () => Promise<unknown>): Promise<number> {
  const beforeMs = machineCpuMs()
  await work()
  return ((machineCpuMs() - beforeMs) * 1_000) / count
}
