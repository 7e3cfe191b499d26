import { describe, expect, it } from 'vitest'
import { testDeployment } from '../testDeployment.ts'
import { poolsPricedBy, pricedTokens, targetSqrtPriceX96, unitsWorth } from './poolTarget.ts'

const { base } = testDeployment()
const tokens = pricedTokens(base)
const { pools } = base.uniswapV3
const answers = {
  'ETH/USD': 2_500n * 10n ** 8n,
  'USDC/USD': 10n ** 8n,
  'USDX/USD': 10n ** 8n,
  'TIDE/USD': 4n * 10n ** 8n,
  'SOL/USD': 150n * 10n ** 8n,
  'BTC/USD': 100_000n * 10n ** 8n,
  'TRX/USD': 25_000_000n,
}

describe('poolsPricedBy', () => {
  it('finds the pools in which the price decides either side', () => {
    const addresses = (price: keyof typeof answers) =>
      poolsPricedBy(price, { pools, tokens }).map(({ pool }) => pool.address)
    const [ethUsdc, usdcUsdx, tideEth] = pools.map(({ address }) => address)
    expect(addresses('ETH/USD')).toEqual([ethUsdc, tideEth])
    expect(addresses('USDC/USD')).toEqual([ethUsdc, usdcUsdx])
    expect(addresses('USDX/USD')).toEqual([usdcUsdx])
    expect(addresses('TIDE/USD')).toEqual([tideEth])
  })

  it('refuses a pool of a token without feed', () => {
    expect(() => poolsPricedBy('ETH/USD', { pools, tokens: tokens.slice(1) })).toThrow('no feed prices')
  })
})

describe('targetSqrtPriceX96', () => {
  const [ethUsdc, usdcUsdx, tideEth] = poolsPricedBy('USDC/USD', { pools, tokens }).concat(
    poolsPricedBy('TIDE/USD', { pools, tokens }),
  )

  it('is the square root of the ratio of what the smallest units are worth', () => {
    if (ethUsdc === undefined || usdcUsdx === undefined || tideEth === undefined)
      throw new Error('three pools')
    // 2,500 USDC per ETH: 2,500·10⁶ / 10¹⁸ = 25 / 10¹⁰, whose root is 5 / 10⁵.
    expect(targetSqrtPriceX96(ethUsdc, answers)).toBe((5n * 2n ** 96n) / 10n ** 5n)
    expect(targetSqrtPriceX96(usdcUsdx, answers)).toBe(2n ** 96n)
    // 4 / 2,500 ETH per TIDE, both with 18 decimals: the root is 4 / 100.
    expect(targetSqrtPriceX96(tideEth, answers)).toBe((4n * 2n ** 96n) / 100n)
  })

  it('refuses prices that no pool can have', () => {
    if (ethUsdc === undefined) throw new Error('a pool')
    expect(() => targetSqrtPriceX96(ethUsdc, { ...answers, 'ETH/USD': 0n })).toThrow(RangeError)
  })
})

describe('unitsWorth', () => {
  it('counts smallest units and rounds down', () => {
    const [weth, usdc] = tokens
    if (weth === undefined || usdc === undefined) throw new Error('two tokens')
    expect(unitsWorth(usdc, 7n, answers)).toBe(7_000_000n)
    expect(unitsWorth(weth, 1n, { ...answers, 'ETH/USD': 3n * 10n ** 8n })).toBe(333_333_333_333_333_333n)
  })
})
