// Goal: each adapter asks as documented, reads the documented answer exactly and refuses everything else.
// Method: a local server that stands in for the service (no public service is asked).
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Hex, Secret } from '@causeway/core'
import { recoverSigner } from '@causeway/signer'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sendsJson, startPriceServiceStandIn } from '../../../test/support/priceServiceStandIn.ts'
import {
  type PriceMessage,
  priceUpdate,
  testGuardians,
  type UpdateOptions,
} from '../../../test/support/signedPrices.ts'
import type { HttpPriceAdapter } from './adapter.ts'
import { createCoingecko } from './coingecko.ts'
import { createDefillama } from './defillama.ts'
import { createHermes, hermesNeedsKey } from './hermes.ts'

const nowMs = 1_800_000_000_000
const nowSeconds = nowMs / 1_000
const apiKey = new Secret('k-123')
const ethId = `0xFF${'61'.repeat(31)}`
const btcId: Hex = `0x${'62'.repeat(32)}`

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = await startPriceServiceStandIn(answer)
  onTestFinished(() => server.close())
  return server
}

function read(adapter: HttpPriceAdapter, ids: readonly string[], signal = new AbortController().signal) {
  return adapter.read(ids, { nowMs, signal })
}

const guardians = testGuardians(4)
const eth: PriceMessage = {
  feedId: `0xff${'61'.repeat(31)}`,
  price: 203_142_170_000n,
  conf: 101_571_085n,
  expo: -8,
  publishTime: nowSeconds - 2,
}

function hermes(baseUrl: string, options: { apiKey?: Secret; timeoutMs?: number } = {}) {
  return createHermes({ baseUrl, guardianSets: [guardians], recover: recoverSigner, ...options })
}

/** The documented answer of Hermes, `parsed` too, which nobody signs. */
async function signedAnswer(messages: readonly PriceMessage[], options: Partial<UpdateOptions> = {}) {
  const update = await priceUpdate(messages, { guardians, ...options })
  return answerOf([hexDigits(update)])
}

function answerOf(data: readonly string[]) {
  return { binary: { encoding: 'hex', data }, parsed: [forged] }
}

const hexDigits = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** Forged answer that is valid in every field. */
const forged = {
  id: ethId.slice(2).toLowerCase(),
  price: { price: '406284340000', conf: '101571085', expo: -8, publish_time: nowSeconds - 1 },
}

