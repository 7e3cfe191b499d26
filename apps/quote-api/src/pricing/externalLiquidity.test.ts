// Goal: with `useExternalLiquidity` what others bring makes a quote of what the solver alone cannot pay, at a price and
// after a time that the answer tells. Who gains by breaking it: a source that brings nothing, or asks for the moon, and
// an integrator who is quoted it without having asked.
import { describe, expect, onTestFinished, test } from 'vitest'
import { type TestAppOptions, testApp } from '../../test/fixtures/app.ts'
import { chainA, chainB, marketWithPools, recipient, tide, usdc, user } from '../../test/fixtures/market.ts'
import { type FindLiquidity, isAcceptable, type LiquidityOffer } from './externalLiquidity.ts'

/** More than the solver has on any chain. */
const amount = '3000000000000'
const offer: LiquidityOffer = { available: 10n ** 13n, feeBps: 7, readySeconds: 120 }

async function price(change: object, options: TestAppOptions = {}) {
  const app = await testApp({ market: { current: marketWithPools() }, ...options })
  onTestFinished(() => app.close())
  const payload = {
    ...{ user, recipient, originChainId: chainA, destinationChainId: chainB, tradeType: 'EXACT_INPUT' },
    ...{ originCurrency: usdc, destinationCurrency: usdc, amount, ...change },
  }
  const answer = await app.inject({ method: 'POST', url: '/price', payload })
  return { status: answer.statusCode, json: answer.json() }
}

/** A source that offers this, and what it was asked for. */
function source(offered: LiquidityOffer | undefined) {
  const asked: string[] = []
  const findLiquidity: FindLiquidity = async ({ currency, amount: wanted }) => {
    asked.push(`${wanted} ${currency.symbol} on ${currency.chainId}`)
    return offered
  }
  return { asked, findLiquidity }
}

describe('an amount that the solver cannot pay', () => {
  test('is quoted where somebody brings it, and only with useExternalLiquidity', async () => {
    const { asked, findLiquidity } = source(offer)
    expect((await price({}, { findLiquidity })).json.errorCode).toBe('INSUFFICIENT_LIQUIDITY')
    expect(asked).toEqual([])
    const { status, json } = await price({ useExternalLiquidity: true }, { findLiquidity })
    expect([status, json.details?.externalLiquidity]).toEqual([200, 'used'])
    expect(asked).toEqual([`3150000000000 USDC on ${chainB}`])
  })

  test('costs what is asked for bringing it, and takes as much longer', async () => {
    const at = async (terms: Partial<LiquidityOffer>) =>
      (
        await price(
          { useExternalLiquidity: true },
          { findLiquidity: source({ ...offer, ...terms }).findLiquidity },
        )
      ).json.details
    const [free, dear] = [await at({ feeBps: 0, readySeconds: 0 }), await at({})]
    const less = BigInt(free.currencyOut.amount) - BigInt(dear.currencyOut.amount)
    expect([less >= 2_099_000_000n, less <= 2_101_000_000n]).toEqual([true, true])
    expect(dear.timeEstimate - free.timeEstimate).toBe(120)
  })

  test.each([
    ['nobody brings anything', undefined],
    ['too little is brought', { ...offer, available: 1_000_000n }],
  ])('is refused where %s', async (_what, offered) => {
    const { findLiquidity } = source(offered)
    const { json } = await price({ useExternalLiquidity: true }, { findLiquidity })
    expect(json.errorCode).toBe('INSUFFICIENT_LIQUIDITY')
  })

  test('is refused where no source is configured', async () => {
    expect((await price({ useExternalLiquidity: true })).json.errorCode).toBe('INSUFFICIENT_LIQUIDITY')
  })
})

test('what the solver can pay asks nobody, costs the same, and says so', async () => {
  const { asked, findLiquidity } = source(offer)
  const small = { amount: '100000000' }
  const [plain, allowed] = [
    await price(small, { findLiquidity }),
    await price({ ...small, useExternalLiquidity: true }, { findLiquidity }),
  ]
  const { externalLiquidity, ...details } = allowed.json.details
  expect(details).toEqual(plain.json.details)
  expect([externalLiquidity, asked]).toEqual(['none', []])
})

test('a swap that its user executes alone asks nobody', async () => {
  const { asked, findLiquidity } = source(offer)
  const swap = { destinationChainId: chainA, destinationCurrency: tide, amount: '90000000000000' }
  const { json } = await price({ ...swap, useExternalLiquidity: true }, { findLiquidity })
  expect([json.errorCode, asked]).toEqual(['INSUFFICIENT_LIQUIDITY', []])
})

test.each([
  [true, {}],
  [false, { available: 0n }],
  [true, { feeBps: 50, readySeconds: 240 }],
  [false, { feeBps: 51 }],
  [false, { readySeconds: 241 }],
])('counts (%s) with %o', (counts, change) => {
  const settings = { maxFeeBps: 50, maxReadySeconds: 240, timeoutMs: 400 }
  expect(isAcceptable({ ...offer, ...change }, settings)).toBe(counts)
})
