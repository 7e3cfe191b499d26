// Goal of an attacker: as the server of the list, or between it and us, remove an account. Method: real servers and
// files.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret } from '@causeway/core'
import { createFindings } from '@causeway/core/config'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type DenyListSettings, denyListSettings } from './denyListSettings.ts'
import { type DenyListEvent, examineDenyList, openDenyList } from './keepDenyList.ts'

const addresses = Array.from(
  { length: 10 },
  (_, index) =>
    `0x${String(index + 1)
      .repeat(40)
      .slice(0, 40)}`,
)
const [first = '', second = ''] = addresses
const textOf = (denied: readonly string[]) =>
  JSON.stringify({ version: 1, denied: { 'ethereum-vm': denied } })
const settings: DenyListSettings = {
  file: undefined,
  url: undefined,
  refreshSeconds: 3_600,
  maxAgeSeconds: 600,
  entriesMin: 1,
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A host whose answer can be changed. */
async function host(answer: Answer) {
  const state = { answer, asked: [] as IncomingMessage[] }
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    state.asked.push(request)
    state.answer(request, response)
  })
  server.on('connection', (socket: Socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  // CAST: a server that listens on TCP.
  const { port } = server.address() as AddressInfo
  return { state, url: new Secret(`http://127.0.0.1:${port}/list?token=hidden`) }
}

/** Answers with the text and its tag, and 304 to whoever has it. */
const serves =
  (text: string, etag: string): Answer =>
  (request, response) => {
    const isKnown = request.headers['if-none-match'] === etag
    response.writeHead(isKnown ? 304 : 200, { etag }).end(isKnown ? '' : text)
  }

async function folder(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-deny-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function opened(more: Partial<DenyListSettings>) {
  const clock = { nowMs: 0 }
  const events: DenyListEvent[] = []
  const list = await openDenyList(
    { ...settings, ...more },
    { now: () => clock.nowMs, observe: (event) => events.push(event) },
  )
  if (list === undefined) throw new Error('a source is set')
  onTestFinished(() => list.close())
  return { list, clock, events }
}

test('without a source there is no list, and nobody is asked', async () => {
  expect(await openDenyList(settings, { now: () => 0, observe: () => {} })).toBeUndefined()
})

test('a list behind a URL is taken, asked for by its tag, and replaced', async () => {
  const { state, url } = await host(serves(textOf(addresses), '"one"'))
  const { list, events } = await opened({ url })
  expect([list.entries, list.denies(first, undefined), list.denies('0xff', undefined)]).toEqual([
    10,
    true,
    false,
  ])
  await list.refresh()
  expect(state.asked.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"one"'])
  expect(events).toEqual([])
  state.answer = serves(textOf(addresses.slice(1)), '"two"')
  await list.refresh()
  expect([list.denies(first, undefined), list.denies(second, undefined)]).toEqual([false, true])
  expect(events).toEqual([{ kind: 'replaced', setting: 'DENY_LIST_URL', entries: 9 }])
})

test('a list without a tag is the same while its text is', async () => {
  const { state, url } = await host((_request, response) => response.end(textOf(addresses)))
  const { list, events } = await opened({ url })
  await list.refresh()
  expect([state.asked.length, events]).toEqual([2, []])
  expect(state.asked[1]?.headers['if-none-match']).toBeUndefined()
})

test('a file is read again, and what file and URL hold is denied together', async () => {
  const file = join(await folder(), 'deny.json')
  await writeFile(file, textOf([first]))
  const { url } = await host(serves(textOf([second]), '"one"'))
  const { list } = await opened({ url, file })
  expect([list.denies(first, undefined), list.denies(second, undefined), list.entries]).toEqual([
    true,
    true,
    2,
  ])
  await writeFile(file, textOf(addresses))
  await list.refresh()
  expect(list.entries).toBe(11)
})

describe('what never takes the place of a good list', () => {
  test.each<[string, Answer, string]>([
    ['an empty list', serves(textOf([]), '"bad"'), 'the list has 0 entries, less than 1'],
    ['a list of less than half', serves(textOf([first]), '"bad"'), 'less than half of the 10 that it had'],
    ['no JSON', serves('<html>Moved</html>', '"bad"'), 'the list is no JSON'],
    ['a list of another form', serves('["0x1"]', '"bad"'), 'the list is wrong at its root'],
    ['an error', (_, response) => response.writeHead(500).end(textOf([])), 'status 500'],
    [
      'a redirect, wherever it leads',
      (_, response) => response.writeHead(302, { location: '/other' }).end(textOf(addresses)),
      'status 302',
    ],
    ['no content', (_, response) => response.writeHead(204).end(), 'status 204'],
    ['a connection that ends', (request) => request.socket.destroy(), 'its host gives no answer'],
    [
      'text without end',
      (_, response) => {
        const chunk = ' '.repeat(65_536)
        const write = () => response.write(chunk, () => setImmediate(write))
        write()
      },
      'the list has more than 4194304 bytes',
    ],
  ])('%s', async (_what, bad, problem) => {
    const { state, url } = await host(serves(textOf(addresses), '"one"'))
    const { list, clock, events } = await opened({ url })
    state.answer = bad
    clock.nowMs = 500_000
    await list.refresh()
    await list.refresh()
    expect([list.entries, list.denies(first, undefined)]).toEqual([10, true])
    expect(events).toEqual([
      { kind: 'kept', setting: 'DENY_LIST_URL', problem: expect.stringContaining(problem) },
    ])
    expect(list.health()).toEqual({ entries: 10, ageSeconds: 500, isStale: false })
    clock.nowMs = 601_000
    expect(list.health().isStale).toBe(true)
    // The tag of what was refused must not stand for it: "unchanged" would then be a good list.
    expect(state.asked.at(-1)?.headers['if-none-match']).toBe('"one"')
    state.answer = serves(textOf(addresses), '"one"')
    await list.refresh()
    expect(list.health()).toEqual({ entries: 10, ageSeconds: 0, isStale: false })
  })

  test('O-177: a list that is taken down in small steps', async () => {
    const { state, url } = await host(serves(textOf(addresses), '"10"'))
    const { list, events } = await opened({ url })
    for (const left of [7, 5, 4, 3, 2, 1]) {
      state.answer = serves(textOf(addresses.slice(0, left)), `"${left}"`)
      await list.refresh()
    }
    expect(list.entries).toBe(5)
    expect(events.map(({ kind }) => kind)).toEqual(['replaced', 'replaced', 'kept', 'kept', 'kept', 'kept'])
  })

  test('O-177: a file that is gone, empty, or half written', async () => {
    const file = join(await folder(), 'deny.json')
    await writeFile(file, textOf(addresses))
    const { list, events } = await opened({ file })
    await writeFile(file, '')
    await list.refresh()
    await writeFile(file, textOf(addresses).slice(0, 100))
    await list.refresh()
    await rm(file)
    await list.refresh()
    expect(list.entries).toBe(10)
    expect(events.map((event) => event.kind === 'kept' && event.problem)).toEqual([
      'the list is no JSON',
      'the file cannot be read (ENOENT)',
    ])
  })
})

describe('at the start', () => {
  test.each<[string, Answer, string]>([
    ['a host that is down', (request) => request.socket.destroy(), 'its host gives no answer'],
    ['an empty list', serves(textOf([]), '"one"'), 'the list has 0 entries, less than 1'],
    ['"unchanged"', (_, response) => response.writeHead(304).end(), 'status 304'],
  ])('O-178: %s is no list: the service does not start', async (_what, answer, problem) => {
    const { url } = await host(answer)
    const opening = openDenyList({ ...settings, url }, { now: () => 0, observe: () => {} })
    await expect(opening).rejects.toThrow(new RegExp(`^DENY_LIST_URL: .*${problem}`))
    await expect(opening).rejects.toThrow(expect.not.objectContaining({ message: /hidden/ }))
    expect(await examineDenyList({ ...settings, url })).toEqual([
      { setting: 'DENY_LIST_URL', problem: expect.stringContaining(problem) },
    ])
  })

  test('a file that is missing stops it too, whatever the URL gives', async () => {
    const { url } = await host(serves(textOf(addresses), '"one"'))
    const file = join(await folder(), 'nowhere.json')
    const opening = openDenyList({ ...settings, url, file }, { now: () => 0, observe: () => {} })
    await expect(opening).rejects.toThrow('DENY_LIST_FILE: the file cannot be read (ENOENT)')
  })

  test('an empty list is taken where the operator allows it', async () => {
    const { url } = await host(serves(textOf([]), '"one"'))
    expect((await opened({ url, entriesMin: 0 })).list.entries).toBe(0)
  })
})

test('a host that is silent is asked once at a time, and closing does not wait for it', async () => {
  const { state, url } = await host(serves(textOf(addresses), '"one"'))
  const { list } = await opened({ url })
  state.answer = () => {}
  void list.refresh()
  void list.refresh()
  await expect.poll(() => state.asked.length).toBe(2)
  const before = performance.now()
  await list.close()
  expect(performance.now() - before).toBeLessThan(2_000)
  expect(list.denies(first, undefined)).toBe(true)
})

test('plain HTTP is for local networks alone', () => {
  const url = new Secret('http://lists.example/deny.json')
  const said = (isLocal: boolean, value: Secret) => {
    const found = createFindings()
    denyListSettings({ DENY_LIST_URL: value }, { configDirectory: '/etc/causeway', isLocal }, found)
    return found.list.map(({ setting, seen }) => `${setting} ${seen}`)
  }
  expect(said(false, url)).toEqual(['DENY_LIST_URL must begin with https: whoever carries it could empty it'])
  expect(said(true, url)).toEqual([])
  expect(said(false, new Secret('https://lists.example/deny.json'))).toEqual([])
})
