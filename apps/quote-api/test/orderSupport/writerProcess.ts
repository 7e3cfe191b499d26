// Saves orders one after the other and says which are acknowledged, until it is killed.
import { createDatabase } from '@causeway/database'
import { createOrderStore } from '../../src/requests/orders/orderStore.ts'
import { orderNamed } from './orders.ts'

const [connectionString = '', round = ''] = process.argv.slice(2)
const store = createOrderStore({ database: createDatabase({ connectionString }) })

async function saveForever(lane: number): Promise<void> {
  for (let index = 0; ; index += 1) {
    const name = `${round}.${lane}.${index}`
    await store.save(orderNamed(name))
    process.stdout.write(`${name}\n`)
  }
}

await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(saveForever))
