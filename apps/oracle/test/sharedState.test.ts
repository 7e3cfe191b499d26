// Goal: processes of one oracle sign together what one of them would. Attacks: the cap asked for at both at once, the two
// deposits of one payment asked for at both at once, processes that die between count and signature. Method: the stores
// over a real PostgreSQL, as two processes would have them.
import { bpsDiffUnit, type Hex } from '@causeway/core'
import { createDatabase, type Database, startTestDatabase, type TestDatabase } from '@causeway/database'
import type { CapTable } from '@causeway/signer'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createSharedCaps } from '../src/caps/sharedCaps.ts'
import { createSharedHeldStore, releasesIn } from '../src/caps/sharedHeldStore.ts'
import { createSharedSettledOrders } from '../src/caps/sharedSettledOrders.ts'
import { schemaModules } from '../src/compose/sharedState.ts'
import { createSharedHaltStore } from '../src/halt/sharedHaltStore.ts'

let server: TestDatabase
let other: Database
beforeAll(async () => {
  server = await startTestDatabase({ directories: schemaModules })
  other = createDatabase({ connectionString: server.connectionString })
})
afterAll(async () => {
  await other?.close()
  await server?.stop()
})
beforeEach(async () => {
  await server.database.query(
    'truncate signed_value, signed_minute, settled_order, held_execution, halted_chain',
  )
})

const hexOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`
const token = 7n
const beside = 2n ** 255n
const capped = (amount: bigint) => ({ chain: 'base', currency: 'usdc', amount })
const table: CapTable = new Map([
  [token, capped(1_000n)],
  [beside, capped(50n)],
])
const value = (number: number, amount: bigint, hubTokenId = token) => ({
  key: hexOf(number),
  amounts: new Map([[hubTokenId, amount]]),
})
const rules = { table, isUnlistedHeld: true }
const both = () => [createSharedCaps(server.database, rules), createSharedCaps(other, rules)] as const

describe('O-21: caps', () => {
  test('O-21: asked for at two processes at once hold what one would', async () => {
    const processes = both()
    const asked = Array.from({ length: 60 }, (_, number) => value(number, 100n))
    const verdicts = await Promise.all(
      asked.map((one, index) => processes[index % 2 === 0 ? 0 : 1].admit(one)),
    )
    expect(verdicts.filter(({ kind }) => kind !== 'held')).toHaveLength(10)
    await Promise.all(processes.map((one) => one.refresh()))
    for (const one of processes) expect(one.usage()[0]).toMatchObject({ signed: 1_000n })
  })

  test('O-21: count a key once, however many processes are asked for it at once', async () => {
    const processes = both()
    const verdicts = await Promise.all(
      Array.from({ length: 40 }, (_, index) => processes[index % 2 === 0 ? 0 : 1].admit(value(1, 900n))),
    )
    expect(verdicts.filter(({ kind }) => kind === 'upper')).toHaveLength(1)
    expect(verdicts.filter(({ kind }) => kind === 'free')).toHaveLength(39)
    const [one] = processes
    expect((await one.admit(value(1, 950n))).kind).toBe('upper')
    expect((await one.admit(value(2, 51n))).kind).toBe('held')
    expect((await one.judge(value(2, 50n))).kind).toBe('upper')
  })

  test('O-21: of several tokens are locked in one order, and all or none is counted', async () => {
    const processes = both()
    const pairs = [
      [token, 100n],
      [beside, 10n],
    ] as const
    const asked = Array.from({ length: 30 }, (_, number) => ({
      key: hexOf(number),
      amounts: new Map(number % 2 === 0 ? pairs : pairs.toReversed()),
    }))
    const verdicts = await Promise.all(
      asked.map((one, index) => processes[index % 3 === 0 ? 0 : 1].admit(one)),
    )
    expect(verdicts.filter(({ kind }) => kind !== 'held')).toHaveLength(5)
    await processes[0].refresh()
    expect(processes[0].usage().map(({ signed }) => signed)).toEqual([500n, 50n])
  })

  test('O-21: end after an hour by the clock of the database, and keys after thirty days', async () => {
    const [one] = both()
    await one.admit(value(1, 1_000n))
    await server.database.query('update signed_minute set minute = minute - 60')
    expect((await one.admit(value(2, 1n))).kind).toBe('held')
    await server.database.query('update signed_minute set minute = minute - 1')
    expect((await one.admit(value(2, 1n))).kind).toBe('within')
    await one.refresh()
    expect((await one.judge(value(1, 1_000n))).kind).toBe('free')
    await server.database.query(`update signed_value set signed_at = signed_at - interval '31 days'`)
    await one.refresh()
    expect((await one.judge(value(1, 1_000n))).kind).toBe('held')
  })

  test('O-21: give nothing for a token without a cap, and everything free that was exempted or moves nothing', async () => {
    const [one, another] = both()
    expect(await one.admit(value(1, 1n, 99n))).toMatchObject({
      kind: 'held',
      excess: { reason: 'unlisted', hubTokenId: 99n },
    })
    await one.exempt(value(2, 5_000n))
    expect((await another.admit(value(2, 5_000n))).kind).toBe('free')
    const nothing = { key: hexOf(3), amounts: new Map<bigint, bigint>() }
    expect((await one.admit(nothing)).kind).toBe('within')
    expect((await another.admit(nothing)).kind).toBe('free')
    await one.refresh()
    expect(one.usage()[0]).toMatchObject({ signed: 0n })
  })
})

describe('O-21: settled orders', () => {
  const fill = ['fill', 'optimism 0xf1']
  const by = (payments: readonly string[], orderId = hexOf(7)) => ({ orderId, worth: bpsDiffUnit, payments })

  test('O-21: give one of many deposits for one payment, whichever process is asked first', async () => {
    const processes = [server.database, other].map(createSharedSettledOrders)
    for (let order = 0; order < 10; order += 1) {
      // Its row is there already in every other round.
      if (order % 2 === 0) await processes[0]?.admit(by(['base 0x9'], hexOf(100 + order)), hexOf(9))
      const answers = await Promise.all(
        Array.from({ length: 12 }, async (_, index) => {
          const key = hexOf(1 + (index % 4))
          return [key, await processes[index % 2]?.admit(by(fill, hexOf(100 + order)), key)] as const
        }),
      )
      const admitted = new Set(answers.flatMap(([key, isAdmitted]) => (isAdmitted === true ? [key] : [])))
      expect(admitted.size).toBe(1)
    }
  })

  test('O-21: are as one process has them, in whatever order they are asked for', async () => {
    const { createSettledOrders } = await import('../src/caps/settledOrders.ts')
    const payment = fc.constantFrom('fill', 'base 1', 'base 2')
    const ask = fc.record({ key: fc.nat(4), proof: fc.uniqueArray(payment, { minLength: 1, maxLength: 2 }) })
    let order = 1_000
    await fc.assert(
      fc.asyncProperty(fc.array(ask, { maxLength: 12 }), async (asks) => {
        order += 1
        const [one, shared] = [createSettledOrders(), [server.database, other].map(createSharedSettledOrders)]
        for (const [index, { key, proof }] of asks.entries()) {
          const settles = by(proof, hexOf(order))
          expect(await shared[index % 2]?.admit(settles, hexOf(key))).toBe(one.admit(settles, hexOf(key)))
        }
      }),
      { numRuns: 40 },
    )
  })
})

describe('O-21: operators', () => {
  test('O-21: see a halt of any process, and clear it for all with their name', async () => {
    const [one, another] = [server.database, other].map((database) =>
      createSharedHaltStore(database, 'cli:me'),
    )
    const contradiction = { blockNumber: 2n ** 64n, knownHash: 'a', foundHash: undefined }
    await one?.save('base', contradiction)
    await another?.save('base', { ...contradiction, knownHash: 'b' })
    await another?.save('optimism', undefined)
    expect(await another?.load()).toEqual(
      new Map([
        ['base', contradiction],
        ['optimism', undefined],
      ]),
    )
    expect([await one?.clear('base'), await another?.clear('base'), await one?.has('base')]).toEqual([
      true,
      false,
      false,
    ])
    await another?.save('base', contradiction)
    expect(await one?.has('base')).toBe(true)
  })

  test('O-21: see what any process holds, and release it once for all', async () => {
    const [one, another] = [server.database, other].map((database) =>
      createSharedHeldStore(database, 'cli:me'),
    )
    const record = {
      kind: 'fills',
      key: hexOf(1),
      lets: ['1 of base'],
      reason: 'cap',
      since: new Date(0).toISOString(),
    }
    await one?.keep(hexOf(5), record)
    await another?.keep(hexOf(5), { ...record, kind: 'again' })
    expect(await another?.list()).toEqual(new Map([[hexOf(5), record]]))
    expect([await another?.isReleased(hexOf(5)), await one?.release(hexOf(5))]).toEqual([false, true])
    expect(await another?.isReleased(hexOf(5))).toBe(true)
    await another?.forget(hexOf(5))
    expect([await one?.isReleased(hexOf(5)), await one?.release(hexOf(6))]).toEqual([false, false])
    expect((await releasesIn(server.database)).map(({ actor, subject }) => [actor, subject])).toEqual([
      ['cli:me', hexOf(6)],
      ['cli:me', hexOf(5)],
    ])
    await one?.keep(hexOf(5), record)
    expect(await one?.isReleased(hexOf(5))).toBe(false)
  })
})
