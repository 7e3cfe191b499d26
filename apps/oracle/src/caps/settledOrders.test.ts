// One payment settles one key: against a solver that shows one payment for two deposits, and against whoever
// deposits for an order of somebody else to be in the way of its solver.
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bpsDiffUnit, ConfigurationError, type Hex } from '@causeway/core'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { claimSettlement, type OrderClaim } from './orderClaims.ts'
import { createSettledJournal, createSettledOrders, openSettledOrders } from './settledOrders.ts'

const hexOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`
const orderId = hexOf(7)
const fill = ['fill', 'optimism 0xf1']
const refund = (number: number) => [`base 0x${number}`]
const by = (payments: readonly string[], worth = bpsDiffUnit) => ({ orderId, worth, payments })

describe('a solver that filled once', () => {
  test('has one deposit of the order, and the same one as often as it asks', () => {
    const orders = createSettledOrders()
    for (let again = 0; again < 700; again++) {
      expect([orders.admit(by(fill), hexOf(1)), orders.admit(by(fill), hexOf(2))]).toEqual([true, false])
    }
  })

  test('has no other by a second payment of the outputs', () => {
    const orders = createSettledOrders()
    orders.admit(by(fill), hexOf(1))
    expect(orders.admit(by(['fill', 'optimism 0xf2']), hexOf(2))).toBe(false)
  })

  test('has the second deposit by giving it back, whichever it names first', () => {
    const orders = createSettledOrders()
    orders.admit(by(fill), hexOf(1))
    expect(orders.admit(by(refund(1)), hexOf(2))).toBe(true)
    expect(orders.admit(by(refund(1)), hexOf(3))).toBe(false)
    expect(orders.admit(by(fill), hexOf(3))).toBe(false)
    const turned = createSettledOrders()
    for (const key of [1, 2]) turned.admit(by(refund(1)), hexOf(key))
    expect([turned.admit(by(fill), hexOf(2)), turned.admit(by(fill), hexOf(1))]).toEqual([true, true])
    expect(turned.admit(by(fill), hexOf(3))).toBe(false)
  })

  test('has no second one by calling its fill a refund', () => {
    const orders = createSettledOrders()
    orders.admit(by(fill), hexOf(1))
    expect(orders.admit(by(['optimism 0xf1']), hexOf(2))).toBe(false)
  })

  test('is not hindered by settlements of other orders', () => {
    const orders = createSettledOrders()
    orders.admit(by(fill), hexOf(1))
    expect(orders.admit({ ...by(fill), orderId: hexOf(8) }, hexOf(2))).toBe(true)
  })
})

describe('who is in the way of a solver', () => {
  test('with a second deposit, settled by the fill first, only until it is given back', () => {
    const orders = createSettledOrders()
    orders.admit(by(fill), hexOf(2))
    expect(orders.admit(by(fill), hexOf(1))).toBe(false)
    expect([orders.admit(by(refund(1)), hexOf(2)), orders.admit(by(fill), hexOf(1))]).toEqual([true, true])
    expect(orders.admit(by(refund(1)), hexOf(3))).toBe(false)
  })

  test('P-103: with dust, takes nothing from it', () => {
    const orders = createSettledOrders()
    expect(orders.admit(by(fill, 1n), hexOf(2))).toBe(true)
    expect(orders.admit(by(fill), hexOf(1))).toBe(true)
    expect(orders.admit(by(fill, 1n), hexOf(3))).toBe(false)
  })

  test('has a quarter and more to lose by it', () => {
    const orders = createSettledOrders()
    orders.admit(by(fill, bpsDiffUnit / 4n), hexOf(2))
    expect(orders.admit(by(fill), hexOf(1))).toBe(false)
  })
})

test('P-103: whatever is asked in whatever order: no two keys use one payment, and each has one of its own', () => {
  const payment = fc.constantFrom('fill', 'base 1', 'base 2', 'base 3')
  const ask = fc.record({ key: fc.nat(6), proof: fc.uniqueArray(payment, { minLength: 1, maxLength: 2 }) })
  fc.assert(
    fc.property(fc.array(ask, { maxLength: 30 }), (asks) => {
      let claims: readonly OrderClaim[] = []
      const signed = new Set<number>()
      for (const { key, proof } of asks) {
        const next = claimSettlement(claims, { key: hexOf(key), worth: 1n, proof })
        if (next === undefined) expect(signed.has(key)).toBe(false)
        else signed.add(key)
        claims = next ?? claims
        const used = claims.flatMap(({ uses }) => uses)
        expect(new Set(used).size).toBe(used.length)
        expect(new Set(claims.map((claim) => claim.key))).toEqual(new Set([...signed].map(hexOf)))
        for (const { proofs, uses } of claims) expect(proofs).toContainEqual(uses)
      }
    }),
    { numRuns: 500 },
  )
})

describe('STATE_DIR', () => {
  async function directory(): Promise<string> {
    const made = await mkdtemp(join(tmpdir(), 'causeway-settled-'))
    onTestFinished(() => rm(made, { recursive: true, force: true }))
    return made
  }
  const openIn = (place: string, ordersMax?: number) =>
    createSettledOrders(
      createSettledJournal(place, (error) => {
        throw error
      }),
      ordersMax,
    )
  const file = 'settled-orders.jsonl'

  test('an oracle that is killed after every answer settles an order once', async () => {
    const place = await directory()
    expect(openIn(place).admit(by(fill), hexOf(1))).toBe(true)
    expect(openIn(place).admit(by(fill), hexOf(2))).toBe(false)
    expect(openIn(place).admit(by(refund(1)), hexOf(2))).toBe(true)
    const again = openIn(place)
    expect([1, 2, 3].map((key) => again.admit(by(refund(1)), hexOf(key)))).toEqual([true, true, false])
  })

  test('the order that was asked for longest ago is forgotten first', async () => {
    const place = await directory()
    const orders = openIn(place, 2)
    const of = (order: number, key: number) =>
      orders.admit({ ...by(fill), orderId: hexOf(order) }, hexOf(key))
    for (const order of [1, 2, 1, 3]) of(order, order)
    expect([of(1, 9), of(3, 9), of(2, 9)]).toEqual([false, false, true])
  })

  test('half a line at the end is what nothing was signed by; any other bad line stops the start', async () => {
    const place = await directory()
    const orders = openIn(place)
    orders.admit(by(fill), hexOf(1))
    orders.close()
    await appendFile(join(place, file), '{"orderId":"0x')
    expect(openIn(place).admit(by(fill), hexOf(2))).toBe(false)
    expect(await readFile(join(place, file), 'utf8')).toMatch(/^\{"orderId":"0x0{63}7","claims":\[.*\]\}\n$/)
    await appendFile(join(place, file), '{"orderId":1}\n')
    expect(() => openIn(place)).toThrow(ConfigurationError)
    expect(() => openIn(place)).toThrow('line 2 of settled-orders.jsonl')
  })

  function opened(options: Parameters<typeof openSettledOrders>[0]) {
    const lines: object[] = []
    const write = (fields: object) => lines.push(fields)
    return { orders: openSettledOrders(options, { warn: write, error: write }), lines }
  }

  test('is missed where an oracle would forget real orders, and not in `local`', () => {
    const isLocal = false
    const { orders, lines } = opened({ stateDirectory: undefined, isLocal })
    expect(lines).toEqual([{ event: 'settled_orders_forgotten' }])
    expect([orders.admit(by(fill), hexOf(1)), orders.admit(by(fill), hexOf(2))]).toEqual([true, false])
    expect(opened({ stateDirectory: undefined, isLocal: true }).lines).toEqual([])
  })

  test('keeps what was settled; what it could not take is told, and still counts here', async () => {
    const stateDirectory = await directory()
    const { orders, lines } = opened({ stateDirectory, isLocal: true })
    orders.admit(by(fill), hexOf(1))
    expect([orders.isKept(), lines]).toEqual([true, []])
    expect(opened({ stateDirectory, isLocal: true }).orders.admit(by(fill), hexOf(2))).toBe(false)
    orders.close()
    orders.admit({ ...by(fill), orderId: hexOf(8) }, hexOf(3))
    expect(lines).toEqual([{ event: 'settled_order_not_kept', err: expect.any(Error) }])
    expect(orders.admit({ ...by(fill), orderId: hexOf(8) }, hexOf(4))).toBe(false)
  })

  test('is written once for a settlement, however often that is asked for', async () => {
    const place = await directory()
    const orders = openIn(place)
    for (let again = 0; again < 3; again += 1) orders.admit(by(fill), hexOf(1))
    expect((await readFile(join(place, file), 'utf8')).split('\n')).toHaveLength(2)
  })
})
