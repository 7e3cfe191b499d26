// Goal: nobody holds more open quotes than the bound, in whatever order, at once or in a row; whoever holds
// none is never refused; what ended, or was never answered, holds nothing. Method: the memory itself, with
// time as an argument, beside a plain list of what is open.
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { testApp } from '../../../test/fixtures/app.ts'
import { chainA, chainB, native, recipient, usdc, user } from '../../../test/fixtures/market.ts'
import { linkedKey, testApiKeys } from '../../../test/fixtures/sponsor.ts'
import { QuoteError } from '../errors.ts'
import { createOpenQuotes, type OpenQuotes } from './openQuotes.ts'

const usd = (whole: number) => BigInt(whole) * 10n ** 18n
const lifetimeSeconds = 60
const alice = { user: '0xA1', caller: 'ip 198.51.100.9' }

function take(
  quotes: OpenQuotes,
  whole: number,
  nowSeconds = 0,
  holder: Parameters<OpenQuotes['take']>[0] = alice,
) {
  return quotes.take(holder, {
    payingBalance: 'usdc on 10',
    usdX18: usd(whole),
    payableUsdX18: usd(100),
    nowSeconds,
    expiresAtSeconds: nowSeconds + lifetimeSeconds,
  })
}
const refusal = (run: () => unknown): QuoteError | undefined => {
  try {
    run()
    return undefined
  } catch (error) {
    if (error instanceof QuoteError) return error
    throw error
  }
}

