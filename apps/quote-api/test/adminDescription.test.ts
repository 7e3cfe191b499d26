// Goal: who reads the description of the admin listener can operate the service. Adversaries: a route without a
// name, a summary or an example; an example that its own route does not understand; an answer that is not described;
// a description that hands out more than the routes. Method: the real listener over a real database.
import { Secret } from '@causeway/core'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { createAdminListener, type HttpApp } from '@causeway/http'
import { ledgerMigrations } from '@causeway/ledger'
import { contradictedExample, describedOperations, lintDescription } from '@causeway/localnet'
import { createLogger } from '@causeway/service'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parsePeppers } from '../src/access/keys/peppers.ts'
import { loadConfig } from '../src/config/config.ts'
import { adminDescription } from '../src/http/admin/adminOperation.ts'
import { registerAdmin } from '../src/http/admin/registerAdmin.ts'
import { errorPolicy } from '../src/http/errorPolicy.ts'
import { statusOf } from '../src/operate/admin/status.ts'
import { createAdministration } from '../src/operate/administration.ts'
import { openCommandChain } from '../src/operate/cli/commandChain.ts'
import { pepperText } from './accessSupport/accessService.ts'
import { repositoryRoot } from './fixtures/service.ts'
import { orderMigrations } from './orderSupport/orders.ts'

const adminKey = 'admin-key-of-tests'
let bed: TestDatabase
let app: HttpApp
let description: string

beforeAll(async () => {
  bed = await startTestDatabase({
    directories: [{ name: 'ledger', path: ledgerMigrations }, orderMigrations],
  })
  const { database } = bed
  const variables = { ENVIRONMENT: 'local', DATABASE_URL: bed.connectionString, API_KEY_PEPPERS: pepperText }
  const config = loadConfig(variables, repositoryRoot)
  app = await createAdminListener({
    logger: createLogger({ service: 'quote-api', level: 'silent' }),
    errors: errorPolicy,
    host: '0.0.0.0',
    isLocal: false,
    apiKey: new Secret(adminKey),
    openApi: adminDescription,
  })
  registerAdmin(
    app,
    createAdministration({ config, database, peppers: parsePeppers(new Secret(pepperText)) }),
    {
      database,
      retention: config.retention,
      chain: (signal) => openCommandChain({ config, variables, database, signal }),
      readStatus: async () => statusOf([]),
    },
  )
  description = (await app.inject({ url: '/documentation/json' })).body
})
afterAll(async () => {
  await app?.close()
  await bed?.stop()
})

test('redocly finds no error and nothing to warn of in the description for operators', async () => {
  expect(await lintDescription(description)).toEqual([])
}, 180_000)

test('the example of every admin operation is understood, answered as described, and refused without the key', async () => {
  const operations = describedOperations(description)
  expect(operations.length).toBeGreaterThan(30)
  for (const operation of operations) {
    const { operationId, method, url, body, security } = operation
    expect([operationId, security]).toEqual([operationId, undefined])
    const request = { method, url, ...(typeof body === 'object' && body !== null && { payload: body }) }
    for (const headers of [{}, { 'x-api-key': `${adminKey}x` }, { authorization: `Bearer ${adminKey}` }]) {
      expect([operationId, (await app.inject({ ...request, headers })).statusCode]).toEqual([
        operationId,
        401,
      ])
    }
    expect(await contradictedExample(operation, app, { 'x-api-key': adminKey }), operationId).toEqual([])
  }
})
