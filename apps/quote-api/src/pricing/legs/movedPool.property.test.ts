// Goal: a pool that is moved, up or down, for a block or for minutes, earns nobody more than moving it costs.
// Method: random pools at the agreed price are moved by a real swap of the pool's own arithmetic; then POST /price
// is asked over the moved market. What the mover spent is not even needed for the bounds to hold.
import { type PoolState, quoteExactInput, tickAtSqrtPriceX96 } from '@causeway/core'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApp } from '../../../test/fixtures/app.ts'
import { leastSeen } from '../../../test/fixtures/leastSeen.ts'
import {
  chainA,
  chainB,
  e18,
  million,
  pool,
  recipient,
  testChainMarket,
  testSnapshot,
  tide,
  usdc,
  user,
} from '../../../test/fixtures/market.ts'

/** 1 TIDE = 4 USD, as the prices say. */
function tidePool(depthUsd: bigint, feePips: number): PoolState {
  const spacing = feePips === 3_000 ? 60 : 10
  return pool('f4', tide, feePips, spacing, [depthUsd * 1_000_000n, (depthUsd * e18) / 4n])
}

/** The pool after a swap that takes this part of what lies around its price, in either direction. */
function movedBy(state: PoolState, depthUsd: bigint, { bps, makesTideDear }: Move): PoolState {
  const amount = makesTideDear ? (depthUsd * 1_000_000n * bps) / 20_000n : (depthUsd * e18 * bps) / 80_000n
  const { sqrtPriceX96After: sqrtPriceX96 } = quoteExactInput(state, makesTideDear, amount)
  return { ...state, sqrtPriceX96, tick: tickAtSqrtPriceX96(sqrtPriceX96) }
}

type Move = { readonly bps: bigint; readonly makesTideDear: boolean }

const moves = fc.record({
  depthUsd: fc.bigInt({ min: 100_000n, max: 50_000_000n }),
  feePips: fc.constantFrom(500, 3_000),
  move: fc.record({ bps: fc.bigInt({ min: 1n, max: 2_000n }), makesTideDear: fc.boolean() }),
  amountUsd: fc.integer({ min: 50, max: 20_000 }),
})

const market = { current: testSnapshot({}) }
let app: Awaited<ReturnType<typeof testApp>>
beforeAll(async () => {
  app = await testApp({ market, facts: { allowance: 2n ** 255n } })
})
afterAll(() => app?.close())

async function ask(change: object, ...[stateA, stateB = stateA]: [PoolState, PoolState?]) {
  const chains = [testChainMarket(chainA, { pools: [stateA] }), testChainMarket(chainB, { pools: [stateB] })]
  market.current = testSnapshot({ chains })
  const payload = { user, recipient, originChainId: chainA, destinationChainId: chainB, ...change }
  const response = await app.inject({ method: 'POST', url: '/price', payload })
  if (response.statusCode !== 200) return response.json().errorCode
  const { currencyIn, currencyOut } = response.json().details
  return {
    in: BigInt(currencyIn.amount),
    out: BigInt(currencyOut.amount),
    min: BigInt(currencyOut.minimumAmount),
  }
}

describe('a pool moved in favour of who asks', () => {
  test.each(['EXACT_INPUT', 'EXACT_OUTPUT', 'EXPECTED_OUTPUT'])(
    'Q-175: gives no more than the agreed price of what is paid in: %s',
    async (tradeType) => {
      let priced = 0
      await fc.assert(
        fc.asyncProperty(moves, async ({ depthUsd, feePips, move, amountUsd }) => {
          const state = movedBy(tidePool(depthUsd, feePips), depthUsd, move)
          const amount = tradeType === 'EXACT_INPUT' ? amountUsd * 1_000_000 : (BigInt(amountUsd) * e18) / 4n
          const answer = await ask(
            { originCurrency: usdc, destinationCurrency: tide, amount: String(amount), tradeType },
            state,
          )
          if (typeof answer === 'string') return
          priced += 1
          // In micro-USD at the agreed price: 1 TIDE is worth 4 USDC.
          expect((answer.out * 4n) / 10n ** 12n).toBeLessThanOrEqual(answer.in)
        }),
        { numRuns: 150 },
      )
      expect(priced).toBeGreaterThanOrEqual(leastSeen(20, 150))
    },
  )

  test('by 4 % for 200 USD of fees is no discount of 400 USD on an exact output of 10,000', async () => {
    const state = movedBy(tidePool(2_000_000n, 500), 2_000_000n, { bps: 400n, makesTideDear: false })
    const answer = await ask(
      {
        originCurrency: usdc,
        destinationCurrency: tide,
        amount: String(2_500n * e18),
        tradeType: 'EXACT_OUTPUT',
      },
      state,
    )
    expect(typeof answer === 'string' ? 0n : answer.in).toBeGreaterThanOrEqual(10_000n * 1_000_000n)
  })
})

