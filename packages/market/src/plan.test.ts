// Goal: names in the quote file are resolved once, and what points nowhere is refused at start.
import { ConfigurationError } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import {
  native,
  quoteFile,
  quoteFileInput,
  usdc,
  usdcFeed,
  weth,
  wethUsdcPool,
} from '../test/support/fixtures.ts'
import { planMarket } from './plan.ts'

const [ethPrice, usdcPrice] = quoteFileInput.prices

function withPool(pool: { chain: string; pool: string; token: string }) {
  return quoteFile((input) => ({ ...input, prices: [{ ...ethPrice, pools: [pool] }, usdcPrice] }))
}

/** The file where base lists this currency alone. */
function withCurrencies(symbol: string) {
  return quoteFile((input) => {
    const { base } = input.chains
    const currencies = base.currencies.filter((currency) => currency.symbol === symbol)
    return { ...input, chains: { ...input.chains, base: { ...base, currencies } } }
  })
}

describe('planMarket', () => {
  test('reads feeds, pools and solver balances where configuration says', () => {
    const plan = planMarket(quoteFile())
    expect(plan.chains.map(({ chainKey, feeds }) => [chainKey, feeds.length])).toEqual([
      ['base', 2],
      ['optimism', 0],
    ])
    expect(plan.chains[0]?.balances).toEqual([
      { key: `8453:${native}`, token: undefined },
      { key: `8453:${usdc}`, token: usdc },
    ])
    expect(plan.prices[0]?.pools).toEqual([
      {
        source: `pool base ${wethUsdcPool}`,
        chainKey: 'base',
        pool: wethUsdcPool,
        token: weth,
        tokenDecimals: 18,
        quoteDecimals: 6,
        quoteKey: 'USDC/USD',
      },
    ])
  })

  test('lets the wrapped native token count as the native currency when it is not listed', () => {
    const plan = planMarket(withPool({ chain: 'base', pool: wethUsdcPool, token: usdc }))
    expect(plan.prices[0]?.pools[0]).toMatchObject({
      tokenDecimals: 6,
      quoteDecimals: 18,
      quoteKey: 'ETH/USD',
    })
  })

  test('reads a feed that two prices share once', () => {
    const shared = { ...ethPrice, key: 'WETH/USD', pools: [] }
    const plan = planMarket(quoteFile((input) => ({ ...input, prices: [...input.prices, shared] })))
    expect(plan.chains[0]?.feeds).toHaveLength(2)
  })

  test('reads only feeds and priced pools of a chain that is not enabled', () => {
    const spare = {
      address: `0x${'bb'.repeat(20)}`,
      token0: weth,
      token1: usdc,
      feePips: 3_000,
      tickSpacing: 60,
    }
    const plan = planMarket(
      quoteFile((input) => {
        const { base, optimism } = input.chains
        const uniswapV3 = { ...base.uniswapV3, pools: [...base.uniswapV3.pools, spare] }
        return { ...input, chains: { base: { ...base, uniswapV3, enabled: false }, optimism } }
      }),
    )
    expect(plan.chains[0]).toMatchObject({
      quotable: false,
      balances: [],
      pools: [{ address: wethUsdcPool }],
    })
    expect(plan.chains[1]).toMatchObject({ quotable: true })
  })

  const pool = { chain: 'base', pool: wethUsdcPool, token: weth }
  test.each([
    ['a pool on an unlisted chain', withPool({ ...pool, chain: 'moon' }), 'the chain is not listed'],
    ['an unlisted pool', withPool({ ...pool, pool: usdcFeed }), 'it is not among the pools'],
    ['a token that the pool does not hold', withPool({ ...pool, token: usdcFeed }), 'it does not hold'],
    [
      'a feed on an unlisted chain',
      quoteFile((input) => ({
        ...input,
        prices: [{ ...ethPrice, feeds: [{ ...ethPrice?.feeds[0], chain: 'moon' }] }, usdcPrice],
      })),
      'its feed chain moon is not listed',
    ],
    [
      'a pool whose token is no currency',
      quoteFile((input) => ({
        ...input,
        chains: { ...input.chains, base: { ...input.chains.base, currencies: [] } },
      })),
      'one of its tokens is no listed currency',
    ],
    [
      'a pool of a token that is no currency',
      withCurrencies('USDC'),
      'one of its tokens is no listed currency',
    ],
    [
      'a pool whose other token is no currency',
      withCurrencies('ETH'),
      'one of its tokens is no listed currency',
    ],
    [
      'a pool on a chain without any',
      quoteFile((input) => {
        const { uniswapV3: _, ...base } = input.chains.base
        return { ...input, chains: { ...input.chains, base } }
      }),
      'it is not among the pools',
    ],
    [
      'a pool whose other token has no price',
      quoteFile((input) => ({ ...input, prices: [ethPrice] })),
      'its other token USDC has no price',
    ],
    [
      'an op-stack chain without its gas price oracle',
      quoteFile((input) => ({
        ...input,
        chains: { ...input.chains, base: { ...input.chains.base, feeModel: { kind: 'op-stack' } } },
      })),
      'base: an op-stack chain needs feeModel.gasPriceOracle',
    ],
    [
      'an arbitrum chain without its gas price oracle',
      quoteFile((input) => ({
        ...input,
        chains: { ...input.chains, base: { ...input.chains.base, feeModel: { kind: 'arbitrum' } } },
      })),
      'base: an arbitrum chain needs feeModel.gasPriceOracle',
    ],
    [
      'a price that has pools alone',
      quoteFile((input) => ({ ...input, prices: [{ ...ethPrice, feeds: [], http: [] }, usdcPrice] })),
      'ETH/USD: pools guard a price and make none',
    ],
    [
      'a key that is listed twice',
      quoteFile((input) => ({ ...input, prices: [ethPrice, ethPrice, usdcPrice] })),
      'a key is listed twice',
    ],
  ])('refuses %s', (_name, file, complaint) => {
    expect(() => planMarket(file)).toThrow(ConfigurationError)
    expect(() => planMarket(file)).toThrow(complaint)
  })
})
