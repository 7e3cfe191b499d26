// Goal: operators read in a message what is wrong with a price service, and callers can tell a slow one.
// Method: a local server that stands in for the service.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { sendsJson, startPriceServiceStandIn } from '../../../test/support/priceServiceStandIn.ts'
import { readJson, serviceUrl } from './readJson.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

async function ask(answer: Answer, question: { keySetting?: string; timeoutMs?: number } = {}) {
  const server = await startPriceServiceStandIn(answer)
  onTestFinished(() => server.close())
  const outcome = readJson({
    service: 'prices',
    url: serviceUrl(server.baseUrl, 'now'),
    headers: { 'x-key': 'k-1' },
    schema: z.object({ usd: z.number() }),
    timeoutMs: 5_000,
    signal: new AbortController().signal,
    ...question,
  })
  // A refusal that is seen only after the requests is no unhandled one.
  outcome.catch(() => undefined)
  return { outcome, server }
}

const status =
  (code: number): Answer =>
  (_request, response) =>
    response.writeHead(code).end('{}')

describe('readJson', () => {
  test('gets one document, says who asks and which form it reads', async () => {
    const methods: (string | undefined)[] = []
    const { outcome, server } = await ask((request, response) => {
      methods.push(request.method)
      sendsJson({ usd: 2, more: true })(request, response)
    })
    expect(await outcome).toEqual({ usd: 2 })
    expect(methods).toEqual(['GET'])
    expect(server.requests[0]?.headers).toMatchObject({
      accept: 'application/json',
      'user-agent': 'causeway',
      'x-key': 'k-1',
    })
  })

  test.each<[string, Answer, { keySetting?: string; timeoutMs?: number }]>([
    ['prices answered with status 500.', status(500), { keySetting: 'PRICES_KEY' }],
    ['prices answered with status 401.', status(401), {}],
    [
      'prices answered with status 403: it wants an API key that it knows, see PRICES_KEY.',
      status(403),
      { keySetting: 'PRICES_KEY' },
    ],
    [
      'prices sent too much.',
      (_request, response) => response.end(`"${'x'.repeat(1024 * 1024)}"`),
      { keySetting: 'PRICES_KEY' },
    ],
    ['prices gave no valid answer.', sendsJson({ usd: 'two' }), {}],
    ['prices did not answer in time.', () => {}, { timeoutMs: 50 }],
  ])('says %j', async (message, answer, question) => {
    const { outcome } = await ask(answer, question)
    await expect(outcome).rejects.toMatchObject({ message })
  })

  test('keeps the cause of an answer that is no valid one', async () => {
    const { outcome } = await ask((_request, response) => response.end('<html>'))
    await expect(outcome).rejects.toMatchObject({ cause: expect.any(SyntaxError) })
  })

  test('passes on that its caller gave up, in the words of the request', async () => {
    const server = await startPriceServiceStandIn(() => {})
    onTestFinished(() => server.close())
    const controller = new AbortController()
    controller.abort()
    const outcome = readJson({
      service: 'prices',
      url: serviceUrl(server.baseUrl, 'now'),
      headers: {},
      schema: z.unknown(),
      timeoutMs: 5_000,
      signal: controller.signal,
    })
    await expect(outcome).rejects.not.toThrow('in time')
  })
})

test.each(['https://host.example/api/v3', 'https://host.example/api/v3/'])(
  'a path goes below the base address %s',
  (baseUrl) => {
    expect(serviceUrl(baseUrl, 'simple/price').href).toBe('https://host.example/api/v3/simple/price')
  },
)
