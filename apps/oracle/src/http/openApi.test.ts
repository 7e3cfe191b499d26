// Goal: who reads the description can call an oracle: names, examples, and a list of codes per route.
import type { HttpApp } from '@causeway/http'
import { describedOperations, lintDescription } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApp } from '../../test/fixtures/oracleApp.ts'
import { world } from '../../test/fixtures/world.ts'

let app: HttpApp
let description: string

beforeAll(async () => {
  app = (await testApp({ context: world({ ethereum: {}, base: {} }) })).app
  description = (await app.inject({ url: '/documentation/json' })).body
})
afterAll(() => app?.close())

test('redocly finds no error and nothing to warn of', async () => {
  expect(await lintDescription(description)).toEqual([])
}, 180_000)

test('it is small enough to be read', () => {
  expect(Buffer.byteLength(description)).toBeLessThan(150_000)
})

test('the example of every operation is understood by its route, and refused only as described', async () => {
  const operations = describedOperations(description)
  expect(operations.length).toBeGreaterThan(12)
  for (const { operationId, method, url, body, missing, codes, responses } of operations) {
    expect([operationId, missing]).toEqual([operationId, []])
    const answer = await app.inject({
      method,
      url,
      ...(typeof body === 'object' && body !== null && { payload: body }),
    })
    const status = String(answer.statusCode)
    expect(Object.keys(responses), `${operationId}: ${answer.body}`).toContain(status)
    if (answer.statusCode === 200) continue
    const { errorCode } = answer.json()
    expect(codes[status], operationId).toContain(errorCode)
    expect(errorCode, operationId).not.toBe('INVALID_REQUEST')
  }
})
