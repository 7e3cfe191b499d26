// Goal: on Lighter, where every transfer takes the next nonce of its key and names what it pays, a payment is made once,
// wherever its process is killed, whatever its database forgets, and however often it is signed. Who gains by breaking it:
// a user who is paid twice; a user whose payment is taken for made. Method: the desk on an exchange of a stand-in, whose
// ids, nonces, expiry and owner's signatures are real, with real PostgreSQL.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { begin, describeKills } from './support/expiringKills.ts'
import { type LighterBench, lighterChainId, startLighterBench } from './support/lighterBench.ts'

let bench: LighterBench

beforeAll(async () => {
  bench = await startLighterBench()
}, 60_000)
afterAll(() => bench?.stop())
afterEach(() => bench.garble(undefined))

describeKills(() => bench)

describe('payments that are signed for one nonce', () => {
  test('are all made, one after the other, and each is told by the id under which it was made', async () => {
    const process = await bench.process(await bench.database())
    const deadline = (await bench.nowSeconds()) + 3_600
    const tasks = [1, 2, 3].map((one) => {
      const orderId = `0x${`f${one}`.repeat(32)}` as const
      return { orderId, recipient: bench.account(), id: `crowd-${one}` }
    })
    for (const { orderId, recipient, id } of tasks) {
      const payments = [{ recipient, currency: bench.coin, amount: 7n }]
      const order = { kind: 'fill' as const, orderId, chainId: lighterChainId, deadline, payments, calls: [] }
      await begin(process, {
        work: { kind: 'payment', id: orderId, order: { ...order, proof: undefined } },
        subject: { id, kind: 'fill', orderId, deadline, payments },
      })
    }
    const nonces = (await process.records.active(bench.wallet, lighterChainId, Number.MAX_SAFE_INTEGER))
      .length
    expect(nonces).toBe(3)
    for (let turn = 0; turn < 12; turn += 1) {
      for (const record of await process.desk.advance())
        if (record.release === 'asked') await process.desk.release(record, 'given').catch(() => undefined)
      for (const replacement of await process.desk.replaced()) {
        const record = await process.desk.beginTelling(replacement)
        await process.desk.releaseReplacement({ ...replacement, record }, 'accepted').catch(() => undefined)
      }
    }
    const outcomes = await Promise.all(
      tasks.map(async ({ id }) => (await process.records.latest(id))?.outcome),
    )
    expect(outcomes).toEqual(['done', 'done', 'done'])
    expect(await Promise.all(tasks.map(({ recipient }) => bench.held(recipient)))).toEqual([7n, 7n, 7n])
  })
})