describe('open quotes of one user', () => {
  test('together promise no more than the solver can pay, and the refusal says when and how much', () => {
    const quotes = createOpenQuotes({ perUserBps: 10_000 })
    take(quotes, 60)
    const refused = refusal(() => take(quotes, 41, 5))
    expect(refused).toMatchObject({
      code: 'OPEN_QUOTES_LIMIT',
      retryAfterSeconds: 56,
      data: { limitUsd: '100', openUsd: '60', leftUsd: '40', firstExpiresAt: 60 },
    })
    // The advice works.
    expect(refusal(() => take(quotes, 40, 5))).toBeUndefined()
    expect(refusal(() => take(quotes, 41, 5 + (refused?.retryAfterSeconds ?? 0)))).toBeUndefined()
  })

  test('count a lower part where that is configured, and nothing where it is off', () => {
    expect(refusal(() => take(createOpenQuotes({ perUserBps: 5_000 }), 51))?.data).toMatchObject({
      leftUsd: '50',
    })
    const off = createOpenQuotes({ perUserBps: 0 })
    for (let round = 0; round < 10; round += 1) expect(refusal(() => take(off, 100))).toBeUndefined()
  })

  test('Q-32: are told apart by user and caller: a stranger who names the user takes nothing from a key', () => {
    const quotes = createOpenQuotes({ perUserBps: 10_000 })
    take(quotes, 100)
    expect(refusal(() => take(quotes, 1, 0, { ...alice, user: '0xa1' }))).toBeDefined()
    expect(refusal(() => take(quotes, 100, 0, { user: '0xa1', caller: 'key k' }))).toBeUndefined()
    expect(refusal(() => take(quotes, 100, 0, { ...alice, user: '0xb2' }))).toBeUndefined()
  })

  test('that were never answered hold nothing, however often that is said', () => {
    const quotes = createOpenQuotes({ perUserBps: 10_000 })
    const takeBack = take(quotes, 100)
    takeBack()
    takeBack()
    take(quotes, 100)
    expect(refusal(() => take(quotes, 1))).toBeDefined()
  })

  test('Q-32: count in the second at which they expire, and not after, when nothing is left to take back', () => {
    const quotes = createOpenQuotes({ perUserBps: 10_000 })
    const takeBack = take(quotes, 60)
    take(quotes, 20, 10)
    expect(refusal(() => take(quotes, 21, 60))).toMatchObject({
      retryAfterSeconds: 1,
      data: { openUsd: '80' },
    })
    take(quotes, 80, 61)
    takeBack()
    expect(refusal(() => take(quotes, 1, 61))).toMatchObject({
      retryAfterSeconds: 10,
      data: { openUsd: '100', leftUsd: '0', firstExpiresAt: 70 },
    })
    take(quotes, 20, 71)
    expect(refusal(() => take(quotes, 1, 71))?.data).toMatchObject({ openUsd: '100', firstExpiresAt: 121 })
  })

  test('that expire together are taken back one by one', () => {
    const quotes = createOpenQuotes({ perUserBps: 10_000 })
    take(quotes, 30)
    take(quotes, 20)
    take(quotes, 40)()
    take(quotes, 10, 1)
    expect(refusal(() => take(quotes, 41, 1))?.data).toMatchObject({ openUsd: '60', leftUsd: '40' })
    // At 61 those of the first second are gone.
    expect(refusal(() => take(quotes, 91, 61))?.data).toMatchObject({ openUsd: '10', firstExpiresAt: 61 })
  })

  test('leave nothing where the solver can pay less than they promise, and all where there are none', () => {
    const quotes = createOpenQuotes({ perUserBps: 10_000 })
    take(quotes, 60)
    const ask = (user: string, payableUsdX18: bigint) =>
      quotes.take(
        { ...alice, user },
        { payingBalance: 'usdc on 10', usdX18: usd(51), payableUsdX18, nowSeconds: 5, expiresAtSeconds: 65 },
      )
    expect(refusal(() => ask(alice.user, usd(50)))?.data).toEqual({
      field: 'amount',
      limitUsd: '50',
      openUsd: '60',
      leftUsd: '0',
      firstExpiresAt: 60,
    })
    expect(refusal(() => ask('0xb2', usd(50)))).toMatchObject({
      retryAfterSeconds: 61,
      data: { limitUsd: '50', openUsd: '0', leftUsd: '50', firstExpiresAt: 65 },
    })
  })

  test('Q-32: are bounded while others come and go in any number', () => {
    const step = fc.record({
      holder: fc.integer({ min: 0, max: 3 }),
      whole: fc.integer({ min: 0, max: 60 }),
      laterSeconds: fc.integer({ min: 0, max: 40 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const quotes = createOpenQuotes({ perUserBps: 10_000 })
        let now = 0
        let open: { holder: number; whole: number; endsAt: number }[] = []
        for (const { holder, whole, laterSeconds } of steps) {
          now += laterSeconds
          open = open.filter(({ endsAt }) => endsAt >= now)
          const held = open
            .filter((quote) => quote.holder === holder)
            .reduce((sum, quote) => sum + quote.whole, 0)
          const refused = refusal(() => take(quotes, whole, now, { ...alice, user: String(holder) }))
          expect(refused === undefined).toBe(held + whole <= 100)
          if (refused === undefined) open.push({ holder, whole, endsAt: now + lifetimeSeconds })
        }
      }),
      { numRuns: 500 },
    )
  })

  test('of 200,000 users are remembered in bounded memory', () => {
    const quotes = createOpenQuotes({ perUserBps: 10_000 })
    for (let user = 0; user < 200_000; user += 1) take(quotes, 1, 0, { ...alice, user: String(user) })
    expect(refusal(() => take(quotes, 100, 0, { ...alice, user: '199999' }))).toBeDefined()
    // Beyond the bound the first ones are forgotten, which refuses nobody.
    expect(refusal(() => take(quotes, 100, 0, { ...alice, user: '0' }))).toBeUndefined()
  })
})

describe('open quotes of others, and to other places', () => {
  const stranger = '203.0.113.7'
  const victim = '198.51.100.9'
  const burnAddress = '0x000000000000000000000000000000000000dead'
  const nearlyAll = '1800000000000'
  const little = '100000000'

  async function asking() {
    const app = await testApp({ apiKeys: testApiKeys })
    onTestFinished(() => app.close())
    return async (change: object, from: { ip: string; key?: string } = { ip: victim }) => {
      const answer = await app.inject({
        method: 'POST',
        url: '/quote',
        remoteAddress: from.ip,
        headers: from.key === undefined ? {} : { 'x-api-key': from.key },
        payload: {
          user,
          recipient,
          originChainId: chainA,
          destinationChainId: chainB,
          tradeType: 'EXACT_INPUT',
          originCurrency: usdc,
          destinationCurrency: usdc,
          amount: little,
          ...change,
        },
      })
      return answer.json().errorCode ?? answer.statusCode
    }
  }

  test.each([
    ['names the user of somebody else', user],
    ['names the address that clients without a wallet send', native],
    ['names a burn address', burnAddress],
  ])('Q-32: a stranger who %s takes nothing from anybody', async (_what, named) => {
    const ask = await asking()
    const own = { ip: stranger }
    const most = { user: named, amount: nearlyAll }
    expect([await ask(most, own), await ask(most, own)]).toEqual([200, 'OPEN_QUOTES_LIMIT'])
    expect(await ask(most)).toBe(200)
    expect(await ask(most, { ip: stranger, key: linkedKey })).toBe(200)
  })

  test('Q-32: a key counts its users wherever they ask from, and whoever asks without it', async () => {
    const ask = await asking()
    const most = { amount: nearlyAll }
    expect(await ask(most, { ip: stranger, key: linkedKey })).toBe(200)
    expect(await ask(most, { ip: victim, key: linkedKey })).toBe('OPEN_QUOTES_LIMIT')
    expect(await ask(most)).toBe(200)
  })

  test('Q-32: what is open to one place refuses nothing to another chain, or in another asset', async () => {
    const ask = await asking()
    expect(await ask({ amount: nearlyAll })).toBe(200)
    expect(await ask({ amount: nearlyAll })).toBe('OPEN_QUOTES_LIMIT')
    expect(await ask({ originChainId: chainB, destinationChainId: chainA })).toBe(200)
    expect(await ask({ destinationCurrency: native })).toBe(200)
  })
})
