import { expect, test } from 'vitest'
import { z } from 'zod'
import { createTestApp } from '../test/fixtures/httpTestApp.ts'
import { errorResponses } from './errorBody.ts'
import { nameSchemas } from './openApiDocument.ts'

async function createDocumentedApp() {
  const app = await createTestApp({
    openApi: {
      title: 'Quotes',
      description: 'Prices',
      servers: [
        { url: 'https://mainnet.example', description: 'mainnet' },
        { url: 'https://testnet.example', description: 'testnet' },
      ],
    },
  })
  app.post(
    '/price',
    {
      schema: {
        summary: 'Price',
        deprecated: true,
        body: z.object({ amount: z.string().regex(/^[0-9]+$/) }),
        response: { 200: z.object({ rate: z.string() }), ...errorResponses },
      },
    },
    async () => ({ rate: '1' }),
  )
  return app
}

test('an answer that JSON cannot express is found when the description is made, before anybody asks for it', async () => {
  const app = await createDocumentedApp()
  const schema = { response: { 200: z.object({ amount: z.bigint() }), ...errorResponses } }
  app.get('/amount', { schema }, async () => ({ amount: 1n }))
  expect((await app.inject({ url: '/documentation/json' })).statusCode).toBe(500)
  await app.close()
})

test('the description comes from the routes and names version and servers', async () => {
  const app = await createDocumentedApp()
  const document = (await app.inject({ url: '/documentation/json' })).json()
  expect(document).toMatchObject({
    openapi: '3.1.0',
    info: { title: 'Quotes', version: '1.0.0' },
    servers: [{ url: 'https://mainnet.example' }, { url: 'https://testnet.example' }],
    paths: {
      '/lives/v1': { get: {} },
      '/price': {
        post: {
          deprecated: true,
          requestBody: {
            content: {
              'application/json': {
                schema: { required: ['amount'], properties: { amount: { pattern: '^[0-9]+$' } } },
              },
            },
          },
        },
      },
    },
  })
  expect(Object.keys(document.paths)).toEqual(['/lives/v1', '/price'])
  const statuses = Object.keys(document.paths['/price'].post.responses)
  expect(statuses).toEqual(['200', '400', '401', '403', '404', '409', '413', '415', '429', '500', '503'])
  await app.close()
})

test('O-route-03: a property called `title` stays', () => {
  const schema = { type: 'object', properties: { title: { type: 'string' }, size: { type: 'number' } } }
  const post = { operationId: 'add', requestBody: { content: { 'application/json': { schema } } } }
  expect(nameSchemas({ paths: { '/books': { post } } }, {})).toMatchObject({
    components: { schemas: { AddRequest: schema } },
  })
})

test('the root leads to the page, and every asset of the page is served by us', async () => {
  const app = await createDocumentedApp()
  const root = await app.inject({ url: '/' })
  expect([root.statusCode, root.headers.location]).toEqual([302, '/documentation'])
  const page = await app.inject({ url: '/documentation' })
  expect(page.statusCode).toBe(200)
  // Links to a place in the page begin with #.
  const named = [...page.body.matchAll(/(?:src|href|data-scripts|data-style)="([^#"][^"]*)"/g)]
  const assets = new Set(named.flatMap(([, names = '']) => names.split(' ')))
  expect(assets.size).toBeGreaterThan(8)
  for (const asset of assets) {
    expect(asset).toMatch(/^\.?\/(?!\/)/)
    const url = new URL(asset, 'http://host/documentation/').pathname
    const response = await app.inject({
      url: url
        .replace('/static/', '/documentation/static/')
        .replace('/documentation/documentation/', '/documentation/'),
    })
    expect([asset, response.statusCode]).toEqual([asset, 200])
  }
  expect(page.headers['content-security-policy']).toContain("default-src 'self'")
  await app.close()
})
