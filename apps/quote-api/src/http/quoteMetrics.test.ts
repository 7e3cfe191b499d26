// Goal: quotes are counted by what became of them, and no caller makes series. Adversary: whoever fills the memory of
// a service, and of what scrapes it, by label values of his choice.
import { createHttpMetrics, type HttpApp } from '@causeway/http'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'
import { chainA, chainB, marketWithPools, recipient, usdc, user } from '../../test/fixtures/market.ts'

const runs = process.env['CAUSEWAY_FAULTS'] === '1' ? 10_000 : 1_000
const body = {
  user,
  recipient,
  originChainId: chainA,
  destinationChainId: chainB,
  originCurrency: usdc,
  destinationCurrency: usdc,
  amount: '100000000',
  tradeType: 'EXACT_INPUT',
}

async function opened(): Promise<{ readonly app: HttpApp; text(): Promise<string> }> {
  const metrics = createHttpMetrics({ service: 'quote-api' })
  const app = await testApp({ market: { current: marketWithPools() }, metrics })
  return { app, text: () => metrics.registry.metrics() }
}

const seriesOf = (text: string) =>
  text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length

test('quotes are counted by route, outcome and reason, and timed part by part', async () => {
  const { app, text } = await opened()
  const post = (url: string, payload: object) => app.inject({ method: 'POST', url, payload })
  expect((await post('/quote', { ...body, includeProtocolData: true })).statusCode).toBe(200)
  expect((await post('/quote/v2', body)).statusCode).toBe(200)
  expect((await post('/price', { ...body, amount: '1' })).json().errorCode).toBe('AMOUNT_TOO_LOW')
  const shown = await text()
  expect(shown).toContain('quotes_total{route="quote",outcome="quoted",reason="",service="quote-api"} 1')
  expect(shown).toContain('quotes_total{route="quote_v2",outcome="quoted",reason="",service="quote-api"} 1')
  expect(shown).toContain('quotes_total{route="price",outcome="quoted",reason="",service="quote-api"} 0')
  expect(shown).toContain(
    'quotes_total{route="price",outcome="refused",reason="AMOUNT_TOO_LOW",service="quote-api"} 1',
  )
  // So that the first failure is growth.
  expect(shown).toContain('quotes_total{route="quote",outcome="failed",reason="",service="quote-api"} 0')
  for (const part of ['chain', 'sign', 'store', 'own', 'total'])
    expect(shown).toContain(
      `quote_part_duration_seconds_count{service="quote-api",route="quote",part="${part}"} 1`,
    )
  await app.close()
})

test('O-194: bodies, routes and currencies of a stranger make no more series than codes and routes do', async () => {
  const { app, text } = await opened()
  const word = fc.string({ maxLength: 40 })
  const hostile = fc.oneof(
    fc.record({ url: fc.constantFrom('/quote', '/quote/v2', '/price'), payload: fc.object({ maxDepth: 1 }) }),
    fc.record({
      url: fc.constantFrom('/quote', '/quote/v2', '/price'),
      payload: fc.record({
        user: fc.constant(user),
        recipient: fc.constant(recipient),
        tradeType: fc.constant('EXACT_INPUT'),
        originChainId: fc.oneof(fc.constant(chainA), fc.nat()),
        destinationChainId: fc.oneof(fc.constant(chainB), fc.nat()),
        originCurrency: fc.oneof(fc.constant(usdc), word),
        destinationCurrency: fc.oneof(
          fc.constant(usdc),
          word,
          fc
            .uint8Array({ minLength: 20, maxLength: 20 })
            .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
        ),
        amount: fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 200n }).map(String), word),
      }),
    }),
    fc.record({ url: word.map((path) => `/${encodeURIComponent(path)}`), payload: fc.constant({}) }),
  )
  const bodies = fc.sample(hostile, runs)
  const answered = new Set<string>()
  let most = 0
  for (const [index, { url, payload }] of bodies.entries()) {
    const answer = await app.inject({ method: 'POST', url, payload })
    const { errorCode } = answer.json()
    answered.add(
      `${url.startsWith('/quote') || url === '/price' ? url : 'other'} ${answer.statusCode} ${errorCode ?? ''}`,
    )
    if (index === runs / 2) most = seriesOf(await text())
  }
  const shown = await text()
  const reasons = new Set(
    [...shown.matchAll(/quotes_total\{[^}]*reason="([^"]*)"/g)].map(([, reason]) => reason),
  )
  // Chance decides how many: some are enough.
  expect(reasons.size).toBeGreaterThan(2)
  expect([...reasons].every((reason) => reason === '' || /^[A-Z_]+$/.test(reason ?? ''))).toBe(true)
  const routes = new Set([...shown.matchAll(/route="([^"]*)"/g)].map(([, route]) => route))
  expect([...routes].sort()).toEqual(['/price', '/quote', '/quote/v2', 'other', 'price', 'quote', 'quote_v2'])
  // 16 lines of one histogram of HTTP, 15 of one of parts; what answers differ by are codes of a list.
  expect(seriesOf(shown)).toBeLessThan(700)
  expect(seriesOf(shown) - most, 'the second half made hardly any').toBeLessThan(60)
  expect(answered.size).toBeGreaterThan(6)
}, 120_000)
