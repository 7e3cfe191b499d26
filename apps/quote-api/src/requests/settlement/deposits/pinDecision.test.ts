// Goal: whatever deposits do and in whatever order quote, re-quote, deposit and expiry come, a hold is
// bound at most once and always ends by itself.
import type { HoldOutcome } from '@causeway/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type DepositTerms,
  type HoldView,
  lateReservation,
  type PinDecision,
  pinDecision,
  type SeenDeposit,
} from './pinDecision.ts'

const terms: DepositTerms = {
  chainId: 8453,
  currency: '0xc1',
  amountMin: 100n,
  deadlineSeconds: 3_600,
  finalitySeconds: 1_800,
}
/** Order deadline, finality and a quarter of an hour. */
const pinEnd = 3_600 + 1_800 + 900
const fit: SeenDeposit = {
  id: 'one',
  chainId: 8453,
  currency: '0xc1',
  amount: 100n,
  isDeep: true,
  isCanonical: true,
}
const reserved: HoldView = { state: 'reserved', expiresAtSeconds: 90 }
const pinned: HoldView = { state: 'pinned', depositId: 'one' }

function decide(deposit: Partial<SeenDeposit>, hold: HoldView = reserved, nowSeconds = 10): PinDecision {
  return pinDecision({ deposit: { ...fit, ...deposit }, terms, hold, nowSeconds })
}

describe('a deposit on a living hold', () => {
  test('pins it until deadline, finality and fifteen minutes are over', () => {
    expect(decide({})).toEqual({ action: 'pin', untilSeconds: pinEnd })
    expect(decide({ amount: 101n })).toEqual({ action: 'pin', untilSeconds: pinEnd })
  })

  test('waits for the depth of its size', () => {
    expect(decide({ isDeep: false })).toEqual({ action: 'wait' })
  })

  test.each<[string, Partial<SeenDeposit>, string]>([
    ['dust', { amount: 99n }, 'too_little'],
    ['nothing', { amount: 0n }, 'too_little'],
    ['another token', { currency: '0xc2' }, 'wrong_currency'],
    ['another chain', { chainId: 10 }, 'wrong_chain'],
    ['a deposit that left the chain', { isCanonical: false }, 'orphaned'],
  ])('L-59: %s never pins, however deep it is', (_name, change, reason) => {
    expect(decide({ ...change, isDeep: true })).toEqual({ action: 'ignore', reason })
  })
})

describe('a deposit on a pinned hold', () => {
  test('seen again changes nothing', () => {
    expect(decide({ isDeep: true }, pinned)).toEqual({ action: 'ignore', reason: 'pinned_already' })
  })

  test('a second deposit neither pins again nor unpins', () => {
    for (const isCanonical of [true, false]) {
      const second = decide({ id: 'two', isCanonical }, pinned)
      expect(second).toEqual({ action: 'ignore', reason: 'second_deposit' })
    }
  })

  test('orphaned, it is unpinned and expires soon; back in a block, it pins again', () => {
    expect(decide({ isCanonical: false }, pinned, 500)).toEqual({ action: 'unpin', expiresAtSeconds: 590 })
    expect(decide({}, { state: 'reserved', expiresAtSeconds: 590 }, 550).action).toBe('pin')
    expect(decide({}, { state: 'expired' }, 600)).toEqual({ action: 'reserve_again', untilSeconds: pinEnd })
  })
})

describe('a deposit on a hold that is no more', () => {
  test.each<HoldView>([{ state: 'superseded' }, { state: 'expired' }])('%j: reserves again', (hold) => {
    expect(decide({}, hold)).toEqual({ action: 'reserve_again', untilSeconds: pinEnd })
  })

  test('an expiry that nobody swept yet counts as one', () => {
    expect(decide({}, reserved, 89).action).toBe('pin')
    expect(decide({}, reserved, 90).action).toBe('reserve_again')
  })

  test('after the end of any pin nothing is reserved', () => {
    expect(decide({}, { state: 'expired' }, pinEnd)).toEqual({ action: 'ignore', reason: 'settled' })
  })

  test.each<[HoldView, string]>([
    [{ state: 'none' }, 'unsponsored'],
    [{ state: 'posted' }, 'settled'],
    [{ state: 'voided' }, 'settled'],
  ])('%j: is left alone', (hold, reason) => {
    expect(decide({}, hold)).toEqual({ action: 'ignore', reason })
  })
})

/** A sponsor's money as the ledger keeps it, with room for one hold. */
type World = { nowSeconds: number; holds: Map<string, { amount: bigint; endsAt: number; pinnedBy?: string }> }

