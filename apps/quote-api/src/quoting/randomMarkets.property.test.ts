// Goal: over random markets (prices, decimals 0 to 24, pools, gas), amounts from 1 unit to 2^128 and all
// trade types, an accepted price satisfies the identity of design 4 to the last unit, and never promises
// what its legs do not give. Refusals are typed.
import { DomainError, type Hex, type PoolState, quoteFileSchema } from '@causeway/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  chainA,
  chainB,
  e18,
  recipient,
  testChainMarket,
  testChains,
  testSnapshot,
  usdPrice,
  user,
} from '../../test/fixtures/market.ts'
import { systemClock } from '../market/clock.ts'
import { createInventoryViews } from './inventoryView.ts'
import { createPoolLegQuoter } from './poolLegQuoter.ts'
import type { PricedRoute } from './pricedRoute.ts'
import { priceRequest } from './priceRequest.ts'
import { createRegistry } from './registry.ts'
import { type QuoteRequest, tradeTypes } from './request.ts'

const address = (hex: string): Hex => `0x${hex.padStart(40, '0')}`
const native = address('0')
const weth = address('c2')
const held = address('a1')
const other = address('b1')
const zeroHash: Hex = `0x${'0'.repeat(64)}`

type Market = {
  heldDecimals: number
  otherDecimals: number
  heldUsd: bigint
  otherUsd: bigint
  nativeUsd: bigint
  gasWei: bigint
  liquidityUsd: bigint
  feePips: number
  stock: bigint
}

const market: fc.Arbitrary<Market> = fc.record({
  heldDecimals: fc.integer({ min: 0, max: 24 }),
  otherDecimals: fc.integer({ min: 0, max: 24 }),
  heldUsd: fc.bigInt({ min: 10n ** 14n, max: 10n ** 23n }),
  otherUsd: fc.bigInt({ min: 10n ** 14n, max: 10n ** 23n }),
  nativeUsd: fc.bigInt({ min: 10n ** 17n, max: 10n ** 22n }),
  gasWei: fc.bigInt({ min: 1n, max: 10n ** 11n }),
  liquidityUsd: fc.bigInt({ min: 10n ** 5n, max: 10n ** 10n }),
  feePips: fc.constantFrom(100, 500, 3_000, 10_000),
  stock: fc.bigInt({ min: 10n ** 4n, max: 10n ** 12n }),
})

const request = fc.record({
  path: fc.constantFrom('direct', 'swap-in', 'swap-out', 'both'),
  tradeType: fc.constantFrom(...tradeTypes),
  /** Spread over the orders of magnitude up to 2^128. */
  amountBits: fc.integer({ min: 0, max: 128 }),
  amountNoise: fc.bigInt({ min: 0n, max: 2n ** 128n }),
  usdScaled: fc.option(fc.bigInt({ min: 1n, max: 10n ** 6n }), { nil: undefined, freq: 3 }),
  slippageBps: fc.option(fc.bigInt({ min: 0n, max: 1_000n }), { nil: undefined }),
  appFees: fc.array(fc.bigInt({ min: 0n, max: 300n }), { maxLength: 3 }),
  topupGas: fc.boolean(),
})

/** Integer square root, for the price of a pool. */
function sqrt(value: bigint): bigint {
  if (value < 2n) return value
  let guess = 1n << BigInt((value.toString(2).length + 1) >> 1)
  for (;;) {
    const next = (guess + value / guess) >> 1n
    if (next >= guess) return guess
    guess = next
  }
}

/** A full-range pool of `other` and `held` at their market price, or undefined beyond the price range. */
function poolAtMarket(m: Market): PoolState | undefined {
  // held (token0, lower address) priced in other (token1), smallest units.
  const ratioX192 =
    (m.heldUsd * 10n ** BigInt(m.otherDecimals) * 2n ** 192n) / (m.otherUsd * 10n ** BigInt(m.heldDecimals))
  const sqrtPriceX96 = sqrt(ratioX192)
  if (sqrtPriceX96 < 2n ** 40n || sqrtPriceX96 > 2n ** 150n) return undefined
  const tick = Math.floor((Math.log(Number(sqrtPriceX96) / 2 ** 96) * 2) / Math.log(1.0001))
  const amount0 = (m.liquidityUsd * 10n ** BigInt(m.heldDecimals) * e18) / m.heldUsd
  const liquidity = (amount0 * sqrtPriceX96) >> 96n
  if (liquidity === 0n || liquidity >= 2n ** 120n) return undefined
  return {
    address: address('f9'),
    token0: held,
    token1: other,
    feePips: m.feePips,
    tickSpacing: 60,
    sqrtPriceX96,
    tick,
    liquidity,
    ticks: [
      { index: -887_220, liquidityNet: liquidity },
      { index: 887_220, liquidityNet: -liquidity },
    ],
    blockHash: zeroHash,
  }
}

