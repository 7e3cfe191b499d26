// Goal: `/`, `/documentation` with its subpaths and `/lives/*` are never limited, existing or not, and no
// spelling of a URL frees anything else. Method: request targets as they are, over raw sockets, each from
// an address of its own behind a trusted proxy; a limit of two requests.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { HttpApp } from '../src/fastifyTypes.ts'
import { createTestApp } from './fixtures/httpTestApp.ts'
import { portOf, sendRaw } from './rawSocket.ts'

let app: HttpApp
let port: number
let pricedCount = 0
let addressCount = 0

beforeAll(async () => {
  app = await createTestApp({
    rateLimits: {
      windowMs: 600_000,
      classes: { read: { perKeyMax: 2, perIpMax: 2 } },
      defaultClass: 'read',
      failedKeysPerMinuteMax: 0,
    },
    trustedProxies: ['127.0.0.1'],
    openApi: { title: 'test', description: 'test', servers: [] },
  })
  const price = async () => {
    pricedCount += 1
    return {}
  }
  app.get('/price', price)
  app.post('/price', price)
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = portOf(app)
})
afterAll(async () => {
  await app.close()
})

/** Statuses of four requests for one target from one new address. */
async function askFourTimes(target: string, method = 'GET'): Promise<readonly string[]> {
  addressCount += 1
  const head = `${method} ${target} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 10.0.0.${addressCount}\r\n`
  const request = `${head}content-length: 0\r\n\r\n`
  const last = `${head}content-length: 0\r\nconnection: close\r\n\r\n`
  const { text } = await sendRaw(port, [request.repeat(3) + last])
  return [...text.matchAll(/HTTP\/1\.1 ([0-9]{3}) /g)].map((match) => match[1] ?? '')
}

test.each([
  ['GET', '/', '302'],
  ['GET', '/?a=1', '302'],
  ['POST', '/', '404'],
  ['GET', '/lives/v1', '200'],
  ['POST', '/lives/v1', '404'],
  ['GET', '/%6cives/v1', '200'],
  ['GET', '/lives/doesnotexist', '404'],
  ['GET', '/lives/', '404'],
  ['GET', '/lives/../price', '404'],
  ['GET', '/lives/%2e%2e/price', '404'],
  ['GET', '/lives/..%2fprice', '404'],
  ['GET', '/lives//../../price', '404'],
  ['GET', '/lives/v1?/price', '200'],
  ['GET', '/documentation', '200'],
  ['POST', '/documentation', '404'],
  ['GET', '/documentation?a', '200'],
  ['GET', '/documentation/json', '200'],
  ['GET', '/documentation/doesnotexist', '404'],
  ['GET', '/documentation/static/doesnotexist.js', '404'],
  ['GET', '/documentation/../price', '404'],
  ['GET', '/documentation/static/../../price', '400'],
  ['GET', 'http://x/lives/v1', '200'],
])('%s %s is exempt', async (method, target, status) => {
  expect(await askFourTimes(target, method)).toEqual(Array(4).fill(status))
  expect(pricedCount).toBe(0)
})

test.each([
  ['/price', 2],
  ['/%70rice', 2],
  ['/price?/lives/v1', 2],
  ['/price?/../documentation/', 2],
  ['/PRICE', 0],
  ['/lives', 0],
  ['/livesX/v1', 0],
  ['/LIVES/v1', 0],
  ['//lives/v1', 0],
  ['/./lives/v1', 0],
  ['/lives%2fv1', 0],
  ['/price/../lives/v1', 0],
  ['/price/lives/v1', 0],
  ['/documentationX', 0],
  ['/Documentation/', 0],
  ['//documentation', 0],
  ['/documentation%2fjson', 0],
  ['/x?/documentation/', 0],
  ['/;/lives/v1', 0],
  ['http://x/price', 2],
  ['http://x/LIVES/v1', 0],
])('%s is limited', async (target, reached) => {
  pricedCount = 0
  expect((await askFourTimes(target)).slice(2)).toEqual(['429', '429'])
  expect(pricedCount).toBe(reached)
  pricedCount = 0
})
