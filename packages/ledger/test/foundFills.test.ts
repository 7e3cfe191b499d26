// Goal: the debit of a fill whose hold was lost is booked once, whoever tries how often, and never beyond the balance.
// Method: the migrated schema and many connections.
import type { Hex } from '@causeway/core'
import type { TestDatabase } from '@causeway/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  balanceEvents,
  bookFoundFill,
  createLedger,
  readStatement,
  setSponsorFrozen,
  verifyLedger,
} from '../src/index.ts'
import { fund, startLedgerBed } from './support/ledgerBed.ts'

let bed: TestDatabase
beforeAll(async () => {
  bed = await startLedgerBed()
})
afterAll(() => bed?.stop())

const sponsor = `0x${'5b'.repeat(20)}`
const id = (digits: string): Hex => `0x${digits.repeat(32)}`
const fill = { orderId: id('01'), requestId: id('02'), sponsor, amountMicroUsd: 70n }
const book = (more: Partial<typeof fill> = {}) =>
  bed.database.transaction((tx) =>
    bookFoundFill(tx, { ...fill, ...more, actor: 'cli:test', evidence: { kind: 'solver-fill' } }),
  )
const available = async () => (await createLedger().balance(bed.database, sponsor)).availableMicroUsd

test('L-30: a found fill is booked once, within the balance, and shown as fees', async () => {
  await bed.database.transaction((tx) => fund(tx, sponsor, 100n))
  const outcomes = await Promise.all([1, 2, 3, 4].map(() => book()))
  expect([...outcomes].sort()).toEqual(['done', 'exists', 'exists', 'exists'])
  expect(await available()).toBe(30n)
  expect(await book({ amountMicroUsd: 71n })).toBe('conflict')
  expect(await book({ orderId: id('03'), amountMicroUsd: 31n })).toBe('insufficient')
  await bed.database.transaction((tx) =>
    setSponsorFrozen(tx, { sponsor, frozen: true, actor: 'cli:test', reason: 'a test' }),
  )
  expect(await book({ orderId: id('03'), amountMicroUsd: 1n })).toBe('frozen')
  expect(await available()).toBe(30n)
  expect(await bed.database.transaction((tx) => verifyLedger(tx, { depth: 'all' }))).toEqual([])
  const { events } = await bed.database.transaction((tx) => balanceEvents(tx, { wallet: sponsor, limit: 1 }))
  expect(events).toMatchObject([{ context: 'pay-fees', delta: -70n, requestId: fill.requestId }])
  const today = Math.floor(Date.now() / 86_400_000) * 86_400_000
  const period = { from: new Date(today), to: new Date(today + 86_400_000) }
  const { accounts } = await readStatement(bed.database, { wallet: sponsor, ...period, groups: [] })
  expect(accounts[0]?.lines).toContainEqual({ kind: 'fees', count: 1, amount: -70n })
})