function config(m: Market) {
  const currency = (at: Hex, symbol: string, decimals: number, asset: string, solver: boolean) => ({
    address: at,
    symbol,
    name: symbol,
    decimals,
    asset,
    solver,
    source: 'test',
    ...(solver && { targetShareBps: 5_000 }),
  })
  const chain = (chainId: number, name: string) => ({
    chainId,
    name,
    displayName: name,
    blockTimeMs: 1_000,
    headMaxAgeMs: 15_000,
    multicall3: address('e0'),
    wrappedNative: weth,
    depositRouter: address('d2'),
    fillContract: address('d3'),
    feeModel: { kind: 'eip1559' },
    pinPolicy: [{ confirmations: 1 }],
    uniswapV3: {
      factory: address('e1'),
      quoterV2: address('e2'),
      swapRouter: address('d4'),
      source: 'test',
      pools: [{ address: address('f9'), token0: held, token1: other, feePips: m.feePips, tickSpacing: 60 }],
    },
    currencies: [
      currency(native, 'GAS', 18, 'gas', true),
      currency(held, 'HELD', m.heldDecimals, 'held', true),
      currency(other, 'OTHER', m.otherDecimals, 'other', false),
    ],
  })
  const inventory = { kappaBps: 20, rewardCapBps: 10, maxSkewBps: 100, reserveBps: 500 }
  const asset = (id: string, more: object = {}) => ({
    id,
    class: 'major',
    priceKey: `${id.toUpperCase()}/USD`,
    ...more,
  })
  return quoteFileSchema.parse({
    environment: 'local',
    servers: [],
    schedule: { flatMicroUsd: '20000', sameAssetBps: 0, stableBps: 1, majorBps: 6, longtailBps: 15 },
    orderLifetimeSeconds: 600,
    quoteLifetimeSeconds: 60,
    swapImpactMaxBps: 500,
    rateLimits: { perKeyPerSecond: 0, perIpPerSecond: 0 },
    assets: [asset('gas', { inventory }), asset('held', { inventory }), asset('other')],
    prices: [],
    chains: { 'local-a': chain(chainA, 'local-a'), 'local-b': chain(chainB, 'local-b') },
  })
}

