// Goal: who reads the description can call an oracle: names, examples, and a list of codes per route.
import type { HttpApp } from '@causeway/http'
import { contradictedExample, describedOperations, lintDescription } from '@causeway/localnet'
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
  for (const operation of operations)
    expect(await contradictedExample(operation, app), operation.operationId).toEqual([])
})
