// Goal: a payment counts once, for the one that it was made for, and a refusal says what is wrong. Method: facts of one
// transaction and of two, changed one at a time.
import { describe, expect, test } from 'vitest'
import { orderB } from '../../test/vectors/orders.ts'
import { codecOf, mainNetwork } from '../encodings/codecs.ts'
import { encodeOrderCall } from '../order/orderCall.ts'
import type { PaymentFacts } from './facts.ts'
import {
  bpsDiffUnit,
  type DemandedPayment,
  firstMissingCall,
  firstUnpaid,
  weightedInputBpsDiff,
} from './settlementRules.ts'

const codec = codecOf(mainNetwork('ethereum-vm'))
const [usdc = '', coin = '', alice = '', bob = ''] = ['aa', 'bb', 'cc', 'dd'].map(
  (byte) => `0x${byte.repeat(20)}`,
)
const recordId = `0x${'0d'.repeat(32)}` as const
const facts: PaymentFacts = {
  kind: 'payment',
  transactionId: '0x01',
  blockTimestampSeconds: 1n,
  referencesOrder: true,
  transfers: [{ recipient: alice, currency: usdc, amount: 10n }],
  evidence: { chainId: 'base', finalityRule: 'finalized', agreeingEndpoints: ['a'] },
}
const demand = (minimumAmount: bigint, change: Partial<DemandedPayment> = {}): DemandedPayment => ({
  codec,
  recordId,
  recipient: alice,
  currency: usdc,
  minimumAmount,
  facts,
  ...change,
})

describe('a demanded payment', () => {
  test('P-42: is made by transfers to its recipient in its currency, to the unit', () => {
    expect(firstUnpaid([demand(10n)])).toBeUndefined()
    expect(firstUnpaid([demand(11n)])).toEqual({ position: 0, why: 'short', paid: 10n, demanded: 11n })
    expect(firstUnpaid([demand(1n, { recipient: bob })])).toMatchObject({ paid: 0n })
    expect(firstUnpaid([demand(1n, { currency: coin })])).toMatchObject({ paid: 0n })
    expect(firstUnpaid([demand(10n, { recipient: `0x${'CC'.repeat(20)}` })])).toBeUndefined()
  })

  test('P-42: shares the transfers of one transaction, and none of another', () => {
    expect(firstUnpaid([demand(4n), demand(6n)])).toBeUndefined()
    expect(firstUnpaid([demand(4n), demand(7n)])).toEqual({
      position: 1,
      why: 'short',
      paid: 10n,
      demanded: 11n,
    })
    const elsewhere = { ...facts, transactionId: '0x03' }
    const onOther = { ...facts, evidence: { ...facts.evidence, chainId: 'optimism' } }
    const others = [{ facts: elsewhere }, { facts: onOther }]
    for (const change of others) expect(firstUnpaid([demand(10n), demand(10n, change)])).toBeUndefined()
    const both = { ...facts, transfers: [...facts.transfers, { recipient: bob, currency: usdc, amount: 5n }] }
    expect(
      firstUnpaid([demand(10n, { facts: both }), demand(5n, { facts: both, recipient: bob })]),
    ).toBeUndefined()
    const two = {
      ...facts,
      transfers: [...facts.transfers, { recipient: alice, currency: coin, amount: 5n }],
    }
    expect(
      firstUnpaid([demand(10n, { facts: two }), demand(5n, { facts: two, currency: coin })]),
    ).toBeUndefined()
  })

  test('P-43: of others is not made, and said to be theirs where it would be enough', () => {
    const transfers = [{ recipient: alice, currency: usdc, amount: 4n, fromOthers: 6n }]
    const of = (amount: bigint) => firstUnpaid([demand(amount, { facts: { ...facts, transfers } })])
    expect(of(4n)).toBeUndefined()
    expect(of(10n)).toMatchObject({ why: 'payer_not_listed', paid: 4n })
    expect(of(11n)).toMatchObject({ why: 'short', paid: 4n })
  })

  test('P-40: counts only under the id that a fill contract recorded', () => {
    const recorded = (change: Partial<PaymentFacts>) =>
      firstUnpaid([demand(10n, { facts: { ...facts, ...change }, recordId: `0x${'0D'.repeat(32)}` })])
    expect(recorded({ recordId })).toBeUndefined()
    expect(recorded({ recordId: `0x${'0e'.repeat(32)}` })).toEqual({
      position: 0,
      why: 'not_recorded',
      paid: 0n,
      demanded: 10n,
    })
    expect(recorded({ recordId, recordProblem: 'twice' })).toMatchObject({ why: 'not_recorded', paid: 0n })
    const nothing = firstUnpaid([
      demand(1n, { facts: { ...facts, recordProblem: 'twice' }, minimumAmount: 1n }),
    ])
    expect(nothing).toMatchObject({ why: 'not_recorded' })
    const unlisted = { ...facts, unlistedFillContract: '0x04', transfers: [] }
    expect(firstUnpaid([demand(10n, { facts: unlisted })])).toMatchObject({ why: 'fill_contract_unknown' })
  })
})

describe('the calls of an order', () => {
  const [one, two] = [
    { to: `0x${'aa'.repeat(20)}` as const, data: '0x12' as const, value: 0n },
    { to: `0x${'bb'.repeat(20)}` as const, data: '0x' as const, value: 5n },
  ]
  const calls = [one, two].map(encodeOrderCall)

  test('P-41: ran in their order, whatever ran between, each once', () => {
    expect(firstMissingCall(calls, [two, one, two])).toBeUndefined()
    expect(firstMissingCall(calls, [two, one])).toBe(1)
    expect(firstMissingCall([...calls, ...calls], [one, two, one])).toBe(3)
    expect(firstMissingCall(calls, [])).toBe(0)
    expect(firstMissingCall([], [])).toBeUndefined()
    const upper = calls.map((call) => `0x${call.slice(2).toUpperCase()}` as const)
    expect(firstMissingCall(upper, [one, two])).toBeUndefined()
  })
})

describe('the difference of deposits from an order', () => {
  const [input] = orderB.inputs
  if (input === undefined) throw new Error('order B has an input')
  const inputOf = (amount: string, weight: string) => ({
    ...input,
    payment: { ...input.payment, amount, weight },
  })
  const order = { ...orderB, inputs: [inputOf('100', '1'), inputOf('50', '4')] }

  test('P-129: is weighted, relative to what was asked, and cut towards zero', () => {
    expect(weightedInputBpsDiff(order, [100n, 50n])).toBe(0n)
    expect(weightedInputBpsDiff(order, [100n, 125n])).toBe(bpsDiffUnit)
    expect(weightedInputBpsDiff(order, [97n])).toBe((-203n * bpsDiffUnit) / 300n)
    expect(weightedInputBpsDiff(order, [101n, 50n])).toBe(bpsDiffUnit / 300n)
    expect(weightedInputBpsDiff({ ...order, inputs: [inputOf('0', '1')] }, [1n])).toBeUndefined()
  })
})
