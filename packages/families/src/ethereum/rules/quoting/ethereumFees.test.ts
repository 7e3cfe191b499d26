// Goal: each transaction costs the units and the data of its own kind, to the wei, and two readings of one network are
// told apart by whatever changes a price. Attacks: a refund above the network's limit; a fee that two readings share by
// chance, so that an old price is kept.

import { describe, expect, test } from 'vitest'
import { FlatFees } from '../../../rules/flatFees.ts'
import type { CostedTransaction, StateWrites } from '../../../rules/networkFees.ts'
import { type EthereumFeeFacts, EthereumFees } from './ethereumFees.ts'
import { callBytesOf, type GasShape, gasShapes, type UsedShape, usedUnits } from './gasUnits.ts'

/** Each shape has another number, from 1. */
const place = (shape: GasShape) => BigInt(gasShapes.indexOf(shape) + 1)
const perShape = (units: (shape: GasShape) => bigint) =>
  // CAST: filled from the closed list of shapes.
  Object.fromEntries(gasShapes.map((shape) => [shape, units(shape)])) as Record<GasShape, bigint>

const facts: EthereumFeeFacts = {
  gasPrice: { expectedWei: 1n, maxFeePerGasWei: 20n, maxPriorityFeePerGasWei: 2n },
  gasUnits: perShape((shape) => 1_000n * place(shape)),
  l1DataFeeWei: perShape(() => 0n),
}
const fees = new EthereumFees(facts)
const none: StateWrites = { created: 0, cleared: 0, accounts: 0, paysNative: false }
const swap = { kind: 'swap', isNative: false } as const

describe('the limit is that of the shape', () => {
  test.each<[CostedTransaction['kind'], boolean, GasShape]>([
    ['reset-approval', false, 'approve'],
    ['approve', false, 'approve'],
    ['deposit', true, 'deposit-native'],
    ['deposit', false, 'deposit-erc20'],
    ['deposit-transfer', true, 'send-native'],
    ['deposit-transfer', false, 'send-erc20'],
    ['pay-address', true, 'send-native'],
    ['pay-address', false, 'send-erc20'],
    ['send-input', true, 'send-native'],
    ['send-input', false, 'send-erc20'],
    ['send-output', true, 'send-native'],
    ['send-output', false, 'send-erc20'],
    ['fill', true, 'fill-native'],
    ['fill', false, 'fill-erc20'],
    ['fill-swap', true, 'fill-swap'],
    ['fill-topup', true, 'fill-topup'],
    ['refund', true, 'refund-native'],
    ['refund', false, 'refund-erc20'],
    ['sweep', true, 'sweep-native'],
    ['sweep', false, 'sweep-erc20'],
    ['sweep-swap', true, 'sweep-swap'],
    ['swap', true, 'swap'],
    ['swap-deposit', false, 'swap-deposit'],
    ['wrap', true, 'wrap'],
    ['unwrap', false, 'unwrap'],
    ['permit-permit2-swap', false, 'permit-permit2-swap'],
    ['execute', false, 'execute'],
  ])('%s, native: %s: %s', (kind, isNative, shape) => {
    expect(fees.unitsOf({ kind, isNative })).toBe(1_000n * place(shape))
  })

  test('and what was measured on top: ticks, pools, calls, and an account with code', () => {
    const more = (change: Partial<CostedTransaction>) =>
      fees.unitsOf({ ...swap, ...change }) - fees.unitsOf(swap)
    expect(more({ ticksCrossed: 2 })).toBe(60_000n)
    expect(more({ hops: 3 })).toBe(280_000n)
    expect(more({ callUnits: 5n })).toBe(90_005n)
    expect(more({ overheadUnits: 7n })).toBe(7n)
  })
})

