// Goal: units of gas follow what a network asks for, up to a bound, and stay as they are where it asks for no more than
// the release counts on. Attacks: an estimate that is too low, so that the solver pays the difference; one without
// sense, so that nobody buys or everybody is overcharged; a fork that makes state dearer, which no constant knows.

import { describe, expect, test } from 'vitest'
import type { ShapeUnits } from '../../../rules/measuredUnits.ts'
import { aboveBound, callUnitsOf, dearerStateOf, stateAsCounted, unitsOn } from './dearerState.ts'
import { EthereumFees } from './ethereumFees.ts'
import { type GasShape, gasShapes, gasUnits, newState, orderCloneUnits } from './gasUnits.ts'

const approve = (units: bigint): ShapeUnits => ({ shape: 'approve', units, countedUnits: gasUnits.approve })
const send = (units: bigint): ShapeUnits => ({
  shape: 'send-native',
  units,
  countedUnits: gasUnits['send-native'],
})
/** A new slot takes 97,920 instead of 22,100, a new account 183,600. @source EIP-8037 */
const glamsterdam = [approve(46_200n - 22_100n + 97_920n), send(21_000n + 183_600n)]

const none = Object.fromEntries(gasShapes.map((shape) => [shape, 0n]))
const feesOn = (shapes: readonly ShapeUnits[]) =>
  new EthereumFees({
    gasPrice: { expectedWei: 1n, maxFeePerGasWei: 2n, maxPriorityFeePerGasWei: 1n },
    gasUnits,
    dearer: dearerStateOf(shapes),
    // CAST: filled from the closed list of shapes.
    l1DataFeeWei: none as Record<GasShape, bigint>,
  })

describe('F-113: what state takes beyond what the release counts on', () => {
  test.each<[string, readonly ShapeUnits[], bigint, bigint]>([
    ['nobody says anything', [], 0n, 0n],
    ['networks are as they were', [approve(46_364n), send(21_000n)], 0n, 0n],
    ['an estimate is lower than anything could take', [approve(0n), send(1n)], 0n, 0n],
    ['they ask for all that is counted on', [approve(65_000n), send(30_000n)], 0n, 0n],
    // 30 % above what is counted on; the room of 18,800 above the use of today stays.
    ['slots are dearer', [approve(84_500n), send(21_000n)], 38_300n, 0n],
    ['accounts are dearer', [send(39_000n)], 0n, 18_000n],
    ['both are, as in Glamsterdam', glamsterdam, 75_820n, 183_600n],
    // A hundred times: prices follow ten times, and the chain stops (F-110).
    ['an estimate has no sense', [approve(6_500_000n), send(3_000_000n)], 603_800n, 279_000n],
  ])('%s', (_what, shapes, slotUnits, accountUnits) => {
    expect(dearerStateOf(shapes)).toEqual({ slotUnits, accountUnits })
  })

  test('never falls where more is asked for, and never makes a transaction cheaper than the release does', () => {
    let before = 0n
    for (let units = 0n; units < 2_000_000n; units += 997n) {
      const dearer = dearerStateOf([approve(units)])
      expect(dearer.slotUnits).toBeGreaterThanOrEqual(before)
      expect(unitsOn('approve', dearer)).toBeGreaterThanOrEqual(units < 650_000n ? units : gasUnits.approve)
      before = dearer.slotUnits
    }
  })

  test('follows as far as the quote file says', () => {
    expect(dearerStateOf([approve(6_500_000n)], 100).slotUnits).toBe(6_453_800n)
    expect(dearerStateOf([approve(84_500n)], 1).slotUnits).toBe(18_800n)
  })
})

test('F-110: what is above the bound is named, and what is at it is not', () => {
  expect(aboveBound([approve(650_000n), send(300_000n)])).toEqual([])
  expect(aboveBound([approve(650_001n), send(300_000n)])).toEqual([approve(650_001n)])
  expect(aboveBound(glamsterdam)).toEqual([])
  expect(aboveBound([approve(84_500n)], 1)).toEqual([approve(84_500n)])
  expect(aboveBound([approve(6_500_000n)], 100)).toEqual([])
})