async function attempt(m: Market, r: QuoteRequest): Promise<PricedRoute | DomainError> {
  const file = config(m)
  const registry = createRegistry(file, testChains)
  const pool = poolAtMarket(m)
  const stockOf = (usd: bigint, decimals: number) => (m.stock * e18 * 10n ** BigInt(decimals)) / usd
  const chain = (chainId: number) =>
    testChainMarket(chainId, {
      expectedWei: m.gasWei,
      pools: pool === undefined ? [] : [pool],
      inventory: { [native]: stockOf(m.nativeUsd, 18), [held]: stockOf(m.heldUsd, m.heldDecimals) },
    })
  const snapshot = testSnapshot({
    prices: {
      'GAS/USD': usdPrice(m.nativeUsd),
      'HELD/USD': usdPrice(m.heldUsd),
      'OTHER/USD': usdPrice(m.otherUsd),
    },
    chains: [chain(chainA), chain(chainB)],
  })
  try {
    const { amounts } = await priceRequest(
      {
        registry,
        schedule: file.schedule,
        swapImpactMaxBps: file.swapImpactMaxBps,
        snapshot: () => snapshot,
        inventoryView: createInventoryViews(registry),
        legQuoter: createPoolLegQuoter(async () => undefined),
        userFacts: async () => ({}),
        simulateCalls: async () => 0n,
        clock: systemClock,
      },
      r,
    )
    return amounts
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
}

function toRequest(m: Market, r: typeof request extends fc.Arbitrary<infer T> ? T : never): QuoteRequest {
  const swapsIn = r.path === 'swap-in' || r.path === 'both'
  const swapsOut = r.path === 'swap-out' || r.path === 'both'
  const basis = r.tradeType === 'EXACT_INPUT' ? swapsIn : swapsOut
  const [usd, decimals] = basis ? [m.otherUsd, m.otherDecimals] : [m.heldUsd, m.heldDecimals]
  const amount =
    r.usdScaled === undefined
      ? (r.amountNoise & ((1n << BigInt(r.amountBits)) - 1n)) + 1n
      : (r.usdScaled * e18 * 10n ** BigInt(decimals)) / usd + 1n
  return {
    user,
    recipient,
    originChainId: chainA,
    destinationChainId: chainB,
    originCurrency: swapsIn ? other : held,
    destinationCurrency: swapsOut ? other : held,
    amount,
    tradeType: r.tradeType,
    txs: [],
    txsGasLimit: undefined,
    refundTo: undefined,
    topupGas: r.topupGas,
    topupGasMicroUsd: 2_000_000n,
    appFees: r.appFees.map((bps) => ({ recipient: address('a'), bps })),
    slippageBps: r.slippageBps,
    usePermit: false,
    useDepositAddress: false,
    explicitDeposit: true,
    forceSolverExecution: false,
    overridePriceImpact: true,
  }
}

function checkPriced(priced: PricedRoute, asked: QuoteRequest): void {
  const { split, solver, originLeg, destinationLeg } = priced
  expect(split.amountIn).toBe(split.net + split.relayer + split.app - split.subsidized)
  expect(split.relayer).toBe(split.relayerGas + split.relayerService)
  expect(split.app).toBe(split.appFees.reduce((sum, fee) => sum + fee, 0n))
  expect(split.net).toBeGreaterThan(0n)
  expect(priced.amountOut).toBeGreaterThan(0n)
  expect(priced.amountOutMin).toBeLessThanOrEqual(priced.amountOut)
  expect(priced.amountInMax).toBeGreaterThanOrEqual(priced.amountIn)
  if (asked.tradeType === 'EXACT_INPUT') expect(priced.amountIn).toBe(asked.amount)
  else expect(priced.amountOut).toBe(asked.amount)
  if (asked.tradeType === 'EXACT_OUTPUT') expect(priced.amountOutMin).toBe(asked.amount)
  if (originLeg === undefined) expect(priced.amountIn).toBe(split.amountIn)
  else expect(originLeg.amountOut).toBeGreaterThanOrEqual(split.amountIn)
  if (destinationLeg !== undefined) expect(destinationLeg.amountOut).toBeGreaterThanOrEqual(priced.amountOut)
  expect(solver?.depositAmount).toBeLessThanOrEqual(split.amountIn)
  expect((solver?.refundMinimum ?? 0n) * 20n).toBeGreaterThanOrEqual((solver?.depositAmount ?? 0n) * 19n)
}

describe('accepted prices over random markets', () => {
  test('satisfy the identity, for every path and trade type, often enough to mean something', async () => {
    const accepted = new Map<string, number>()
    let tried = 0
    await fc.assert(
      fc.asyncProperty(market, request, async (m, r) => {
        tried += 1
        const asked = toRequest(m, r)
        const outcome = await attempt(m, asked)
        if (outcome instanceof DomainError) return
        checkPriced(outcome, asked)
        const kind = `${r.path} ${r.tradeType}`
        accepted.set(kind, (accepted.get(kind) ?? 0) + 1)
      }),
      { numRuns: 3_000, endOnFailure: true },
    )
    expect(tried).toBe(3_000)
    for (const path of ['direct', 'swap-in', 'swap-out', 'both']) {
      for (const tradeType of tradeTypes) {
        expect(accepted.get(`${path} ${tradeType}`) ?? 0, `${path} ${tradeType}`).toBeGreaterThan(15)
      }
    }
  })

  test('an exact input priced back as an exact output never costs more', async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(market, request, async (m, r) => {
        const forward = toRequest(m, { ...r, tradeType: 'EXACT_INPUT', path: 'direct' })
        const out = await attempt(m, forward)
        if (out instanceof DomainError) return
        const back = await attempt(m, { ...forward, tradeType: 'EXACT_OUTPUT', amount: out.amountOut })
        if (back instanceof DomainError) return
        compared += 1
        expect(back.amountIn).toBeLessThanOrEqual(forward.amount)
      }),
      { numRuns: 500, endOnFailure: true },
    )
    expect(compared).toBeGreaterThan(50)
  })
})