describe('hermes', () => {
  test('asks for its ids with a bearer token and reads mantissa and exponent exactly', async () => {
    const server = await serve(sendsJson(await signedAnswer([eth])))
    const quotes = await read(hermes(server.baseUrl, { apiKey }), [ethId, '0xother'])
    expect(quotes).toEqual(
      new Map([
        [
          ethId,
          {
            usdX18: 2_031_421_700_000_000_000_000n,
            updatedAtMs: nowMs - 2_000,
            freshUntilMs: nowMs + 28_000,
          },
        ],
      ]),
    )
    const url = new URL(server.requests[0]?.url ?? '', server.baseUrl)
    expect(url.pathname).toBe('/api/v3/v2/updates/price/latest')
    expect(url.searchParams.getAll('ids[]')).toEqual([ethId, '0xother'])
    expect(url.searchParams.get('encoding')).toBe('hex')
    expect(url.searchParams.get('parsed')).toBe('false')
    expect(server.requests[0]?.headers.authorization).toBe('Bearer k-123')
  })

  test.each<[string, Partial<PriceMessage>]>([
    ['wide_confidence', { conf: 2_031_421_701n }],
    ['not_positive', { price: 0n, conf: 0n }],
    ['not_positive', { price: 0n, conf: 1n }],
    ['not_positive', { price: -5n }],
    ['not_positive', { expo: 60 }],
    ['from_the_future', { publishTime: nowSeconds + 61 }],
  ])('marks an answer as %s', async (fault, overrides) => {
    const server = await serve(sendsJson(await signedAnswer([{ ...eth, ...overrides }])))
    const quotes = await read(hermes(server.baseUrl), [ethId])
    expect(quotes.get(ethId)).toEqual({ fault })
  })

  test('accepts a confidence interval of exactly one percent', async () => {
    const server = await serve(sendsJson(await signedAnswer([{ ...eth, conf: 2_031_421_700n }])))
    const quotes = await read(hermes(server.baseUrl), [ethId])
    expect(quotes.get(ethId)).toHaveProperty('usdX18')
  })

  test.each<[string, string | undefined, () => Promise<unknown>]>([
    ['without an update', undefined, async () => answerOf([])],
    ['beside bytes that are none', 'malformed_update', async () => answerOf(['00'])],
    ['beside text that is no hex', 'malformed_update', async () => answerOf(['zz'])],
    ['with too few signatures', 'not_signed', () => signedAnswer([eth], { signers: [0, 1] })],
    ['with a later guardian set', 'unknown_guardian_set', () => signedAnswer([eth], { setIndex: 5 })],
    ['beside a signed price of another feed', undefined, () => signedAnswer([{ ...eth, feedId: btcId }])],
  ])('believes no price that has the right form: %s', async (_name, fault, answer) => {
    const server = await serve(sendsJson(await answer()))
    const quotes = await read(hermes(server.baseUrl), [ethId])
    expect(quotes.get(ethId)).toEqual(fault === undefined ? undefined : { fault })
  })

  test('F-30: lets a price that was signed long ago count for nothing, however often it is shown', async () => {
    const old = { ...eth, publishTime: nowSeconds - 31 }
    const server = await serve(sendsJson(await signedAnswer([old])))
    const quotes = await read(hermes(server.baseUrl), [ethId])
    expect(quotes.get(ethId)).toMatchObject({ freshUntilMs: nowMs - 1_000 })
  })

  test('takes the newest of several updates, and those that are proven beside one that is not', async () => {
    const older = { ...eth, price: eth.price - 1n, publishTime: eth.publishTime - 1 }
    const oldest = { ...eth, price: eth.price - 2n, publishTime: eth.publishTime - 2 }
    const data = await Promise.all(
      [older, eth, oldest].map(async (message) => hexDigits(await priceUpdate([message], { guardians }))),
    )
    const unproven = hexDigits(await priceUpdate([eth], { guardians, signers: [] }))
    const server = await serve(sendsJson(answerOf([unproven, ...data])))
    const quotes = await read(hermes(server.baseUrl), [ethId, btcId])
    expect(quotes.get(ethId)).toMatchObject({ usdX18: 2_031_421_700_000_000_000_000n })
    expect(quotes.get(btcId)).toEqual({ fault: 'not_signed' })
  })

  test.each([401, 403])('F-32: a status of %i names the setting of the key', async (status) => {
    const server = await serve((_request, response) => response.writeHead(status).end('{}'))
    await expect(read(hermes(server.baseUrl), [ethId])).rejects.toThrow(
      `hermes answered with status ${status}: it wants an API key that it knows, see HERMES_API_KEY.`,
    )
  })

  test.each<[boolean, string]>([
    [true, 'https://hermes.pyth.network'],
    [true, 'https://pyth.dourolabs.app/hermes'],
    [true, 'https://PYTH.network:443/'],
    [false, 'https://hermes.provider.example/hermes'],
    [false, 'https://pyth.network.example'],
    [false, 'https://notpyth.network'],
    [false, 'http://127.0.0.1:7575'],
  ])('F-32: asks for a key: %s at %s', (needsKey, url) => {
    expect(hermesNeedsKey(url)).toBe(needsKey)
  })

  test('checks no more updates than there can be', async () => {
    const server = await serve(sendsJson(answerOf(Array(17).fill('00'))))
    await expect(read(hermes(server.baseUrl), [ethId])).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })
})

describe('defillama', () => {
  const coin = { price: 0.00000123, symbol: 'X', timestamp: nowSeconds - 60, confidence: 0.99, decimals: 18 }

  test('asks for its ids in the path and reads tiny prices exactly', async () => {
    const server = await serve(sendsJson({ coins: { 'base:0xabc': coin } }))
    const quotes = await read(createDefillama({ baseUrl: server.baseUrl }), ['base:0xabc', 'coingecko:a b'])
    expect(quotes).toEqual(
      new Map([
        [
          'base:0xabc',
          { usdX18: 1_230_000_000_000n, updatedAtMs: nowMs - 60_000, freshUntilMs: nowMs + 540_000 },
        ],
      ]),
    )
    expect(server.requests[0]?.url).toBe('/api/v3/prices/current/base:0xabc,coingecko:a%20b')
  })

  test.each([
    ['wide_confidence', { confidence: 0.89 }],
    ['wide_confidence', { confidence: undefined }],
    ['not_positive', { price: 0 }],
    ['not_positive', { price: -1 }],
    ['from_the_future', { timestamp: nowSeconds + 61 }],
  ])('marks an answer as %s', async (fault, overrides) => {
    const server = await serve(sendsJson({ coins: { x: { ...coin, ...overrides } } }))
    expect((await read(createDefillama({ baseUrl: server.baseUrl }), ['x'])).get('x')).toEqual({ fault })
  })
})

test('defillama: a confidence of 0.9 is enough', async () => {
  const server = await serve(sendsJson({ coins: { x: { price: 2, timestamp: 1, confidence: 0.9 } } }))
  expect((await read(createDefillama(server), ['x'])).get('x')).toMatchObject({ usdX18: 2n * 10n ** 18n })
})

