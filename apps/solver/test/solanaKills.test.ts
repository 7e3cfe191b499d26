// Goal: on a chain without nonces and fill contract a payment is made once, wherever its process is killed, whatever
// its database forgets, and however often it is signed. Who gains by breaking it: a user who is paid twice; and a user
// whose payment is taken for made. Method: the desk on the real runtime with real PostgreSQL.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { begin, describeKills } from './support/expiringKills.ts'
import { nativeCoin, type SolanaBench, solanaChainId, startSolanaBench } from './support/solanaBench.ts'

let bench: SolanaBench

beforeAll(async () => {
  bench = await startSolanaBench()
})
afterAll(() => bench?.stop())

describeKills(() => bench)

test('gas counts against its budget: what was reserved is the fee and the rent of the marker', async () => {
  const process = await bench.process(await bench.database())
  const [recipient, amount] = [bench.account(), 2_000_000n]
  const deadline = (await bench.nowSeconds()) + 3_600
  const before = bench.lamports(bench.wallet)
  const orderId = `0x${'9a'.repeat(32)}` as const
  const payments = [{ recipient, currency: nativeCoin, amount }]
  const order = { kind: 'fill' as const, orderId, chainId: solanaChainId, deadline, payments, calls: [] }
  const record = await begin(process, {
    work: { kind: 'payment', id: orderId, order: { ...order, proof: undefined } },
    subject: { id: 'fill-of-gas', kind: 'fill', orderId, deadline, payments },
  })
  await process.desk.release(record, 'given')
  await process.desk.advance()
  const spent = before - bench.lamports(bench.wallet) - amount
  expect(await process.spent(`gas:${solanaChainId}`)).toBe(spent)
})
