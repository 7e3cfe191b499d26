// Goal: a wallet has its quote or a refusal within a stated time whatever chains do, and is told where the time went.
// Method: the routes over chains that never answer.
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type TestAppOptions, testApp } from './fixtures/app.ts'
import {
  chainA,
  chainB,
  examplePrices,
  recipient,
  testChainMarket,
  testSnapshot,
  tide,
  usdc,
  user,
} from './fixtures/market.ts'

const silence = () => new Promise<never>(() => {})
const filler = `0x${'f1'.repeat(20)}`

const bridge = {
  user,
  recipient,
  originChainId: chainA,
  destinationChainId: chainB,
  originCurrency: usdc,
  destinationCurrency: usdc,
  tradeType: 'EXACT_INPUT',
  amount: '40000000',
}
const swap = { ...bridge, originCurrency: tide, amount: '25000000000000000000' }
const withCalls = { ...bridge, txs: [{ to: usdc, value: '0', data: '0x095ea7b3' }] }

async function ask(url: string, payload: object, options: TestAppOptions = {}) {
  const app = await testApp({ config: { majorBps: 10 }, fillWallet: filler, ...options })
  const answer = await app.inject({ method: 'POST', url, payload })
  await app.close()
  return { answer, json: answer.json(), stored: app.stored }
}

// At once: each waits for the whole budget.
describe.concurrent('a chain that says nothing', () => {
  test.each(['/price', '/quote'])('costs %s the budget once, however often it must be asked', async (url) => {
    let asked = 0
    const quoteOnChain = () => {
      asked += 1
      return silence()
    }
    const unmirrored = [chainA, chainB].map((chainId) => testChainMarket(chainId, { pools: [] }))
    const market = { current: testSnapshot({ prices: examplePrices, chains: unmirrored }) }
    const { answer, json, stored } = await ask(url, swap, { quoteOnChain, market, tryFill: silence })
    expect([answer.statusCode, json.errorCode]).toEqual([503, 'SERVICE_UNAVAILABLE'])
    expect(json.message).toContain('1500 ms')
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    expect(stored).toEqual([])
    const before = asked
    await pause(100)
    expect(asked).toBe(before)
  })

  test.each([
    ['trying calls', withCalls, { tryFill: silence }],
    [
      'a permit',
      { ...bridge, usePermit: true },
      {
        permitTokens: {
          domainOf: silence,
          nonceOf: async () => 0n,
        },
      },
    ],
  ])('Q-180: refuses a quote that needs it for %s, and stores nothing', async (_what, body, options) => {
    const { answer, json, stored } = await ask('/quote', body, options)
    expect([answer.statusCode, json.errorCode]).toEqual([503, 'SERVICE_UNAVAILABLE'])
    expect(stored).toEqual([])
  })
})

describe('Server-Timing', () => {
  const parts = (header: unknown) =>
    new Map(
      String(header)
        .split(', ')
        .map((part) => part.split(';dur='))
        .map(([name, ms]) => [name, Number(ms)]),
    )

  test('Q-180: tells what a quote waited for, to pages of any origin', async () => {
    const slowly = async () => {
      await pause(50)
      return 50_000n
    }
    const { answer } = await ask('/quote', { ...withCalls, includeProtocolData: true }, { tryFill: slowly })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['timing-allow-origin']).toBe('*')
    const told = parts(answer.headers['server-timing'])
    expect([...told.keys()].toSorted()).toEqual(['chain', 'sign', 'store', 'total'])
    expect(told.get('chain')).toBeGreaterThan(45)
    expect(told.get('total')).toBeGreaterThanOrEqual(told.get('chain') ?? Number.NaN)
  })

  test('stands on a price and on a refusal too', async () => {
    const { answer: price } = await ask('/price', bridge)
    expect([...parts(price.headers['server-timing']).keys()]).toEqual(['chain', 'total'])
    const { answer: refused } = await ask('/price', { ...bridge, amount: '1' })
    expect(refused.statusCode).toBe(400)
    expect(parts(refused.headers['server-timing']).has('total')).toBe(true)
  })
})
