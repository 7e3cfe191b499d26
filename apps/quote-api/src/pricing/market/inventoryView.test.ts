// Goal: skews, rewards and payable amounts are read from what the solver has, by asset and chain, and from nothing that
// is not known. Method: whole views, beside the same inventory written out by hand.
import { currencyKey } from '@causeway/core'
import { expect, test } from 'vitest'
import {
  chainA,
  chainB,
  e18,
  examplePrices,
  native,
  testChainMarket,
  testChains,
  testConfig,
  testSnapshot,
  usdc,
  usdPrice,
  weth,
} from '../../../test/fixtures/market.ts'
import { createRegistry, type QuoteRegistry } from '../registry.ts'
import { assetInventory } from './inventory.ts'
import { createInventoryViews, type Floors } from './inventoryView.ts'

const parameters = { kappaBps: 20n, rewardCapBps: 10n, maxSkewBps: 100n, reserveBps: 500n }

/** The solver keeps wrapped coin too, which does not become coin by itself on the second chain. No USDC there. */
function registryOfSides(): QuoteRegistry {
  const file = testConfig({ kappaBps: 20 })
  const chains = Object.entries(file.chains).map(([key, chain]) => {
    const currencies = chain.currencies.map((currency) => {
      if (currency.address === weth) return { ...currency, solver: true, targetShareBps: 1_000 }
      return currency.address === usdc && key === 'local-b' ? { ...currency, solver: false } : currency
    })
    return [key, { ...chain, currencies }]
  })
  const registry = createRegistry({ ...file, chains: Object.fromEntries(chains) }, testChains)
  return {
    ...registry,
    chains: registry.chains.map((chain) =>
      chain.chainId === chainB ? { ...chain, quoting: { ...chain.quoting, keepsSides: true } } : chain,
    ),
  }
}

const registry = registryOfSides()
const assetOf = (id: string) => {
  const currencies = registry.chains.flatMap((chain) => [...chain.currencies.values()])
  const asset = currencies.find((currency) => currency.asset.id === id)?.asset
  if (asset === undefined) throw new Error(`no asset ${id}`)
  return asset
}
const [eth, usdcAsset] = [assetOf('eth'), assetOf('usdc')]
const stock = (ofEth: bigint, ofWeth: bigint, ofUsdc: bigint) => ({
  inventory: { [native]: ofEth * e18, [weth]: ofWeth * e18, [usdc]: ofUsdc * 10n ** 6n },
})
const dollars = (whole: bigint) => whole * e18

test('Q-82, Q-132: an asset is valued by chain with targets and floors, and by currency where sides are kept', () => {
  const snapshot = testSnapshot({
    chains: [testChainMarket(chainA, stock(3n, 1n, 700n)), testChainMarket(chainB, stock(5n, 2n, 300n))],
  })
  const floors: Floors = new Map([
    [currencyKey(chainA, weth), e18 / 5n],
    [currencyKey(chainB, native), e18],
    [currencyKey(chainB, weth), 3n * e18],
  ])
  const view = createInventoryViews(registry, () => floors)(snapshot)
  expect(view(eth)).toEqual(
    assetInventory(parameters, [
      { chainId: chainA, balanceUsd: dollars(10_000n), shareBps: 6_000n, floorUsd: dollars(500n) },
      {
        chainId: chainB,
        balanceUsd: dollars(17_500n),
        shareBps: 6_000n,
        floorUsd: dollars(10_000n),
        payableByCurrency: new Map([
          [currencyKey(chainB, native), dollars(10_000n)],
          [currencyKey(chainB, weth), 0n],
        ]),
      },
    ]),
  )
  expect(view(usdcAsset)).toEqual(
    assetInventory(parameters, [
      { chainId: chainA, balanceUsd: dollars(700n), shareBps: 5_000n, floorUsd: 0n },
    ]),
  )
})

test('Q-83: a balance that cannot be read is unknown, and a chain without prices is left out', () => {
  const known = testChainMarket(chainB, { inventory: { [native]: e18 } })
  const view = createInventoryViews(registry)(
    testSnapshot({ chains: [{ chainId: chainA, refusal: { reason: 'stale_head' } }, known] }),
  )
  expect([view(eth)?.chains.size, view(eth)?.unknownChains]).toEqual([0, new Set([chainB])])
  expect(view(assetOf('usdx'))).toBeUndefined()
  const unpriced = testSnapshot({ prices: { ...examplePrices, 'ETH/USD': { reason: 'no_source' } } })
  expect(createInventoryViews(registry)(unpriced)(eth)).toBeUndefined()
})

test('a view is kept until the market or a floor changes', () => {
  let floors: Floors = new Map()
  const views = createInventoryViews(registry, () => floors)
  const prices = { ...examplePrices, 'USDC/USD': usdPrice(2n * e18) }
  const [snapshot, later] = [testSnapshot({}), testSnapshot({ prices })]
  const view = views(snapshot)
  expect(views(snapshot)).toBe(view)
  expect(view(usdcAsset)).toBe(view(usdcAsset))
  expect(views(later)(usdcAsset)?.totalUsd).toBe(2n * (view(usdcAsset)?.totalUsd ?? 0n))
  floors = new Map([[currencyKey(chainA, usdc), 5n * 10n ** 6n]])
  expect(views(later)(usdcAsset)?.chains.get(chainA)?.floorUsd).toBe(dollars(10n))
})