describe('coingecko', () => {
  test('asks with the header of the plan demo where none is named, and names the setting of a refused key', async () => {
    const server = await serve((_request, response) => response.writeHead(401).end('{}'))
    await expect(read(createCoingecko({ baseUrl: server.baseUrl, apiKey }), ['x'])).rejects.toThrow(
      'coingecko answered with status 401: it wants an API key that it knows, see COINGECKO_API_KEY.',
    )
    expect(server.requests[0]?.headers).toMatchObject({ 'x-cg-demo-api-key': 'k-123' })
  })

  test.each(['demo', 'pro'] as const)('asks with the %s key header and reads the answer', async (plan) => {
    const server = await serve(sendsJson({ ethereum: { usd: 2031.4217, last_updated_at: nowSeconds - 30 } }))
    const adapter = createCoingecko({ baseUrl: server.baseUrl, apiKey, plan })
    expect(await read(adapter, ['ethereum', 'unknown'])).toEqual(
      new Map([
        [
          'ethereum',
          {
            usdX18: 2_031_421_700_000_000_000_000n,
            updatedAtMs: nowMs - 30_000,
            freshUntilMs: nowMs + 570_000,
          },
        ],
      ]),
    )
    expect(server.requests[0]?.headers[`x-cg-${plan}-api-key`]).toBe('k-123')
    const url = new URL(server.requests[0]?.url ?? '', server.baseUrl)
    expect(url.pathname).toBe('/api/v3/simple/price')
    expect(Object.fromEntries(url.searchParams)).toEqual({
      ids: 'ethereum,unknown',
      vs_currencies: 'usd',
      include_last_updated_at: 'true',
      precision: 'full',
    })
  })

  test.each([
    ['no_timestamp', { usd: 1 }],
    ['no_timestamp', { usd: 1, last_updated_at: null }],
    ['not_positive', { usd: null, last_updated_at: nowSeconds }],
    ['not_positive', { last_updated_at: nowSeconds }],
  ])('marks an answer as %s', async (fault, coin) => {
    const server = await serve(sendsJson({ x: coin }))
    expect((await read(createCoingecko({ baseUrl: server.baseUrl }), ['x'])).get('x')).toEqual({ fault })
  })
})

test('the kind of a source says whether its prices are signed', () => {
  const baseUrl = 'https://a.example'
  const adapters = [hermes(baseUrl), createDefillama({ baseUrl }), createCoingecko({ baseUrl })]
  expect(adapters.map(({ name, kind }) => [name, kind])).toEqual([
    ['hermes', 'signed'],
    ['defillama', 'http'],
    ['coingecko', 'http'],
  ])
})

describe.each([
  ['hermes', ({ baseUrl, ...options }: { baseUrl: string; timeoutMs?: number }) => hermes(baseUrl, options)],
  ['defillama', createDefillama],
  ['coingecko', createCoingecko],
] as const)('%s refuses', (name, create) => {
  test.each<[string, (request: IncomingMessage, response: ServerResponse) => void]>([
    ['an HTML page', (_request, response) => response.end('<html>busy</html>')],
    ['JSON of another shape', sendsJson([{ parsed: 'no', coins: 'no' }])],
    ['an empty body', (_request, response) => response.end()],
    ['a cut connection', (_request, response) => response.destroy()],
    ['a status of 429', (_request, response) => response.writeHead(429).end('{}')],
    ['a status of 500', (_request, response) => response.writeHead(500).end('{}')],
    ['a redirect', (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end()],
    ['a body without end', (_request, response) => response.end(`"${'x'.repeat(1024 * 1024)}"`)],
  ])('%s', async (_name, answer) => {
    const server = await serve(answer)
    const outcome = read(create({ baseUrl: server.baseUrl }), ['a'])
    await expect(outcome).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', kind: 'upstream_unavailable' })
    await expect(outcome).rejects.not.toThrow(/127\.0\.0\.1|http/)
    expect(server.requests).toHaveLength(1)
  })

  test('a service that does not answer in time', async () => {
    const server = await serve(() => {})
    const adapter = create({ baseUrl: server.baseUrl, timeoutMs: 50 })
    await expect(read(adapter, ['a'])).rejects.toMatchObject({ code: 'REQUEST_TIMED_OUT' })
  })

  test('to wait once its caller gave up', async () => {
    const server = await serve(() => {})
    const controller = new AbortController()
    const outcome = read(create({ baseUrl: server.baseUrl }), ['a'], controller.signal)
    controller.abort()
    await expect(outcome).rejects.toMatchObject({ kind: 'upstream_unavailable' })
  })

  test('a service that is not there', async () => {
    const server = await startPriceServiceStandIn(() => {})
    await server.close()
    await expect(read(create({ baseUrl: server.baseUrl }), ['a'])).rejects.toMatchObject({
      message: `${name} gave no valid answer.`,
    })
  })
})
