import { Secret } from '@causeway/core'
import { expect, test } from 'vitest'
import { createLogger } from './logger.ts'
import { scrubUrls } from './scrubUrls.ts'

const canary = 'CANARY-4f1d'

function capture(): { lines: () => string; log: ReturnType<typeof createLogger> } {
  let text = ''
  const destination = {
    write(line: string) {
      text += line
    },
  }
  return { lines: () => text, log: createLogger({ service: 'test', level: 'trace', destination }) }
}

test('secrets in known fields, in Secret and in URLs never reach a line', () => {
  const { log, lines } = capture()
  const cause = Object.assign(new Error(`POST https://rpc.example/v2/${canary} failed`), {
    code: 'ECONNRESET',
  })
  log.error(
    { err: new Error(`no answer from wss://user:${canary}@node.example:8546/x`, { cause }) },
    'failed',
  )
  log.info({ apiKey: canary, wallet: { privateKey: canary, password: canary } }, 'fields')
  log.info({ secret: new Secret(canary), config: { nested: new Secret(canary) } }, 'typed')
  log.info(
    { request: { headers: { 'x-api-key': canary, authorization: canary, cookie: canary } } },
    'headers',
  )
  log.child({ privateKey: canary }).warn('child')
  expect(lines()).not.toContain(canary)
  expect(lines()).toContain('https://rpc.example/…')
  expect(lines()).toContain('wss://node.example:8546/…')
  expect(lines()).toContain('"code":"ECONNRESET"')
})

test('texts, numbers and all other values are written as JSON', () => {
  const { log, lines } = capture()
  const values = {
    text: 'a "quoted"\nline',
    lone: '\ud800',
    number: 1.5,
    none: Number.NaN,
    yes: true,
    empty: null,
  }
  log
    .child({ id: 'x-1' })
    .info({ ...values, big: 5n, left: undefined, list: ['a', { nested: 1 }] }, 'a "text"')
  expect(lines().replace(/"time":\d+/, '"time":0')).toBe(
    `{"level":30,"time":0,"service":"test","id":"x-1","text":"a \\"quoted\\"\\nline","lone":"\\ud800","number":1.5,"none":null,"yes":true,"empty":null,"big":5,"list":["a",{"nested":1}],"msg":"a \\"text\\""}\n`,
  )
})

test('requests and answers are reduced to names and numbers', () => {
  const { log, lines } = capture()
  const req = {
    method: 'POST',
    id: 'r-1',
    url: `/quote?key=${canary}`,
    body: { user: canary },
    headers: { 'x-api-key': canary },
    routeOptions: { url: '/quote' },
  }
  log.info({ req, res: { statusCode: 200, body: canary } }, 'served')
  const { time, ...line } = JSON.parse(lines())
  expect(time).toBeTypeOf('number')
  expect(line).toEqual({
    level: 30,
    service: 'test',
    req: { method: 'POST', route: '/quote', requestId: 'r-1' },
    res: { statusCode: 200 },
    msg: 'served',
  })
})

test('what was thrown and is no error is named by its type only', () => {
  const { log, lines } = capture()
  log.error({ err: canary }, 'odd')
  expect(JSON.parse(lines()).err).toEqual({ type: 'string' })
})

test.each([
  ['https://a.example', 'https://a.example'],
  ['at https://a.example/key?x=y, then', 'at https://a.example/… then'],
  ['postgres://me:pw@db:5432/x', 'postgres://db:5432/…'],
  ['https://a.example?key=1 and http://b/', 'https://a.example/… and http://b/…'],
  ['no url: a//b c:d', 'no url: a//b c:d'],
])('%s is logged as %s', (text, scrubbed) => {
  expect(scrubUrls(text)).toBe(scrubbed)
})
