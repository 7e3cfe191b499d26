// Goal: hostile bytes end in a typed refusal and a closed connection, never in a hang or a crash.
// Method: raw sockets against a listening app with short limits.
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { errorBodySchema } from '../src/errorBody.ts'
import type { HttpApp } from '../src/fastifyTypes.ts'
import { createHttpMetrics } from '../src/index.ts'
import { createTestApp } from './fixtures/httpTestApp.ts'
import { parseAnswer, sendRaw } from './rawSocket.ts'

let app: HttpApp
let port: number
const metrics = createHttpMetrics({ service: 'test' })
const aborted: unknown[] = []
beforeAll(async () => {
  app = await createTestApp({
    metrics,
    limits: { headersTimeoutMs: 500, requestTimeoutMs: 1_000, connectionTimeoutMs: 4_000 },
  })
  app.post('/echo', { schema: { body: z.object({ amount: z.string() }) } }, async ({ body }) => body)
  app.post('/wait', ({ cancellation }) => {
    return new Promise((resolve) => {
      cancellation.addEventListener('abort', () => {
        aborted.push(cancellation.reason)
        resolve({})
      })
    })
  })
  app.post('/later', async ({ cancellation }) => {
    await new Promise((resolve) => setTimeout(resolve, 50))
    return { aborted: cancellation.aborted }
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  // CAST: a TCP listener has a TCP address.
  port = (app.server.address() as AddressInfo).port
})
afterAll(async () => {
  await app.close()
})

const refusal = (text: string) => {
  const { status, body } = parseAnswer(text)
  const { statusCode, errorCode } = errorBodySchema.strict().parse(body)
  expect(statusCode).toBe(status)
  return [status, errorCode]
}
const head = 'POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n'

test('headers that never end are answered with 408 and cut', async () => {
  const { text, closed } = await sendRaw(port, ['POST /echo HTTP/1.1\r\nhost: x\r\nx-a: '])
  expect([refusal(text), closed]).toEqual([[408, 'REQUEST_LATE'], true])
})

test('half a body is answered with 408 and cut', async () => {
  const { text, closed } = await sendRaw(port, [`${head}content-length: 100\r\n\r\n{"amount":`])
  expect([refusal(text), closed]).toEqual([[408, 'REQUEST_LATE'], true])
})

test('a body that drips a byte at a time is cut at the same time', async () => {
  const drips = Array.from('{"amount":"1234567890"}', (byte) => [byte, { waitMs: 200 }]).flat()
  const { closed } = await sendRaw(port, [`${head}content-length: 23\r\n\r\n`, ...drips])
  expect(closed).toBe(true)
})

test('a connection that says nothing is closed', async () => {
  const { text, closed } = await sendRaw(port, [])
  expect(closed).toBe(true)
  if (text !== '') expect(refusal(text)).toEqual([408, 'REQUEST_LATE'])
})

test('headers above the limit are 431', async () => {
  const { text, closed } = await sendRaw(port, [
    `GET /lives/v1 HTTP/1.1\r\nhost: x\r\nx-a: ${'a'.repeat(9_000)}\r\n\r\n`,
  ])
  expect([refusal(text), closed]).toEqual([[431, 'HEADERS_TOO_LARGE'], true])
})

test.each([
  ['not HTTP', '\x16\x03\x01\x02\x00 hello\r\n\r\n'],
  ['a NUL in a header', 'GET /lives/v1 HTTP/1.1\r\nhost: x\r\nx-a: \0\r\n\r\n'],
  ['no host', 'GET /lives/v1 HTTP/1.1\r\n\r\n'],
  ['a length that is no number', `${head}content-length: x\r\n\r\n`],
  ['two lengths', `${head}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`],
  ['length and chunks', `${head}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['a chunk size that is no number', `${head}transfer-encoding: chunked\r\n\r\nzz\r\n`],
  ['a bare line feed before a header', 'GET /lives/v1 HTTP/1.1\nhost : x\r\n\r\n'],
])('%s is 400 and cut', async (_name, bytes) => {
  const { text, closed } = await sendRaw(port, [bytes])
  expect(text).toMatch(/^HTTP\/1\.1 400 /)
  expect(closed).toBe(true)
})

test('a chunked body above the limit is 413 and cut', async () => {
  const chunk = `${(16_384).toString(16)}\r\n${' '.repeat(16_384)}\r\n`
  const { text, closed } = await sendRaw(port, [
    `${head}transfer-encoding: chunked\r\n\r\n`,
    ...Array.from({ length: 6 }, () => chunk),
  ])
  expect([refusal(text), closed]).toEqual([[413, 'BODY_TOO_LARGE'], true])
})

test('a length beyond the limit is refused before the body is sent', async () => {
  const { text, closed } = await sendRaw(port, [`${head}content-length: 1000000000\r\n\r\n`])
  expect([refusal(text), closed]).toEqual([[413, 'BODY_TOO_LARGE'], true])
})

test('a caller that goes away cancels its handler and is no longer counted', async () => {
  await sendRaw(
    port,
    ['POST /wait HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}'],
    200,
  )
  await expect.poll(() => aborted.length).toBe(1)
  expect(aborted[0]).toBeInstanceOf(Error)
  await expect.poll(() => metrics.registry.metrics()).toContain('http_requests_in_flight{service="test"} 0')
  expect(await metrics.registry.metrics()).toContain('route="/wait",method="POST",status="499"')
})

test('a caller that waits is not cancelled by the end of its body', async () => {
  const answer = await fetch(`http://127.0.0.1:${port}/later`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"a":1}',
  })
  expect(await answer.json()).toEqual({ aborted: false })
})

test('requests in one packet are answered in order', async () => {
  const one = (amount: string) => `${head}content-length: ${13 + amount.length}\r\n\r\n{"amount":"${amount}"}`
  const { text } = await sendRaw(port, [one('1') + one('22') + one('333')], 500)
  expect(text.match(/\{"amount":"\d+"\}/g)).toEqual(['{"amount":"1"}', '{"amount":"22"}', '{"amount":"333"}'])
})

test('after all that the process still answers', async () => {
  const answer = await fetch(`http://127.0.0.1:${port}/lives/v1`)
  expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }])
})
