import type { Hex } from '@causeway/core'
import { expect, test } from 'vitest'
import { nativeCurrency } from './fillTransaction.ts'
import { type LoggedDeposit, owedDeposits } from './settlement.ts'
import type { SignedRecord } from './signedRecord.ts'

const orderOf = (number: number): Hex => `0x${String(number).padStart(64, '0')}`
const deposit = (key: string, order: number): LoggedDeposit => ({
  key,
  orderId: orderOf(order),
  currency: nativeCurrency,
  amount: 1n,
})
const record = (order: number, change: Partial<SignedRecord> = {}): SignedRecord => ({
  id: `item-${order}`,
  attempt: 0,
  kind: 'fill',
  orderId: orderOf(order),
  chainId: 10,
  nonce: order,
  transaction: { raw: '0x02', hash: orderOf(order) },
  release: 'given',
  outcome: 'done',
  failureReported: false,
  ...change,
})
const keysOf = (deposits: readonly LoggedDeposit[]) => deposits.map(({ key }) => key)

test('an order owes as many deposits as the solver has paid for', () => {
  const deposits = [deposit('a', 1), deposit('b', 1), deposit('c', 1), deposit('d', 2)]
  expect(keysOf(owedDeposits(deposits, [record(1)]))).toEqual(['a'])
  expect(keysOf(owedDeposits(deposits, [record(1), record(1, { id: 'r', kind: 'refund' })]))).toEqual([
    'a',
    'b',
  ])
})

test('what is not final, has failed or is of another order owes nothing', () => {
  const outcomes = ['open', 'reverted', 'cancelled', 'lost'] as const
  const records = outcomes.map((outcome) => record(1, { id: outcome, outcome }))
  expect(owedDeposits([deposit('a', 1)], [...records, record(2)])).toEqual([])
})

test('a claim of app fees owes nothing, even when somebody deposits under its id', () => {
  expect(owedDeposits([deposit('a', 1)], [record(1, { kind: 'claim' })])).toEqual([])
})

test('a deposit is settled once: by an open settlement or a finished one, and again after a failed one', () => {
  const settlement = (outcome: SignedRecord['outcome']) =>
    record(0, { id: 'chore', kind: 'chore', orderId: undefined, covers: ['a'], outcome })
  const owed = (outcome: SignedRecord['outcome']) =>
    keysOf(
      owedDeposits(
        [deposit('a', 1), deposit('b', 1)],
        [record(1), record(1, { id: 'x' }), settlement(outcome)],
      ),
    )
  expect(owed('open')).toEqual(['b'])
  expect(owed('done')).toEqual(['b'])
  expect(owed('reverted')).toEqual(['a', 'b'])
})