describe('F-114: units of each shape', () => {
  test('are those of the release where state is as counted', () => {
    for (const shape of gasShapes) expect(unitsOn(shape, stateAsCounted)).toBe(gasUnits[shape])
    const plain = feesOn([])
    expect(plain.equals(feesOn([approve(46_364n), send(21_000n)]))).toBe(true)
    expect(plain.equals(feesOn(glamsterdam))).toBe(false)
  })

  test('hold each slot and each account that a transaction makes', () => {
    const dearer = dearerStateOf(glamsterdam)
    for (const shape of gasShapes) {
      const { slots, accounts } = newState[shape]
      const more = 75_820n * BigInt(slots) + 183_600n * BigInt(accounts)
      expect(unitsOn(shape, dearer), shape).toBe(gasUnits[shape] + more)
    }
    // Steps, fills, refunds and sweeps: none of them stays at a constant that the fork makes wrong.
    const same = gasShapes.filter((shape) => unitsOn(shape, dearer) === gasUnits[shape])
    expect(same).toEqual(['deposit-native', 'unwrap'])
  })

  test.each([
    ['an approval', { kind: 'approve', isNative: false }, 65_000n + 75_820n],
    ['a deposit of coin', { kind: 'deposit', isNative: true }, 35_000n],
    ['a fill in a token', { kind: 'fill', isNative: false }, 105_000n + 2n * 75_820n],
    ['a fill in coin', { kind: 'fill', isNative: true }, 95_000n + 75_820n + 183_600n],
    ['a refund of coin', { kind: 'refund', isNative: true }, 95_000n + 75_820n + 183_600n],
    ['a sweep of coin', { kind: 'sweep', isNative: true }, 110_000n + 183_600n],
    // The router holds the token between two pools.
    [
      'a swap through two pools',
      { kind: 'swap', isNative: false, hops: 2 },
      280_000n + 140_000n + 5n * 75_820n + 183_600n,
    ],
    [
      'a fill with calls',
      { kind: 'fill', isNative: false, callUnits: 7n },
      105_000n + 2n * 75_820n + 7n + orderCloneUnits + 75_820n + 183_600n,
    ],
  ] as const)('limit and price of %s are made of them', (_what, transaction, units) => {
    const fees = feesOn(glamsterdam)
    expect(fees.unitsOf(transaction)).toBe(units)
    expect(fees.costOf(transaction)).toBe(units)
  })

  test('what a user is expected to use counts the state that it makes, and an account that may be new', () => {
    const writes = { created: 1, cleared: 0, accounts: 0, paysNative: false }
    const approval = { kind: 'approve', isNative: false, writes } as const
    const sending = { kind: 'send-output', isNative: true, writes: { ...writes, created: 0 } } as const
    const more = (transaction: typeof approval | typeof sending) =>
      feesOn(glamsterdam).gasOf(transaction).expected - feesOn([]).gasOf(transaction).expected
    expect([more(approval), more(sending)]).toEqual([75_820n, 183_600n])
  })

  test('calls of an order take what a trial found beyond a fill there, and nothing of it twice', () => {
    const dearer = dearerStateOf(glamsterdam)
    const asked = { isNative: false, hasCalls: true, dearer }
    const fill = unitsOn('fill-erc20', dearer) + orderCloneUnits + 75_820n + 183_600n
    expect(callUnitsOf(fill + 40_000n, asked)).toBe(40_000n)
    expect(callUnitsOf(fill, asked)).toBe(1n)
    const cost = feesOn(glamsterdam).costOf({ kind: 'fill', isNative: false, callUnits: 40_000n })
    expect(cost).toBe(fill + 40_000n)
  })

  test.each([
    ['coin', true, gasUnits['fill-native']],
    ['a token', false, gasUnits['fill-erc20']],
  ] as const)('a fill in %s without calls takes nothing beyond itself', (_what, isNative, plain) => {
    const asked = { isNative, hasCalls: false }
    const trials = [plain - 1n, plain, plain + 7n].map((units) => callUnitsOf(units, asked))
    expect(trials).toEqual([0n, 0n, 7n])
  })
})
