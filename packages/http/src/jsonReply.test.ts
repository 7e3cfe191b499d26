// Goal: every way in which an answer can end reaches the caller once. Method: routes of a real app.
import { UpstreamUnavailableError } from '@causeway/core'
import { afterEach, expect, test } from 'vitest'
import { createTestApp } from '../test/fixtures/httpTestApp.ts'
import type { HttpAppOptions } from './createHttpApp.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { answerJson } from './json.ts'

const open: HttpApp[] = []
afterEach(async () => {
  for (const app of open.splice(0)) await app.close()
})

async function ask(answer: () => Promise<string>, options: Partial<HttpAppOptions> = {}) {
  const app = await createTestApp(options)
  open.push(app)
  app.get('/answer', (_request, reply) => answerJson(reply, answer()))
  return app.inject({ url: '/answer' })
}

test('the text is the body, byte by byte', async () => {
  const text = '{"amount":"1","symbol":"₿"}'
  const { statusCode, body, headers } = await ask(async () => text)
  expect([statusCode, body, headers['content-type']]).toEqual([200, text, 'application/json; charset=utf-8'])
  expect(headers['content-length']).toBe(String(Buffer.byteLength(text)))
})

test('an expected error keeps its status and code', async () => {
  const { statusCode, body } = await ask(async () => {
    throw new UpstreamUnavailableError('The chain did not answer.', { retryAfterSeconds: 3 })
  })
  expect([statusCode, JSON.parse(body)]).toMatchObject([503, { retryable: true }])
})

test.each([['text'], [undefined], [{ secret: 'value' }]])(
  'what a bug throws besides errors, %o, is an internal error that tells nothing',
  async (thrown) => {
    const { statusCode, body } = await ask(() => Promise.reject(thrown))
    expect(statusCode).toBe(500)
    expect(body).not.toContain('value')
  },
)

const lateEnds: readonly (readonly [string, () => Promise<string>])[] = [
  ['an answer', async () => '{}'],
  ['an error', () => Promise.reject(new Error('late'))],
]
test.each(lateEnds)('after the time of its route %s changes nothing', async (_, end) => {
  let isOver = () => {}
  const over = new Promise<void>((resolve) => {
    isOver = resolve
  })
  const late = async (): Promise<string> => {
    await over
    return end()
  }
  const { statusCode } = await ask(late, { handlerTimeoutMs: 20 })
  expect(statusCode).toBe(503)
  isOver()
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
})