type Step = 'quote' | 're-quote' | 'deposit' | 'expiry'

function play(order: readonly Step[], room: number): { bound: string[]; refunds: string[]; world: World } {
  const world: World = { nowSeconds: 0, holds: new Map() }
  const superseded = new Set<string>()
  const quotes: string[] = []
  const bound: string[] = []
  const refunds: string[] = []
  const living = () => [...world.holds.values()].filter(({ endsAt }) => endsAt > world.nowSeconds).length
  const reserve = (endsAt: number, id: string): HoldOutcome => {
    if (living() >= room) return { status: 'insufficient_balance' }
    world.holds.set(id, { amount: 1n, endsAt })
    return { status: 'reserved', holdId: id }
  }
  const quote = (id: string) => {
    // Every quote has an id of its own.
    if (quotes.includes(id)) return
    for (const [earlier, hold] of world.holds) {
      if (hold.pinnedBy !== undefined) continue
      world.holds.delete(earlier)
      superseded.add(earlier)
    }
    if (reserve(world.nowSeconds + 90, id).status === 'reserved') quotes.push(id)
  }
  const view = (id: string): HoldView => {
    const hold = world.holds.get(id)
    if (hold?.pinnedBy !== undefined) return { state: 'pinned', depositId: hold.pinnedBy }
    if (hold !== undefined) return { state: 'reserved', expiresAtSeconds: hold.endsAt }
    return { state: superseded.has(id) ? 'superseded' : quotes.includes(id) ? 'expired' : 'none' }
  }
  const bind = (id: string, endsAt: number) => {
    world.holds.set(id, { amount: 1n, endsAt, pinnedBy: fit.id })
    bound.push(id)
  }
  const deposit = (id: string) => {
    const decision = pinDecision({ deposit: fit, terms, hold: view(id), nowSeconds: world.nowSeconds })
    if (decision.action === 'pin') bind(id, decision.untilSeconds)
    if (decision.action !== 'reserve_again') return
    world.holds.delete(id)
    const late = lateReservation(reserve(decision.untilSeconds, id))
    if (late.action === 'pin') bind(id, decision.untilSeconds)
    else refunds.push(id)
  }
  for (const step of order) {
    if (step === 'quote') quote('first')
    if (step === 're-quote') quote('second')
    // The user always executes the first quote: the one that a re-quote takes the hold from.
    if (step === 'deposit') deposit('first')
    if (step === 'expiry') world.nowSeconds += 100
  }
  return { bound, refunds, world }
}

describe('orders of quote, re-quote, deposit and expiry', () => {
  test.each<[string, readonly Step[], number, { bound: string[]; refunds: string[] }]>([
    ['deposit in time', ['quote', 'deposit', 're-quote', 'expiry'], 2, { bound: ['first'], refunds: [] }],
    [
      'deposit after a re-quote',
      ['quote', 're-quote', 'deposit', 'expiry'],
      2,
      { bound: ['first'], refunds: [] },
    ],
    [
      'deposit after a re-quote that took the last of the balance',
      ['quote', 're-quote', 'deposit', 'expiry'],
      1,
      { bound: [], refunds: ['first'] },
    ],
    [
      'deposit after the expiry',
      ['quote', 'expiry', 'deposit', 're-quote'],
      1,
      { bound: ['first'], refunds: [] },
    ],
    [
      'deposit after re-quote and expiry',
      ['quote', 're-quote', 'expiry', 'deposit'],
      1,
      { bound: ['first'], refunds: [] },
    ],
    [
      'deposit before its quote is known',
      ['deposit', 'quote', 're-quote', 'expiry'],
      2,
      { bound: [], refunds: [] },
    ],
  ])('%s', (_name, order, room, expected) => {
    const { bound, refunds } = play(order, room)
    expect({ bound, refunds }).toEqual(expected)
  })

  test('in any order and number, one deposit binds at most once and every hold has an end', () => {
    const step = fc.constantFrom<Step>('quote', 're-quote', 'deposit', 'expiry')
    let outcomes = ''
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), fc.integer({ min: 1, max: 2 }), (order, room) => {
        const { bound, refunds, world } = play(order, room)
        expect(bound.length).toBeLessThanOrEqual(1)
        for (const { endsAt } of world.holds.values()) expect(endsAt).toBeLessThanOrEqual(pinEnd)
        outcomes += bound.length > 0 ? 'b' : refunds.length > 0 ? 'r' : '-'
      }),
      { numRuns: 2_000, endOnFailure: true },
    )
    for (const outcome of ['b', 'r', '-']) expect(outcomes).toContain(outcome)
  })
})
