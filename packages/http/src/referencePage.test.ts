// Goal: the page of a description is small on its way, kept by browsers, as wide as the screen that shows it, and puts
// references in their place at once. Adversaries: callers who take no gzip, ask for a part, or spell a path anew to make
// the service remember it; an address without the version; a schema that leads to itself.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { gunzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createTestApp } from '../test/fixtures/httpTestApp.ts'
import { createPacker } from './compressedAnswers.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { listOperations, renderOperationList } from './operationList.ts'

const operationSchema = z.object({ operationId: z.string(), tags: z.array(z.string()) })
const describedSchema = z.object({ paths: z.record(z.string(), z.record(z.string(), operationSchema)) })

let app: HttpApp
beforeAll(async () => {
  const servers = [{ url: '/', description: 'this' }]
  app = await createTestApp({ openApi: { title: 'Quotes', description: 'Prices', servers } })
})
afterAll(() => app?.close())

const ask = (url: string, headers: Record<string, string> = {}) =>
  app.inject({ url: `/documentation${url}`, headers })

describe('files of the page', () => {
  test('come compressed to who takes it, with the bytes that others get', async () => {
    for (const url of ['/json', '/yaml', '/static/swagger-ui-bundle.js', '/static/swagger-ui.css']) {
      const plain = await ask(url)
      expect([url, plain.headers['content-encoding'], plain.headers.vary]).toEqual([
        url,
        undefined,
        'accept-encoding',
      ])
      const packed = await ask(url, { 'accept-encoding': 'br, gzip;q=0.8' })
      expect([url, packed.headers['content-encoding']]).toEqual([url, 'gzip'])
      expect(gunzipSync(packed.rawPayload).equals(plain.rawPayload)).toBe(true)
      expect(packed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2)
      expect(packed.headers['content-length']).toBe(String(packed.rawPayload.length))
    }
  })

  test.each(['', 'br', 'gzip;q=0', 'gzip; q=0.00', 'xgzip'])('come as they are to "%s"', async (accepted) => {
    const answer = await ask('/json', { 'accept-encoding': accepted })
    expect(answer.headers['content-encoding']).toBeUndefined()
    expect(answer.json()).toMatchObject({ openapi: '3.1.0' })
  })

  test('are kept by browsers under their version alone', async () => {
    const { body } = await ask('')
    const named = [...body.matchAll(/\/documentation(\/static\/swagger-ui[\w.-]+)\?v=[\d.]+/g)]
    const large = new Map(named.map(([url, path = '']) => [url, path]))
    expect([...large.values()].toSorted()).toEqual([
      '/static/swagger-ui-bundle.js',
      '/static/swagger-ui-standalone-preset.js',
      '/static/swagger-ui.css',
    ])
    for (const [url, path] of large) {
      expect((await app.inject({ url })).headers['cache-control']).toBe('public, max-age=31536000, immutable')
      for (const other of ['', '?v=0.0.1', '?v=', '?V=6.1.3', '?v=6.1.3&v=6.1.3'])
        expect([other, (await ask(`${path}${other}`)).headers['cache-control']]).toEqual([other, 'no-store'])
    }
    for (const url of ['', '/json', '/static/swagger-initializer.js', '/static/theme/reference.js'])
      expect([url, (await ask(url)).headers['cache-control']]).toEqual([url, 'no-store'])
  })

  test('are drawn as wide as the screen, and named from a slash at the end or without', async () => {
    for (const [url, folder] of [
      ['', '/documentation/'],
      ['/', './'],
    ] as const) {
      const { body } = await ask(url)
      expect(body).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">')
      for (const name of ['json', 'yaml']) expect(body).toContain(`<a href="${folder}${name}">`)
      const [, names = ''] = /data-scripts="([^"]+)"/.exec(body) ?? []
      const scripts = names.split(' ')
      expect(scripts.map((name) => name.replace(/^.*\/|\?.*$/g, ''))).toEqual([
        ...['swagger-ui-bundle.js', 'swagger-ui-standalone-preset.js'],
        ...['reference.js', 'swagger-initializer.js'],
      ])
      const [, style = ''] = /data-style="([^"]+)"/.exec(body) ?? []
      for (const name of [...scripts, style]) {
        const { pathname, search } = new URL(name, 'http://service/documentation/')
        expect([name, (await app.inject({ url: `${pathname}${search}` })).statusCode]).toEqual([name, 200])
      }
    }
  })

  test('run nothing but what loads the rest when an operation is opened', async () => {
    const { body } = await ask('')
    expect([...body.matchAll(/<script/g)]).toHaveLength(1)
    expect(body).toMatch(/<script src="\/documentation\/static\/theme\/loader\.js" [^>]*defer/)
    expect(body).not.toMatch(/<link rel="stylesheet"[^>]*swagger-ui\.css/)
  })
})

