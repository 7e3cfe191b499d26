// Goal: an agent that knows the address of this service alone finds and reads its pages. Adversary: a caller who wants
// a file that is no page, by dots, codes, absolute paths or a link that somebody left in the folder.
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDocs } from '../src/http/docs/readDocs.ts'
import { testApp } from './fixtures/app.ts'
import { repositoryRoot } from './fixtures/service.ts'

const folder = join(repositoryRoot, 'docs')
const secret = 'what no caller may read'

let app: Awaited<ReturnType<typeof testApp>>
let port: number

beforeAll(async () => {
  app = await testApp({ docs: await readable(folder) })
  port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
})
afterAll(() => app?.close())

const readable = (place: string) =>
  openDocs(place, (error) => {
    throw error
  })
const get = (url: string, headers: Readonly<Record<string, string>> = {}) => app.inject({ url, headers })
const notFound = { statusCode: 404, errorCode: 'NOT_FOUND' }

/** Targets of links outside code, as a reader of Markdown sees them. */
function linksOf(markdown: string): readonly string[] {
  const prose = markdown.replace(/```[\s\S]*?```/g, '').replace(/(?<!\[)`[^`\n]*`(?!\])/g, '')
  return [...prose.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => target)
}

async function listedPaths(): Promise<readonly string[]> {
  return linksOf((await get('/llms.txt')).body).filter((target) => target.startsWith('docs/'))
}

describe('the list', () => {
  test('Q-120: /llms.txt has one title, one quotation, and sections of nothing but links', async () => {
    const { statusCode, headers, body } = await get('/llms.txt')
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
    const [head = '', ...sections] = body.split(/^## /m)
    expect(head).toMatch(/^# Causeway\n\n> .+\n\n.+\n\n$/)
    expect(sections.map((section) => section.split('\n', 1)[0])).toEqual([
      'Interface',
      'Concepts',
      'Guides',
      'Reference',
      'Specification',
    ])
    for (const section of sections) {
      const [, ...lines] = section.trim().split('\n')
      for (const line of lines.filter((one) => one !== ''))
        expect(line).toMatch(/^- \[.+?\]\([\w./-]+\): .+\.$/)
    }
    expect(body).toContain(
      '- [Clients](docs/reference/clients.md): This page lists the flows that published, unmodified clients complete against this service, and the test of each.',
    )
    expect((await get('/documentation/json')).statusCode).toBe(200)
  })

  test('Q-120: each page that it lists is the file, and its links lead to what is served', async () => {
    const paths = await listedPaths()
    expect(paths.length).toBeGreaterThan(40)
    for (const path of paths) {
      const { statusCode, headers, body } = await get(`/${path}`)
      expect([path, statusCode, headers['content-type']]).toEqual([path, 200, 'text/markdown; charset=utf-8'])
      const file = await readFile(join(repositoryRoot, path), 'utf8')
      const unlinked = (markdown: string) => markdown.replace(/\[((?:`[^`]*`|[^[\]])*)\]\([^)\s]+\)/g, '$1')
      expect(unlinked(body)).toBe(unlinked(file))
      const inside = linksOf(body).filter((target) => !/^(?:#|https?:)/.test(target))
      for (const target of inside) {
        const [linked = ''] = posix.join(posix.dirname(path), target).split('#')
        expect(paths, `${path} links to ${target}`).toContain(linked)
      }
    }
  })

  test('Q-120: pages for those who run or change the service are not there', async () => {
    for (const path of [
      'operating/configuration.md',
      'internals/architecture.md',
      'decisions/0005-errors.md',
    ]) {
      expect(await readFile(join(folder, path), 'utf8')).not.toBe('')
      expect((await get(`/docs/${path}`)).json()).toMatchObject(notFound)
    }
    expect((await get('/llms.txt')).body).not.toMatch(/\((?:docs\/)?(?:operating|internals|decisions)/)
  })
})

describe('a path of a caller', () => {
  test.each([
    '/docs/',
    '/docs',
    '/docs/guides',
    '/docs/guides/',
    '/docs/../package.json',
    '/docs/../../../../etc/passwd',
    '/docs/guides/../../package.json',
    '/docs/guides/../guides/tron.md',
    '/docs/%2e%2e/package.json',
    '/docs/..%2fpackage.json',
    '/docs/..%5cpackage.json',
    '/docs/%252e%252e%252fpackage.json',
    '/docs//etc/passwd',
    '/docs/%2fetc%2fpasswd',
    '/docs/file:///etc/passwd',
    '/docs/guides/tron.md%00',
    '/docs/guides/TRON.md',
    '/docs/guides/examples/sponsorProxy.ts',
    '/docs/operating/admin-listener.md',
    '/docs/__proto__',
    '/docs/constructor',
    `/docs/${'a/'.repeat(50)}x.md`,
  ])('Q-121: %s is no page', async (path) => {
    const { status, body } = await rawGet(path)
    expect(JSON.parse(body)).toMatchObject(notFound)
    expect(status).toBe(404)
  })

  /** As the bytes say: clients of HTTP take dots out of a path before they send it. */
  async function rawGet(path: string): Promise<{ status: number; body: string }> {
    const socket = createConnection(port, '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
    return { status: Number(head.split(' ')[1]), body }
  }

  test('Q-121: a symbolic link in the folder leads nowhere', async () => {
    const place = await mkdtemp(join(tmpdir(), 'causeway-docs-'))
    try {
      await writeFile(join(place, 'secret.md'), secret)
      const docs = join(place, 'docs')
      await mkdir(join(docs, 'guides'), { recursive: true })
      await writeFile(join(docs, 'guides/page.md'), '# Page\n\nA page.\n')
      await writeFile(join(docs, 'guides/:name.md'), secret)
      await writeFile(join(docs, 'guides/notes.txt'), secret)
      await symlink(join(place, 'secret.md'), join(docs, 'guides/link.md'))
      await symlink(place, join(docs, 'guides/up'))
      await symlink(place, join(docs, 'concepts'))
      expect([...(await readable(docs))]).toEqual([['guides/page.md', '# Page\n\nA page.\n']])
    } finally {
      await rm(place, { recursive: true })
    }
  })
})

test('Q-121: a page may be kept, and is not sent again to who has it', async () => {
  for (const url of ['/llms.txt', '/docs/guides/tron.md']) {
    const { headers } = await get(url)
    expect(headers['cache-control']).toBe('public, max-age=300')
    const tag = String(headers.etag)
    expect(tag).toMatch(/^"[\w-]{43}"$/)
    for (const held of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const again = await get(url, { 'if-none-match': held })
      expect([held, again.statusCode, again.body, again.headers.etag]).toEqual([held, 304, '', tag])
    }
    expect((await get(url, { 'if-none-match': '"other"' })).statusCode).toBe(200)
  }
  expect((await get('/docs/none.md')).headers['cache-control']).toBe('no-store')
})

test.each([
  ['no folder', join(tmpdir(), 'causeway-no-docs'), 'ENOENT'],
  ['no page', import.meta.dirname, 'no page for callers'],
])('Q-121: with %s the service has none, hears why, and answers 404', async (_what, place, reason) => {
  const failures: unknown[] = []
  const bare = await testApp({ docs: await openDocs(place, (error) => failures.push(error)) })
  expect(failures.map(String).join()).toContain(reason)
  for (const url of ['/llms.txt', '/docs/guides/tron.md']) {
    expect((await bare.inject({ url })).json()).toMatchObject(notFound)
  }
  await bare.close()
})
