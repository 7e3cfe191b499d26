// Goal: whoever holds a chain's endpoints and the service behind HERMES_URL moves no price: the service cannot
// sign. Method: real HTTP answers in the format of Hermes, signed by guardians of the test, as second source of a
// feed in the market; the service is asked anew each time.
import type { Hex } from '@causeway/core'
import { recoverSigner } from '@causeway/signer'
import { describe, expect, onTestFinished, test } from 'vitest'
import { baseReading, quoteFile } from '../../../test/support/fixtures.ts'
import { createManualClock } from '../../../test/support/manualClock.ts'
import { startPriceServiceStandIn } from '../../../test/support/priceServiceStandIn.ts'
import { priceUpdate, testGuardians, type UpdateOptions } from '../../../test/support/signedPrices.ts'
import { createMarketState } from '../../evaluation/marketState.ts'
import { describeMarket } from '../../health.ts'
import { defaultLimits } from '../../limits.ts'
import { planMarket } from '../../plan.ts'
import { oneUsdX18 } from '../guards.ts'
import { createHermes } from '../http/hermes.ts'

const guardians = testGuardians(5, 1)
const ethId: Hex = `0x${'61'.repeat(32)}`

async function setUp() {
  const clock = createManualClock()
  const file = quoteFile((input) => ({
    ...input,
    prices: input.prices.map((price) =>
      price.key === 'ETH/USD' ? { ...price, http: [{ adapter: 'hermes', id: ethId }] } : price,
    ),
  }))
  const reach = {
    isExempt: false,
    chains: new Map([['base', ['rpc-a.example']]]),
    adapters: new Map([['hermes', 'hermes.example']]),
  }
  const plan = planMarket(file, reach)
  const state = createMarketState({ plan, limits: defaultLimits, clock })
  let answer = '{}'
  const service = await startPriceServiceStandIn((_request, response) => response.end(answer))
  onTestFinished(() => service.close())
  const { baseUrl } = service
  const hermes = createHermes({ baseUrl, guardianSets: [guardians], recover: recoverSigner })
  return {
    clock,
    eth: () => state.snapshot().price('ETH/USD'),
    readFeed: (usd: number) => {
      const value = baseReading({ nowMs: clock.now(), ethAnswer: BigInt(usd) * 10n ** 8n })
      state.putChain('base', { value, asOfMs: clock.now() })
    },
    /** Sets the service's answers from now on: a price that guardians sign, beside one of its own. */
    async serve(usd: { signed: number; parsed: number }, options: Partial<UpdateOptions> = {}) {
      const publishTime = clock.now() / 1_000
      const price = { feedId: ethId, price: BigInt(usd.signed) * 10n ** 8n, conf: 0n, expo: -8, publishTime }
      const update = await priceUpdate([price], { guardians, ...options })
      const own = { price: `${usd.parsed}00000000`, conf: '0', expo: -8, publish_time: publishTime }
      answer = JSON.stringify({
        binary: { encoding: 'hex', data: [Buffer.from(update).toString('hex')] },
        parsed: [{ id: ethId.slice(2), price: own }],
      })
    },
    async ask() {
      const quotes = await hermes.read([ethId], { nowMs: clock.now(), signal: new AbortController().signal })
      state.putHttp(hermes.name, { kind: hermes.kind, quotes, readAtMs: clock.now() })
    },
    health: () =>
      describeMarket({
        version: 1,
        plan,
        evaluation: state.evaluation(),
        nowMs: clock.now(),
        chainFacts: (key) => state.chainFacts(key),
        refreshHealth: () => ({ state: 'fresh', consecutiveFailures: 0, lastError: undefined }),
        agreementOf: () => undefined,
      }),
  }
}

const at = (usd: number) => ({ usdX18: BigInt(usd) * oneUsdX18 })

describe('a signed price as second source', () => {
  test('confirms a jump of the feed, and a service that says so itself does not', async () => {
    const { eth, readFeed, serve, ask } = await setUp()
    await serve({ signed: 2_000, parsed: 2_000 })
    await ask()
    readFeed(2_000)
    expect(eth()).toMatchObject(at(2_000))

    readFeed(4_000)
    await serve({ signed: 2_000, parsed: 4_000 })
    await ask()
    expect(eth()).toEqual({ reason: 'deviation' })
    await serve({ signed: 4_000, parsed: 4_000 }, { signers: [0, 1] })
    await ask()
    expect(eth()).toEqual({ reason: 'second_source_missing' })

    await serve({ signed: 4_000, parsed: 4_000 })
    await ask()
    expect(eth()).toMatchObject(at(4_000))
  })

  test('is nobody’s to keep: the last one ends with its age, however often it is sent again', async () => {
    const { clock, eth, readFeed, serve, ask } = await setUp()
    await serve({ signed: 2_000, parsed: 2_000 })
    await clock.advance(30_000)
    await ask()
    readFeed(2_000)
    expect(eth()).toMatchObject(at(2_000))
    await clock.advance(1)
    await ask()
    expect(eth()).toEqual({ reason: 'second_source_missing' })
  })

  test('of a guardian set that is not listed is refused, and health says so by name', async () => {
    const { eth, readFeed, serve, ask, health } = await setUp()
    await serve({ signed: 2_000, parsed: 2_000 }, { setIndex: 2 })
    await ask()
    readFeed(2_000)
    expect(eth()).toEqual({ reason: 'second_source_missing' })
    expect(health().prices[0]?.sources).toContainEqual({
      source: 'http hermes',
      kind: 'signed',
      state: 'faulty',
      fault: 'unknown_guardian_set',
      readAgeMs: 0,
    })
  })
})
