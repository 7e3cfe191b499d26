// Goal: the inventory fee rewards what improves the distribution, and nobody earns by going in circles.
import { currencyKey } from '@causeway/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AssetInventory,
  assetInventory,
  type InventoryParameters,
  payableUsd,
  skewCostUsd,
} from './inventory.ts'

const usd = 10n ** 18n
const parameters: InventoryParameters = {
  kappaBps: 20n,
  rewardCapBps: 10n,
  maxSkewBps: 100n,
  reserveBps: 500n,
}

type State = Map<string, Map<number, bigint>>
const assets = ['usdc', 'eth', 'usdx']
const chainIds = [8453, 10, 42]
const shares: Record<number, bigint> = { 8453: 5_000n, 10: 3_000n, 42: 2_000n }

function view(state: State, asset: string): AssetInventory {
  const balances = state.get(asset) ?? new Map<number, bigint>()
  return assetInventory(
    parameters,
    [...balances].map(([chainId, balanceUsd]) => ({ chainId, balanceUsd, shareBps: shares[chainId] ?? 0n })),
  )
}

type Place = { asset: string; chainId: number }

/** Cost of moving `amount` USD from one place to another, and the state after it. */
function move(state: State, from: Place, to: Place, amount: bigint): { cost: bigint; after: State } {
  const paying = view(state, to.asset)
  const receiving = from.asset === to.asset ? paying : view(state, from.asset)
  const cost = skewCostUsd(
    { asset: receiving, chainId: from.chainId, deltaUsd: amount },
    { asset: paying, chainId: to.chainId, deltaUsd: -amount },
  )
  const after: State = new Map([...state].map(([asset, balances]) => [asset, new Map(balances)]))
  const change = (place: Place, delta: bigint) => {
    const balances = after.get(place.asset)
    balances?.set(place.chainId, (balances.get(place.chainId) ?? 0n) + delta)
  }
  change(from, amount)
  change(to, -amount)
  return { cost, after }
}

const stateArbitrary = fc
  .array(fc.bigInt({ min: 1_000n, max: 10_000_000n }), { minLength: 9, maxLength: 9 })
  .map(
    (values): State =>
      new Map(
        assets.map((asset, row) => [
          asset,
          new Map(chainIds.map((chainId, column) => [chainId, (values[row * 3 + column] ?? 0n) * usd])),
        ]),
      ),
  )
const place = fc.record({ asset: fc.constantFrom(...assets), chainId: fc.constantFrom(...chainIds) })

describe('inventory potential', () => {
  test('charges the emptying direction and rewards the reverse', () => {
    const balanced: State = new Map([
      [
        'usdc',
        new Map([
          [8453, 500_000n * usd],
          [10, 300_000n * usd],
          [42, 200_000n * usd],
        ]),
      ],
    ])
    const here = { asset: 'usdc', chainId: 8453 }
    const there = { asset: 'usdc', chainId: 10 }
    const first = move(balanced, here, there, 20_000n * usd)
    const second = move(first.after, here, there, 20_000n * usd)
    expect(first.cost).toBeGreaterThan(0n)
    expect(second.cost).toBeGreaterThan(first.cost)
    expect(move(second.after, there, here, 20_000n * usd).cost).toBeLessThan(0n)
  })

  test('no closed loop of three earns anything, over 10,000 random states', () => {
    fc.assert(
      fc.property(
        stateArbitrary,
        place,
        place,
        place,
        fc.bigInt({ min: 1n, max: 500_000n }),
        (state, a, b, c, dollars) => {
          let total = 0n
          let current = state
          for (const [from, to] of [
            [a, b],
            [b, c],
            [c, a],
          ] as const) {
            const step = move(current, from, to, dollars * usd)
            total += step.cost
            current = step.after
          }
          expect(total).toBeGreaterThanOrEqual(-10n)
        },
      ),
      { numRuns: 10_000 },
    )
  })

  test('splitting a move gains nothing', () => {
    fc.assert(
      fc.property(
        stateArbitrary,
        place,
        place,
        fc.bigInt({ min: 2n, max: 100_000n }),
        (state, from, to, dollars) => {
          const whole = move(state, from, to, 2n * dollars * usd).cost
          const first = move(state, from, to, dollars * usd)
          const second = move(first.after, from, to, dollars * usd)
          expect(first.cost + second.cost).toBeGreaterThanOrEqual(whole - 10n)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('a reward never exceeds its rate', () => {
    fc.assert(
      fc.property(
        stateArbitrary,
        place,
        place,
        fc.bigInt({ min: 1n, max: 500_000n }),
        (state, from, to, dollars) => {
          const cap = (dollars * usd * parameters.rewardCapBps) / 10_000n
          expect(move(state, from, to, dollars * usd).cost).toBeGreaterThanOrEqual(-cap)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('the reserve is never paid out', () => {
    const state: State = new Map([['usdc', new Map([[10, 1_000n * usd]])]])
    const key = currencyKey(10, 'a')
    expect(payableUsd(view(state, 'usdc'), { chainId: 10, key })).toBe(950n * usd)
    expect(payableUsd(view(state, 'usdc'), { chainId: 8453, key })).toBe(0n)
  })

  test.each([
    [20n, 950n],
    [100n, 900n],
    [2_000n, 0n],
  ])('Q-132: of reserve and floor, here %i, the larger one is not paid out', (floor, payable) => {
    const asset = assetInventory(parameters, [
      { chainId: 10, balanceUsd: 1_000n * usd, shareBps: 1n, floorUsd: floor * usd },
    ])
    expect(payableUsd(asset, { chainId: 10, key: currencyKey(10, 'a') })).toBe(payable * usd)
  })

  test('Q-82: a side of an account pays what lies on it, and nothing of the other side', () => {
    const [perps, spot] = [currencyKey(1337, 'perps'), currencyKey(1337, 'spot')]
    const payableByCurrency = new Map([
      [perps, 900n * usd],
      [spot, 100n * usd],
    ])
    const asset = assetInventory(parameters, [
      { chainId: 1337, balanceUsd: 1_000n * usd, shareBps: 1n, payableByCurrency },
    ])
    expect(payableUsd(asset, { chainId: 1337, key: spot })).toBe(100n * usd)
    expect(payableUsd(asset, { chainId: 1337, key: perps })).toBe(900n * usd)
  })
})
