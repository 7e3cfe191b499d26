// Goal: nobody holds more open quotes than the bound, in whatever order, at once or in a row; whoever holds
// none is never refused; what ended, or was never answered, holds nothing. Method: the memory itself, with
// time as an argument, beside a plain list of what is open.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { QuoteError } from './errors.ts'
import { createOpenQuotes, type OpenQuotes } from './openQuotes.ts'

const usd = (whole: number) => BigInt(whole) * 10n ** 18n
const lifetimeSeconds = 60
const alice = { user: '0xA1', apiKeyId: undefined }

function take(
  quotes: OpenQuotes,
  whole: number,
  nowSeconds = 0,
  holder: Parameters<OpenQuotes['take']>[0] = alice,
) {
  return quotes.take(holder, {
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

  test('are told apart by user and key: a stranger who names the user takes nothing from a key', () => {
    const quotes = createOpenQuotes({ perUserBps: 10_000 })
    take(quotes, 100)
    expect(refusal(() => take(quotes, 1, 0, { user: '0xa1', apiKeyId: undefined }))).toBeDefined()
    expect(refusal(() => take(quotes, 100, 0, { user: '0xa1', apiKeyId: 'k' }))).toBeUndefined()
    expect(refusal(() => take(quotes, 100, 0, { user: '0xb2', apiKeyId: undefined }))).toBeUndefined()
  })

  test('that were never answered hold nothing, however often that is said', () => {
    const quotes = createOpenQuotes({ perUserBps: 10_000 })
    const takeBack = take(quotes, 100)
    takeBack()
    takeBack()
    take(quotes, 100)
    expect(refusal(() => take(quotes, 1))).toBeDefined()
  })

  test('are bounded while others come and go in any number', () => {
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
          const refused = refusal(() =>
            take(quotes, whole, now, { user: String(holder), apiKeyId: undefined }),
          )
          expect(refused === undefined).toBe(held + whole <= 100)
          if (refused === undefined) open.push({ holder, whole, endsAt: now + lifetimeSeconds })
        }
      }),
      { numRuns: 500 },
    )
  })

  test('of 200,000 users are remembered in bounded memory', () => {
    const quotes = createOpenQuotes({ perUserBps: 10_000 })
    for (let user = 0; user < 200_000; user += 1)
      take(quotes, 1, 0, { user: String(user), apiKeyId: undefined })
    expect(refusal(() => take(quotes, 100, 0, { user: '199999', apiKeyId: undefined }))).toBeDefined()
    // Beyond the bound the first ones are forgotten, which refuses nobody.
    expect(refusal(() => take(quotes, 100, 0, { user: '0', apiKeyId: undefined }))).toBeUndefined()
  })
})
