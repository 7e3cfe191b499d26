// Goal: a quote follows the chains within two seconds and by exactly the right amount, and a price that
// its own pools contradict is refused. Method: the real service over chains that stand still; feeds,
// pools and base fees are moved on chain, and the answers are compared with figures computed here.

import { maxBigint } from '@causeway/core'
import { type GasShape, gasUnits } from '@causeway/families/rules'
import { movePrice, setBaseFee } from '@causeway/localnet'
import { type MarketSnapshot, pollIntervalMs } from '@causeway/market'
import { parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { post, price, quote, readError, readOk, send } from './serviceSupport/callService.ts'
import { localRequest } from './serviceSupport/localRequest.ts'
import {
  evmFees,
  gasPriceAfter,
  type StillService,
  startStillService,
} from './serviceSupport/stillService.ts'
import { transactionsOf } from './serviceSupport/transactionsOf.ts'

const gwei = 10n ** 9n
const oneEther = 10n ** 18n
const feedUnit = 10n ** 8n

let still: StillService

beforeAll(async () => {
  still = await startStillService()
})
afterAll(() => still?.stop())

const usdcBridge = () => localRequest(still.network, { amount: 1_000_000_000n })
const etherToUsdc = () =>
  localRequest(still.network, { pay: 'native', receive: 'USDC', amount: 2n * oneEther })

const movedTo = (usd: bigint) => (snapshot: MarketSnapshot) => {
  const now = snapshot.price('ETH/USD')
  if ('reason' in now) return false
  // A pool's price is a square root of 96 bits, which is not exact at the last digits.
  const apart = now.usdX18 - usd * oneEther
  return apart > -(10n ** 12n) && apart < 10n ** 12n
}

function l1FeeWei(chainId: number, shape: GasShape): bigint {
  const market = still.service.market.snapshot().chain(chainId)
  if ('reason' in market) throw new Error(market.reason)
  return evmFees(market.fees).l1DataFeeWei[shape]
}

/** Solver's cost of a USDC payment on optimism, in micro-USD, rounded up. */
function fillCostMicroUsd(baseFeeWei: bigint, etherUsd: bigint): bigint {
  const costWei = gasUnits['fill-erc20'] * gasPriceAfter(baseFeeWei) + l1FeeWei(10, 'fill-erc20')
  const chargedWei = costWei + ceilDivide(costWei, 10n)
  return ceilDivide(chargedWei * etherUsd * 10n ** 6n, oneEther)
}

function ceilDivide(a: bigint, b: bigint): bigint {
  return (a + b - 1n) / b
}

/** At most one unit apart: a price with 18 digits and a rounded one may fall on two sides of a unit. */
function expectWithinOne(actual: bigint, expected: bigint): void {
  const apart = actual > expected ? actual - expected : expected - actual
  expect(apart, `${actual} is not ${expected}`).toBeLessThanOrEqual(1n)
}

/** Refreshes spread by a tenth, so what the first one after a change shows is younger than this. */
const longestIntervalMs = 1.1 * pollIntervalMs({ blockTimeMs: 2_000 })

test('one refresh of each chain comes well within two seconds', async () => {
  const health = await send(`${still.url}/prices/health`)
  expect(readOk(health, z.object({ status: z.string() })).status).toBe('ok')
  expect(longestIntervalMs).toBeLessThan(2_000)
})

describe('base fee', () => {
  test('of the destination: the first refresh after its block prices the fill by it, to the last unit', async () => {
    await still.settle(2n * gwei)
    const before = await price(still.url, usdcBridge())
    expectWithinOne(BigInt(before.fees.relayerGas.amount), fillCostMicroUsd(2n * gwei, 2_500n))

    await setBaseFee(still.network.chains.optimism.chain, 6n * gwei)
    const refreshes = await still.refreshesUntil('optimism', (snapshot) => {
      const market = snapshot.chain(10)
      return !('reason' in market) && evmFees(market.fees).gasPrice.expectedWei === gasPriceAfter(6n * gwei)
    })
    const after = await price(still.url, usdcBridge())

    expect(refreshes).toBeLessThanOrEqual(1)
    expectWithinOne(BigInt(after.fees.relayerGas.amount), fillCostMicroUsd(6n * gwei, 2_500n))
    // Everything else stays, so the recipient gets less by exactly the dearer gas.
    expect(after.fees.relayerService.amount).toBe(before.fees.relayerService.amount)
    expect(BigInt(before.details.currencyOut.amount) - BigInt(after.details.currencyOut.amount)).toBe(
      BigInt(after.fees.relayerGas.amount) - BigInt(before.fees.relayerGas.amount),
    )
  })

  test('of the origin: steps and fees.gas are dearer by exactly their gas, the output stays', async () => {
    await still.settle(2n * gwei)
    const before = await quote(still.url, usdcBridge())
    await setBaseFee(still.network.chains.base.chain, 5n * gwei)
    const refreshes = await still.refreshesUntil('base', (snapshot) => {
      const market = snapshot.chain(8_453)
      return !('reason' in market) && evmFees(market.fees).gasPrice.expectedWei === gasPriceAfter(5n * gwei)
    })
    const after = await quote(still.url, usdcBridge())

    expect(refreshes).toBeLessThanOrEqual(1)
    const limit = transactionsOf(after).reduce((sum, { gas }) => sum + BigInt(gas), 0n)
    expect(limit).toBe(gasUnits.approve + gasUnits['deposit-erc20'])
    const { originGas } = after.details
    expect(originGas?.limit).toBe(limit.toString())
    expect(BigInt(after.fees.gas.amount) - BigInt(before.fees.gas.amount)).toBe(
      BigInt(originGas?.units ?? 0) * (gasPriceAfter(5n * gwei) - gasPriceAfter(2n * gwei)),
    )
    expect(after.details.currencyOut.amount).toBe(before.details.currencyOut.amount)
    expect(BigInt(transactionsOf(after)[0]?.maxFeePerGas ?? 0)).toBeGreaterThan(5n * gwei)
  })
})

describe('feed and pools moved together', () => {
  test.each([
    ['a few percent up', 2_600n, 1],
    // So far from their liquidity pools guard nothing: the feed confirms its own jump by the next refresh.
    ['far up', 4_000n, 2],
    ['far down', 2_500n, 1],
  ])('%s: the next refresh after the move prices by it', async (_name, usd, refreshesMax) => {
    await movePrice(still.network, { price: 'ETH/USD', answer: usd * feedUnit })
    const refreshes = await still.refreshesUntil('base', movedTo(usd))
    expect(refreshes).toBeLessThanOrEqual(refreshesMax)
    await still.settle(3n * gwei)

    const sold = await price(still.url, etherToUsdc())
    const net = 2n * oneEther - BigInt(sold.fees.relayer.amount)
    expectWithinOne(BigInt(sold.details.currencyOut.amount), (net * usd) / 10n ** 12n)

    const bridged = await price(still.url, usdcBridge())
    expectWithinOne(BigInt(bridged.fees.relayerGas.amount), fillCostMicroUsd(3n * gwei, usd))
  })

  test('a swap through the moved pools is what the chain itself quotes', async () => {
    const { chain } = still.network.chains.base
    const { deployment } = still.network
    await movePrice(still.network, { price: 'ETH/USD', answer: 2_700n * feedUnit })
    await still.refreshesUntil('base', movedTo(2_700n))
    const swap = localRequest(still.network, {
      to: 'base',
      pay: 'native',
      receive: 'USDC',
      amount: 3n * oneEther,
    })
    const answered = await quote(still.url, swap)

    const { quoterV2 } = deployment.base.uniswapV3
    const outputs = await Promise.all(
      [500, 3_000].map(async (fee) => {
        const { result } = await chain.client.simulateContract({
          address: quoterV2,
          abi: quoterAbi,
          functionName: 'quoteExactInputSingle',
          args: [
            {
              tokenIn: deployment.base.wrappedNative,
              tokenOut: deployment.base.tokens.USDC,
              amountIn: 3n * oneEther,
              fee,
              sqrtPriceLimitX96: 0n,
            },
          ],
        })
        return result[0]
      }),
    )
    const best = outputs.reduce(maxBigint)
    expect(BigInt(answered.details.currencyOut.amount)).toBe(best)
  })
})

describe('a feed alone beyond the limit', () => {
  test('is refused as a retryable 503 on every route that needs it, and taken back when it returns', async () => {
    await movePrice(still.network, { price: 'ETH/USD', answer: 2_500n * feedUnit })
    await still.refreshesUntil('base', movedTo(2_500n))
    await still.settle(3n * gwei)
    const before = await price(still.url, etherToUsdc())

    await movePrice(still.network, { price: 'ETH/USD', answer: 2_750n * feedUnit, only: 'feed' })
    const refreshes = await still.refreshesUntil('base', (snapshot) => 'reason' in snapshot.price('ETH/USD'))
    expect(refreshes).toBeLessThanOrEqual(1)

    const weth = localRequest(still.network, { pay: 'wrapped', receive: 'native', amount: oneEther })
    const refused = await Promise.all([
      post(`${still.url}/price`, etherToUsdc()),
      post(`${still.url}/quote`, etherToUsdc()),
      post(`${still.url}/quote/v2`, weth),
      // Its own prices are good, but the fill's gas cannot be valued.
      post(`${still.url}/price`, usdcBridge()),
      send(`${still.url}/currencies/token/price/v2?chainId=10&address=0x${'0'.repeat(40)}`),
    ])
    for (const answer of refused) {
      expect(answer.status).toBe(503)
      expect(answer.headers.get('retry-after')).toBe('1')
      expect(readError(answer)).toEqual({
        message: expect.stringContaining('ETH/USD'),
        errorCode: 'PRICE_FETCH_FAILED',
        statusCode: 503,
        retryable: true,
      })
    }

    await movePrice(still.network, { price: 'ETH/USD', answer: 2_500n * feedUnit, only: 'feed' })
    expect(await still.refreshesUntil('base', movedTo(2_500n))).toBeLessThanOrEqual(1)
    await still.settle(3n * gwei)
    const after = await price(still.url, etherToUsdc())
    expect(after.details.currencyOut.amount).toBe(before.details.currencyOut.amount)
  })
})

describe('pools alone moved by 3.5 % on chain', () => {
  const tide = 10n ** 18n
  const buyTide = () =>
    localRequest(still.network, {
      receive: 'TIDE',
      amount: 2_500n * tide,
      more: { tradeType: 'EXACT_OUTPUT' },
    })
  const sellTide = () => localRequest(still.network, { pay: 'TIDE', receive: 'USDC', amount: 250n * tide })

  /** Feed and pools go to a price, and the feed comes back without them. */
  async function movePoolsTo(answer: bigint): Promise<void> {
    await movePrice(still.network, { price: 'TIDE/USD', answer })
    await movePrice(still.network, { price: 'TIDE/USD', answer: 4n * feedUnit, only: 'feed' })
    const target = await still.network.chains.base.chain.client.getBlockNumber()
    await still.refreshesUntil('base', (snapshot) => {
      const [market, price] = [snapshot.chain(8_453), snapshot.price('TIDE/USD')]
      return (
        !('reason' in market) &&
        market.head.number >= target &&
        'usdX18' in price &&
        price.usdX18 === 4n * tide
      )
    })
  }

  test('upwards, they are no discount, and stop no quote of other assets', async () => {
    await still.settle(3n * gwei)
    const before = await price(still.url, usdcBridge())
    await movePoolsTo((414n * feedUnit) / 100n)
    await still.settle(3n * gwei)
    const sold = await price(still.url, sellTide())
    // 250 TIDE are 1,000 USDC at the agreed price; the pools give 1,031.
    expect(BigInt(sold.details.currencyOut.amount)).toBeLessThan(1_035_000_000n)
    const after = await price(still.url, usdcBridge())
    expectWithinOne(BigInt(after.details.currencyOut.amount), BigInt(before.details.currencyOut.amount))
  })

  test('downwards, an exact output costs its agreed price, and selling is refused until they are back', async () => {
    await movePoolsTo((386n * feedUnit) / 100n)
    await still.settle(3n * gwei)
    const bought = await price(still.url, buyTide())
    expect(BigInt(bought.details.currencyIn.amount)).toBeGreaterThanOrEqual(10_000n * 10n ** 6n)
    const refused = await post(`${still.url}/price`, sellTide())
    expect(readError(refused)).toMatchObject({ errorCode: 'PRICE_FETCH_FAILED', retryable: true })
    await movePoolsTo(4n * feedUnit)
    expect(await price(still.url, sellTide())).toHaveProperty('details')
  })
})

const quoterAbi = parseAbi([
  'struct Single { address tokenIn; address tokenOut; uint256 amountIn; uint24 fee; uint160 sqrtPriceLimitX96; }',
  'function quoteExactInputSingle(Single params) returns (uint256, uint160, uint32, uint256)',
])
