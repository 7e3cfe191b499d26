// Goal: a signature is counted once, at its own time, whatever a journal brings back. Method: a journal of the test's own,
// which shows what is kept.
import type { Hex } from '@causeway/core'
import { expect, test } from 'vitest'
import type { CapEntry, CapJournal } from './capJournal.ts'
import { createSigningCaps, type SigningCapsOptions } from './signingCaps.ts'

const token = 7n
const minuteMs = 60_000
const nowMinute = 1_000_000
const key = (digit: string): Hex => `0x${digit.repeat(64)}`
const value = (digit: string, amount: bigint, hubTokenId = token) => ({
  key: key(digit),
  amounts: new Map([[hubTokenId, amount]]),
})

function capsWith(stored: readonly CapEntry[] = [], own: Partial<SigningCapsOptions> = {}) {
  const clock = { now: nowMinute * minuteMs }
  const appended: CapEntry[] = []
  let readAll: () => readonly CapEntry[] = () => []
  const journal: CapJournal = {
    load: () => stored,
    begin: (entries) => {
      readAll = () => [...entries()]
    },
    append: (entry) => {
      appended.push(entry)
    },
    isKept: () => true,
    close: () => undefined,
  }
  const caps = createSigningCaps({
    table: new Map([[token, { chain: 'base', currency: 'usdc', amount: 1_000n }]]),
    isUnlistedHeld: true,
    now: () => clock.now,
    journal,
    rememberedMax: 10,
    ...own,
  })
  return { caps, clock, appended, readAll: () => readAll() }
}

test('P-98: half a cap is not the upper half, and what is held says by which cap', () => {
  const { caps } = capsWith()
  expect(caps.judge(value('1', 500n)).kind).toBe('within')
  expect(caps.judge(value('1', 501n)).kind).toBe('upper')
  const excess = { reason: 'cap', hubTokenId: token, amount: 1_001n }
  expect(caps.judge(value('1', 1_001n))).toEqual({ kind: 'held', excess })
})

test('a token without a cap is signed where a chain need not name caps', () => {
  const { caps } = capsWith([], { isUnlistedHeld: false })
  expect(caps.admit(value('1', 5n, 8n)).kind).toBe('within')
})

test('P-99: a smaller amount under a key takes nothing from the larger one', () => {
  const { caps, appended } = capsWith()
  expect(caps.admit(value('1', 900n)).kind).toBe('upper')
  expect([caps.admit(value('1', 100n)).kind, caps.admit(value('1', 900n)).kind]).toEqual(['free', 'free'])
  caps.count(value('1', 900n), nowMinute * minuteMs)
  expect(caps.usage()).toMatchObject([{ signed: 900n }])
  // A value that was counted before is free, and is not written again.
  expect(appended).toHaveLength(1)
})

test('P-99: what is worth nothing is still remembered before it is free', () => {
  const { caps, appended } = capsWith()
  const nothing = { key: key('1'), amounts: new Map<bigint, bigint>() }
  expect([caps.admit(nothing).kind, caps.admit(nothing).kind]).toEqual(['within', 'free'])
  expect(appended).toHaveLength(1)
})

test('P-98: counts of a journal stand at their minute, those without one at the start', () => {
  const counted = new Map([[token, 300n]])
  const { caps, clock } = capsWith([
    { minute: nowMinute - 61, counted },
    { minute: nowMinute - 60, counted },
    { counted },
  ])
  expect(caps.usage()).toMatchObject([{ signed: 600n }])
  clock.now += minuteMs
  expect(caps.usage()).toMatchObject([{ signed: 300n }])
})

test('a journal is written anew with the keys that have amounts, and with the counts of the hour', () => {
  const counted = new Map([[token, 300n]])
  const amounts = new Map([[token, 300n]])
  const stored = [{ minute: nowMinute, counted }, { amounts }, { key: key('2') }, { key: key('1'), amounts }]
  const { caps, clock, readAll } = capsWith(stored)
  const kept = { key: key('1'), amounts }
  expect(readAll()).toEqual([{ minute: nowMinute, counted }, kept])
  clock.now += 61 * minuteMs
  caps.usage()
  expect(readAll()).toEqual([kept])
})
