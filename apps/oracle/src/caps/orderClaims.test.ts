// Goal: a solver's payment settles one set of deposits, and whoever can be served is: a claim moves to another of its
// proofs where that frees a payment. Adversary: a stranger who deposits for the order of somebody else, many times.
import type { Hex } from '@causeway/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { claimSettlement, type OrderClaim, type Proof } from './orderClaims.ts'

const hexOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`
type Ask = { readonly key: number; readonly proof: Proof; readonly worth?: bigint }

/** Claims after all asks, and which of these were refused. */
function afterAll(asks: readonly Ask[]) {
  let claims: readonly OrderClaim[] = []
  const refused: number[] = []
  for (const { key, proof, worth = 1n } of asks) {
    const next = claimSettlement(claims, { key: hexOf(key), worth, proof })
    if (next === undefined) refused.push(key)
    claims = next ?? claims
  }
  const uses = Object.fromEntries(claims.map((claim) => [Number(claim.key), claim.uses.join()]))
  return { claims, refused, uses }
}

describe('a claim', () => {
  test('is moved to its other proof where somebody needs its payment', () => {
    const asks = [
      { key: 1, proof: ['one'] },
      { key: 1, proof: ['two'] },
      { key: 2, proof: ['one'] },
    ]
    expect(afterAll(asks)).toMatchObject({ refused: [], uses: { 1: 'two', 2: 'one' } })
    expect(afterAll([...asks, { key: 3, proof: ['two'] }]).refused).toEqual([3])
  })

  test('is moved to make room for one that is moved itself', () => {
    const { refused, uses } = afterAll([
      { key: 1, proof: ['one'] },
      { key: 1, proof: ['two'] },
      { key: 2, proof: ['two'] },
      { key: 2, proof: ['three'] },
      { key: 3, proof: ['one'] },
    ])
    expect([refused, uses]).toEqual([[], { 1: 'two', 2: 'three', 3: 'one' }])
  })

  test('is moved with every other one that uses a payment of the proof', () => {
    const { refused, uses } = afterAll([
      { key: 1, proof: ['one'] },
      { key: 2, proof: ['two'] },
      { key: 1, proof: ['three'] },
      { key: 2, proof: ['four'] },
      { key: 3, proof: ['one', 'two'] },
    ])
    expect([refused, uses]).toEqual([[], { 1: 'three', 2: 'four', 3: 'one,two' }])
  })

  test('stays where moving it would free no more than a part', () => {
    const { refused, uses } = afterAll([
      { key: 1, proof: ['one'] },
      { key: 2, proof: ['two'] },
      { key: 1, proof: ['three'] },
      { key: 3, proof: ['one', 'two'] },
    ])
    expect([refused, uses]).toEqual([[3], { 1: 'one', 2: 'two' }])
  })

  test('is moved to a proof that shares a payment with the one it uses', () => {
    const { refused, uses } = afterAll([
      { key: 1, proof: ['one', 'two'] },
      { key: 1, proof: ['two', 'three'] },
      { key: 2, proof: ['one'] },
    ])
    expect([refused, uses]).toEqual([[], { 1: 'two,three', 2: 'one' }])
  })

  test('has one proof for the same payments in any order, and another for more or fewer of them', () => {
    const proofsAfter = (...proofs: readonly Proof[]) =>
      afterAll(proofs.map((proof) => ({ key: 1, proof }))).claims[0]?.proofs
    expect(proofsAfter(['one', 'two'], ['two', 'one'])).toEqual([['one', 'two']])
    expect(proofsAfter(['one'], ['one', 'two'])).toHaveLength(2)
    expect(proofsAfter(['one', 'two'], ['one'])).toHaveLength(2)
    expect(proofsAfter(['one', 'two'], ['one', 'three'])).toHaveLength(2)
  })

  test('keeps its four first proofs, and those of others as they are', () => {
    const { claims } = afterAll([
      { key: 9, proof: ['nine'] },
      ...['one', 'two', 'three', 'four', 'five'].map((payment) => ({ key: 1, proof: [payment] })),
    ])
    const proofs = claims.map((claim) => claim.proofs)
    expect(proofs).toEqual([[['nine']], [['one'], ['two'], ['three'], ['four']]])
  })

  test('that is known changes nothing, so that nothing is written', () => {
    const { claims } = afterAll(['one', 'two', 'three'].map((payment) => ({ key: 1, proof: [payment] })))
    for (const proof of [['one'], ['two'], ['three']])
      expect(claimSettlement(claims, { key: hexOf(1), worth: 1n, proof })).toBe(claims)
  })
})

describe('an order', () => {
  const many = Array.from({ length: 16 }, (_, index) => ({ key: index + 1, proof: [`payment ${index}`] }))

  test('has sixteen claims at most', () => {
    expect(afterAll(many).refused).toEqual([])
    expect(afterAll([...many, { key: 17, proof: ['another'] }]).refused).toEqual([17])
  })

  test('P-103: gives dust up where it is in the way, also the sixteenth, and no other dust', () => {
    const { refused, uses } = afterAll([...many, { key: 17, proof: ['payment 0'], worth: 5n }])
    expect([refused, Object.keys(uses)]).toEqual([[], many.map(({ key }) => String(key + 1))])
  })

  test('P-103: keeps dust that can be moved out of the way', () => {
    const { refused, uses } = afterAll([
      { key: 1, proof: ['one'] },
      { key: 1, proof: ['two'] },
      { key: 2, proof: ['one'], worth: 100n },
    ])
    expect([refused, uses]).toEqual([[], { 1: 'two', 2: 'one' }])
  })

  test('P-103: keeps a claim of a quarter, which is no dust', () => {
    const asks = (worth: bigint) => [
      { key: 1, proof: ['one'], worth },
      { key: 2, proof: ['one'], worth: 100n },
    ]
    expect([afterAll(asks(25n)).refused, afterAll(asks(24n)).refused]).toEqual([[2], []])
  })

  test('P-103: refuses who needs more than dust to give way, and the dust stays', () => {
    const { refused, uses } = afterAll([
      { key: 1, proof: ['one'], worth: 1n },
      { key: 2, proof: ['two'], worth: 100n },
      { key: 3, proof: ['one', 'two'], worth: 100n },
    ])
    expect([refused, uses]).toEqual([[3], { 1: 'one', 2: 'two' }])
  })
})

/** True if each key can have a payment of its own, found by trying everything. */
function canServe(wishes: readonly (readonly string[])[], taken: readonly string[] = []): boolean {
  const [first, ...others] = wishes
  if (first === undefined) return true
  return first.some((payment) => !taken.includes(payment) && canServe(others, [...taken, payment]))
}

test('P-103: where one payment is a proof, a new key is refused only if no assignment serves all', () => {
  const ask = fc.record({ key: fc.nat(5), payment: fc.constantFrom('one', 'two', 'three', 'four') })
  fc.assert(
    fc.property(fc.array(ask, { maxLength: 20 }), (asks) => {
      let claims: readonly OrderClaim[] = []
      for (const { key, payment } of asks) {
        const next = claimSettlement(claims, { key: hexOf(key), worth: 1n, proof: [payment] })
        const wishes = claims.map(({ proofs }) => proofs.flat())
        const isKnown = claims.some((claim) => claim.key === hexOf(key))
        expect(next !== undefined).toBe(isKnown || canServe([...wishes, [payment]]))
        claims = next ?? claims
      }
    }),
    { numRuns: 500 },
  )
})