describe('a pool moved against who asks', () => {
  test.each([
    ['before a deposit', chainB],
    ['that a user swaps in alone', chainA],
  ])('%s leaves the least output where it was, or is not quoted', async (_name, destinationChainId) => {
    let priced = 0
    await fc.assert(
      fc.asyncProperty(moves, async ({ depthUsd, feePips, move, amountUsd }) => {
        const honest = tidePool(depthUsd, feePips)
        const amount = String((BigInt(amountUsd) * e18) / 4n)
        const sold = { originCurrency: tide, destinationCurrency: usdc, amount, destinationChainId }
        const request = { ...sold, tradeType: 'EXACT_INPUT', overridePriceImpact: true }
        const before = await ask(request, honest)
        const state = movedBy(honest, depthUsd, { bps: move.bps % 200n, makesTideDear: false })
        const after = await ask(request, state)
        if (typeof before === 'string' || typeof after === 'string') return
        priced += 1
        // Four bps for tolerances that round up to whole ones.
        expect(after.min * 10_000n).toBeGreaterThanOrEqual(before.min * 9_996n)
      }),
      { numRuns: 150 },
    )
    expect(priced).toBeGreaterThanOrEqual(leastSeen(20, 150))
  })

  test('beyond the guard is a retryable refusal that says so, whatever impact the caller accepts', async () => {
    const request = { originCurrency: tide, destinationCurrency: usdc, amount: String(25n * e18) }
    const state = movedBy(tidePool(million, 3_000), million, { bps: 400n, makesTideDear: false })
    expect(await ask({ ...request, tradeType: 'EXACT_INPUT', overridePriceImpact: true }, state)).toBe(
      'PRICE_FETCH_FAILED',
    )
  })
})

describe('a pool moved against who names a tolerance', () => {
  const tolerances = fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 300n }))
  /**
   * Allowed loss against the agreed price of a long-tail quote beside its tolerance, in bps, for any number of legs.
   */
  const lagBps = 100n

  test.each([
    ['in one leg, before a deposit', usdc, chainB, false],
    ['in one leg, that a user swaps in alone', usdc, chainA, false],
    ['in both legs', tide, chainB, true],
  ])(
    'Q-175: %s takes no more than the tolerance and one bound',
    async (_name, destinationCurrency, destinationChainId, both) => {
      let priced = 0
      const movedFrom = { min: 0n, max: 160n }
      await fc.assert(
        fc.asyncProperty(
          moves,
          fc.tuple(fc.bigInt(movedFrom), fc.bigInt(movedFrom), tolerances),
          async ({ depthUsd, feePips, amountUsd }, [bpsA, bpsB, tolerance]) => {
            const honest = tidePool(depthUsd, feePips)
            const amount = String((BigInt(amountUsd) * e18) / 4n)
            const sold = { originCurrency: tide, destinationCurrency, amount, destinationChainId }
            const request = { ...sold, tradeType: 'EXACT_INPUT', overridePriceImpact: true }
            const before = await ask({ ...request, slippageTolerance: '0' }, honest)
            const cheap = movedBy(honest, depthUsd, { bps: bpsA, makesTideDear: false })
            const dear = both ? movedBy(honest, depthUsd, { bps: bpsB, makesTideDear: true }) : honest
            const after = await ask({ ...request, slippageTolerance: String(tolerance) }, cheap, dear)
            if (typeof before === 'string' || typeof after === 'string') return
            priced += 1
            // Six bps for tolerances that round up to whole ones, and what two factors of them multiply to.
            expect(after.min * 10_000n).toBeGreaterThanOrEqual(
              before.out * (10_000n - tolerance - lagBps - 6n),
            )
          },
        ),
        { numRuns: 200 },
      )
      expect(priced).toBeGreaterThanOrEqual(leastSeen(20, 200))
    },
  )

  test.each(['EXACT_OUTPUT', 'EXPECTED_OUTPUT'])(
    'costs no more than both for a fixed output: %s',
    async (tradeType) => {
      const request = { originCurrency: tide, destinationCurrency: usdc, amount: '1000000000', tradeType }
      const state = movedBy(tidePool(million, 3_000), million, { bps: 140n, makesTideDear: false })
      expect(await ask({ ...request, slippageTolerance: '20' }, state)).toBe('PRICE_FETCH_FAILED')
      expect(await ask({ ...request, slippageTolerance: '60' }, state)).toHaveProperty('out')
    },
  )

  test('by what honest pools stand off leaves the tolerance as it was asked for', async () => {
    const request = { originCurrency: tide, destinationCurrency: usdc, amount: String(25n * e18) }
    const state = movedBy(tidePool(million, 3_000), million, { bps: 40n, makesTideDear: false })
    const answer = await ask({ ...request, tradeType: 'EXACT_INPUT', slippageTolerance: '50' }, state)
    if (typeof answer === 'string') throw new Error(answer)
    expect(answer.min).toBe((answer.out * 9_950n) / 10_000n)
  })

  test('is told which tolerance is enough, and gets a quote with that one', async () => {
    const request = {
      user,
      recipient,
      originChainId: chainA,
      destinationChainId: chainB,
      tradeType: 'EXACT_INPUT',
      originCurrency: tide,
      destinationCurrency: usdc,
      amount: String(25n * e18),
    }
    const state = movedBy(tidePool(million, 3_000), million, { bps: 140n, makesTideDear: false })
    market.current = testSnapshot({
      chains: [chainA, chainB].map((id) => testChainMarket(id, { pools: [state] })),
    })
    const post = (slippageTolerance: string) =>
      app.inject({ method: 'POST', url: '/price', payload: { ...request, slippageTolerance } })
    const refused = (await post('0')).json()
    expect(refused).toMatchObject({ errorCode: 'PRICE_FETCH_FAILED' })
    const enough = Number(/slippageTolerance to at least (\d+)/.exec(refused.message)?.[1])
    expect((await post(String(enough))).statusCode).toBe(200)
    expect((await post(String(enough - 1))).statusCode).toBe(503)
  })
})
