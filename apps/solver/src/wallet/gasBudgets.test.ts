// Goal: one stranger's work spends no budget that another's needs. Attackers: whoever causes refunds that pay for nothing,
// claims, sweeps, or permits of an account with code. Method: every kind of record, and what its gas is taken from.
import { expect, test } from 'vitest'
import { gasCharges } from './chainDesk.ts'

const budgets = { gasPerHourWei: 1_000n, refundGasPerHourWei: 200n, relayGasPerHourWei: 300n }
const [chainId, stranger, another] = [8_453, 'stranger', 'another']

const records = {
  fill: { kind: 'fill' },
  claim: { kind: 'claim' },
  'paid refund': { kind: 'refund', isUnderpaid: false },
  'refund that does not pay': { kind: 'refund', isUnderpaid: true },
  closing: { kind: 'close' },
  sweep: { kind: 'sweep' },
  permit: { kind: 'permit' },
} as const
type Name = keyof typeof records

const budgetOf = (name: Name): string | undefined =>
  gasCharges(chainId, records[name], 1n, budgets)[0]?.budget
// CAST: they are the keys of the record above.
const names = Object.keys(records) as Name[]
/** All that strangers cause together: fills and claims pay for themselves, closings follow refunds that do not. */
const together: Readonly<Partial<Record<Name, Name>>> = { claim: 'fill', closing: 'refund that does not pay' }

test.each(names.flatMap((one) => names.map((other) => [one, other] as const)))(
  'P-53: a %s and a %s share a budget only where one follows from the other',
  (one, other) => {
    const isShared = (together[one] ?? one) === (together[other] ?? other)
    expect(budgetOf(one) === budgetOf(other)).toBe(isShared)
  },
)

test.each<[Name, bigint]>([
  ['refund that does not pay', 20n],
  ['permit', 30n],
])('P-53: of a %s one stranger takes a tenth of the budget at most', (name, share) => {
  const sharesOf = (sharer: string) => gasCharges(chainId, { ...records[name], sharer }, 7n, budgets)
  const [, own] = sharesOf(stranger)
  expect(own).toMatchObject({ amount: 7n, perHour: share, isShare: true })
  expect(sharesOf(another)[1]?.budget).not.toBe(own?.budget)
})

test('P-53: chains have budgets of their own', () => {
  for (const record of Object.values(records))
    expect(gasCharges(10, record, 1n, budgets)[0]?.budget).not.toBe(
      gasCharges(chainId, record, 1n, budgets)[0]?.budget,
    )
})