describe('the list of operations', () => {
  const about = { title: 'T', description: 'D' }
  const route = (schema: object, url = '/a') => ({
    method: ['GET', 'HEAD'],
    url,
    schema: { operationId: 'getA', summary: 'Does it', tags: ['one two', 'other'], ...schema },
  })
  const listOf = (...routes: Parameters<typeof listOperations>[0][]) =>
    renderOperationList(about, routes.flatMap(listOperations), './')

  test('names each by its first tag, method, path and summary, and links to it as Swagger UI does', () => {
    expect(listOf(route({}, '/a/:id/b'))).toContain(
      '<h2>one two</h2><ul><li><a href="#/one%20two/getA"><b class="get">GET</b> <code>/a/{id}/b</code> <span>Does it</span></a></li></ul>',
    )
  })

  test('leaves out what is hidden or not described', () => {
    const all = [route({ hide: true }), route({ tags: [] }), route({ operationId: '' })]
    for (const one of [...all, { method: 'GET', url: '/' }, { ...route({}), method: 'HEAD' }])
      expect(listOf(one)).not.toContain('<li>')
  })

  test('is that of the description', async () => {
    const { body } = await ask('')
    const { paths } = describedSchema.parse((await ask('/json')).json())
    const described = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(
        ([
          method,
          {
            operationId,
            tags: [tag = ''],
          },
        ]) => [...[method.toUpperCase(), path], `#/${encodeURIComponent(tag)}/${operationId}`],
      ),
    )
    const listed = [...body.matchAll(/<li><a href="([^"]+)"><b class="\w+">(\w+)<\/b> <code>([^<]+)</g)]
    expect(listed.map(([, link, method, path]) => [method, path, link]).toSorted()).toEqual(
      described.toSorted(),
    )
    expect(described.length).toBeGreaterThan(0)
  })

  test('runs nothing that a description says', () => {
    const hostile = `<script>alert(1)</script>"'&`
    const list = renderOperationList(
      { title: hostile, description: hostile },
      listOperations(route({ summary: hostile, tags: [hostile], operationId: hostile }, `/${hostile}`)),
      './',
    )
    expect(list).not.toContain('<script')
    expect(list.match(/&lt;script&gt;alert\(1\)&lt;\/script&gt;&quot;&#39;&amp;/g)).toHaveLength(5)
    expect(list.match(/<a /g)).toHaveLength(3)
  })
})

test('what is compressed is bounded: more texts than a page has are sent as they are', async () => {
  const packer = createPacker()
  const many = Fastify()
  many.addHook('onSend', (request, reply, payload) => packer(request, reply, payload))
  many.get<{ Params: { text: string } }>('/:text', async ({ params }) => params.text.repeat(2_000))
  const encodingOf = async (url: string) =>
    (await many.inject({ url, headers: { 'accept-encoding': 'gzip' } })).headers['content-encoding']
  expect(await encodingOf('/0')).toBe('gzip')
  for (let index = 1; index < 40; index += 1) await encodingOf(`/${index}`)
  expect([await encodingOf('/0'), await encodingOf('/39')]).toEqual(['gzip', undefined])
  await many.close()
})

type Resolve = (description: object, path: readonly string[]) => Promise<{ spec: unknown; errors: unknown }>

/** Resolver that the page's script passes to Swagger UI. */
function resolverOfThePage(): Resolve {
  const script = readFileSync(fileURLToPath(new URL('./referenceScript.js', import.meta.url)), 'utf8')
  let given: { plugins: (() => { fn: { resolveSubtree: Resolve } })[] } | undefined
  const start = (settings: typeof given) => {
    given = settings
  }
  const page = createContext({ SwaggerUIBundle: Object.assign(start, { presets: { apis: 1 } }) })
  runInContext(script, page)
  expect(runInContext('SwaggerUIBundle.presets.apis', page)).toBe(1)
  runInContext('SwaggerUIBundle({ plugins: ["theirs"] })', page)
  const plugin = given?.plugins.at(-1)
  if (plugin === undefined) throw new Error('the script gives no plugin')
  return plugin().fn.resolveSubtree
}

test('references are put in their place, what is said of a use wins, and what leads to itself ends', async () => {
  const resolve = resolverOfThePage()
  const description = {
    paths: { '/a': { get: { responses: { 400: { $ref: '#/components/responses/Bad' } } } } },
    components: {
      responses: {
        Bad: { description: 'bad', content: [{ schema: { $ref: '#/components/schemas/Tree' } }] },
      },
      schemas: {
        Tree: {
          description: 'of all',
          leaf: { $ref: '#/components/schemas/Leaf', description: 'of this use' },
          inner: { $ref: '#/components/schemas/Tree' },
        },
        Leaf: { description: 'of all leaves', type: 'string', default: null },
      },
    },
  }
  const { spec, errors } = await resolve(description, ['paths', '/a', 'get'])
  expect(JSON.parse(JSON.stringify([spec, errors]))).toEqual([
    {
      responses: {
        400: {
          $$ref: '#/components/responses/Bad',
          description: 'bad',
          content: [
            {
              schema: {
                $$ref: '#/components/schemas/Tree',
                description: 'of all',
                leaf: {
                  $$ref: '#/components/schemas/Leaf',
                  description: 'of this use',
                  type: 'string',
                  default: null,
                },
                inner: { $ref: '#/components/schemas/Tree' },
              },
            },
          ],
        },
      },
    },
    [],
  ])
  expect((await resolve(description, ['components', 'none'])).spec).toBeUndefined()
})