describe('a transaction whose writes are known is expected to use', () => {
  test.each<[CostedTransaction['kind'], boolean, boolean, UsedShape]>([
    ['reset-approval', false, false, 'approve'],
    ['approve', false, false, 'approve'],
    ['deposit', true, false, 'deposit-native'],
    ['deposit', false, false, 'deposit-erc20'],
    ['swap', false, false, 'swap'],
    ['swap', true, false, 'swap-from-native'],
    ['swap', false, true, 'swap-to-native'],
    ['swap-deposit', false, false, 'swap-deposit'],
    ['wrap', true, false, 'wrap'],
    ['unwrap', false, false, 'unwrap'],
    ['send-output', true, false, 'send-native'],
    ['pay-address', false, false, 'send-erc20'],
  ])(
    '%s, native: %s, paid in native coin: %s: what was measured of %s',
    (kind, isNative, paysNative, shape) => {
      const { expected } = fees.gasOf({ kind, isNative, writes: { ...none, paysNative } })
      expect(expected).toBe(usedUnits[shape])
    },
  )

  const more = (change: Partial<CostedTransaction>, writes: Partial<StateWrites> = {}) =>
    fees.gasOf({ ...swap, ...change, writes: { ...none, ...writes } }).expected - usedUnits.swap
  test.each<[string, Partial<CostedTransaction>, Partial<StateWrites>, bigint]>([
    ['30,000 units for each tick', { ticksCrossed: 2 }, {}, 60_000n],
    ['74,000 for each pool after the first', { hops: 3 }, {}, 148_000n],
    ['17,100 for each slot that it creates', {}, { created: 2 }, 34_200n],
    ['25,000 for each account', {}, { accounts: 2 }, 50_000n],
    ['4,800 less for each slot that it clears', {}, { cleared: 2 }, -9_600n],
    ['a fifth less at most', {}, { cleared: 100 }, -33_000n],
    ['a fifth of all that it uses', { ticksCrossed: 1 }, { cleared: 100 }, 30_000n - 39_000n],
  ])('%s', (_what, change, writes, units) => {
    expect(more(change, writes)).toBe(units)
  })

  test('its account as dearer where the network says so, if a contract pays the account or coin is sent', () => {
    const dearer = new EthereumFees({ ...facts, dearer: { slotUnits: 0n, accountUnits: 1_000n } })
    const extra = (transaction: CostedTransaction) =>
      dearer.gasOf(transaction).expected - fees.gasOf(transaction).expected
    expect(extra({ ...swap, writes: { ...none, accounts: 1 } })).toBe(1_000n)
    expect(extra({ ...swap, writes: none })).toBe(0n)
    expect(extra({ kind: 'send-input', isNative: true, writes: none })).toBe(1_000n)
    expect(extra({ kind: 'send-input', isNative: false, writes: none })).toBe(0n)
  })
})

describe('data is paid for beside gas', () => {
  const withData = { ...facts, l1DataFeeWei: perShape(place), dataByteWei: 3n }
  const fill = { kind: 'fill', isNative: true, callBytes: 100n } as const

  test('by the shape, and by each byte of calls', () => {
    const beside = new EthereumFees(withData)
    expect(beside.besideGasOf(fill)).toBe(place('fill-native') + 300n)
    expect(beside.costOf(fill) - fees.costOf(fill)).toBe(place('fill-native') + 300n)
    expect(beside.gasOf(fill)).toEqual(fees.gasOf(fill))
  })

  test('unless the chain takes the fee as gas', () => {
    const asGas = new EthereumFees({ ...withData, isDataFeeGas: true })
    expect(asGas.besideGasOf(fill)).toBe(0n)
    expect(asGas.costOf(fill)).toBe(new EthereumFees(withData).costOf(fill))
  })

  test('by no byte where the chain sets no price for bytes', () => {
    expect(fees.costOf(fill)).toBe(fees.costOf({ kind: 'fill', isNative: true }))
  })
})

describe('two readings are one price', () => {
  const { gasPrice, gasUnits } = facts
  test('if they are equal in all', () => {
    const again = { ...facts, gasPrice: { ...gasPrice }, gasUnits: { ...gasUnits } }
    expect(fees.equals(new EthereumFees(again))).toBe(true)
  })

  test.each<[string, Partial<EthereumFeeFacts>]>([
    ['another price of gas', { gasPrice: { ...gasPrice, expectedWei: 2n } }],
    ['another ceiling', { gasPrice: { ...gasPrice, maxFeePerGasWei: 21n } }],
    ['another tip', { gasPrice: { ...gasPrice, maxPriorityFeePerGasWei: 3n } }],
    ['data as gas', { isDataFeeGas: true }],
    ['another price of a byte', { dataByteWei: 1n }],
    ['dearer slots', { dearer: { slotUnits: 1n, accountUnits: 0n } }],
    ['dearer accounts', { dearer: { slotUnits: 0n, accountUnits: 1n } }],
    ['one shape of other units', { gasUnits: { ...gasUnits, 'refund-erc20': 1n } }],
    ['one shape of other data', { l1DataFeeWei: { ...facts.l1DataFeeWei, approve: 1n } }],
  ])('and not if one has %s', (_what, change) => {
    expect(fees.equals(new EthereumFees({ ...facts, ...change }))).toBe(false)
    expect(new EthereumFees({ ...facts, ...change }).equals(fees)).toBe(false)
  })

  test('and not if they are of two families', () => {
    expect(fees.equals(new FlatFees({ transferFee: 0n }))).toBe(false)
  })
})

test('data of calls is their bytes and their frame; a zero byte counts as a quarter, rounded up for each call', () => {
  expect(callBytesOf([])).toBe(0n)
  expect(callBytesOf([{ data: '0x' }])).toBe(280n)
  expect(callBytesOf([{ data: '0x' }, { data: '0x' }])).toBe(360n)
  expect(callBytesOf([{ data: '0x0102' }])).toBe(282n)
  expect(callBytesOf([{ data: '0x00000000' }])).toBe(281n)
  expect(callBytesOf([{ data: '0x0000000000' }])).toBe(282n)
  // No zero byte, though its digits hold two zeros in a row.
  expect(callBytesOf([{ data: '0x1001' }])).toBe(282n)
})
