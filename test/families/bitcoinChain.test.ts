// Goal: what a Bitcoin chain needs of its configuration, and that its keys reach the provider they are for and
// nobody else. Method: configurations, and services on loopback that note what they are sent.

import { createServer, type Server } from 'node:http'
import { ConfigurationError, Secret } from '@causeway/core'
import { bitcoinBodies } from '@causeway/localnet/standIns/bitcoin'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import {
  createTokenHeaders,
  esploraHeaders,
} from '../../packages/families/src/bitcoin/reading/esploraAccess.ts'
import {
  missingBitcoinSettings,
  openBitcoinChain,
} from '../../packages/families/src/bitcoin/reading/openBitcoinChain.ts'
import { createHttpQuorumClient } from '../../packages/rpc/src/quorumClient.ts'
import { type BitcoinChainOptions, chainOf } from './bitcoinSupport/bitcoinBed.ts'

const url = 'http://127.0.0.1:1'
const limits = { finalEntriesMax: 0 }
const enterprise = 'https://enterprise.blockstream.info/api'
const maestro = 'https://xbt-mainnet.gomaestro-api.org/v0/esplora'

describe('a chain', () => {
  test.each<[string, Partial<BitcoinChainOptions>, readonly string[]]>([
    ['with a node lacks nothing', { api: 'node', urls: [url] }, []],
    ['with an API lacks nothing', { api: 'esplora', urls: [url] }, []],
    ['with neither', { api: 'esplora', urls: [] }, ['httpRpcUrl', 'additionalData.esploraCompatibleApiUrl']],
    [
      'of a provider without its credentials',
      { api: 'esplora', urls: [enterprise, maestro] },
      [
        'additionalData.blockstreamClientId',
        'additionalData.blockstreamClientSecret',
        'additionalData.maestroApiKey',
      ],
    ],
    [
      'of a provider for look-ups without its credentials',
      { api: 'node', urls: [url], lookup: [maestro] },
      ['additionalData.maestroApiKey'],
    ],
  ])('%s', (_name, options, missing) => {
    expect(missingBitcoinSettings(chainOf({ api: 'node', urls: [], ...options }))).toEqual(missing)
  })

  test.each<[string, BitcoinChainOptions['change']]>([
    ['a depository of another network', { depository: '1KT3zCYUrmQxjcveUNs1Rs7WcXDcPQZ4av' }],
    ['an additional depository that is none', { additionalDepositories: ['nobody'] }],
    ['finality by time', { finality: { mode: 'time', seconds: 60 } }],
    ['finality by a tag', { finality: { mode: 'tag' } }],
    ['a network that does not exist', { network: 'constructor' }],
  ])('with %s is not opened', (_name, change) => {
    expect(() =>
      openBitcoinChain(chainOf({ api: 'node', urls: [url], change: change ?? {} }), limits),
    ).toThrow(ConfigurationError)
  })

  test('F-132: of APIs alone is not opened with more agreement than there are APIs', () => {
    const chain = chainOf({ api: 'esplora', urls: [url, `${url}/2`], change: { rpcThreshold: 3 } })
    expect(() => openBitcoinChain(chain, limits)).toThrow(/rpcThreshold/)
  })
})

describe('a provider', () => {
  let server: Server
  let origin: string
  let seen: { readonly path: string | undefined; readonly headers: NodeJS.Dict<string | string[]> }[] = []
  let answer: (path: string) => { readonly status: number; readonly text: string }

  beforeAll(async () => {
    server = createServer((request, response) => {
      seen.push({ path: request.url, headers: request.headers })
      const { status, text } = answer(request.url ?? '')
      request.resume().once('end', () => response.writeHead(status).end(text))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  })
  beforeEach(() => {
    seen = []
    answer = () => ({ status: 200, text: '7' })
  })
  afterAll(() => new Promise((resolve) => server.close(resolve)))

  function clientOf(headers: ReturnType<typeof esploraHeaders>) {
    const endpoints = [{ url: `${origin}/api?key=canary`, headers }]
    const client = createHttpQuorumClient({ chainId: 'bitcoin', endpoints })
    onTestFinished(() => client.close())
    const get = () =>
      client.askEach(
        (view, signal) => view.ask({ method: 'GET', path: '/blocks/tip/height' }, signal),
        AbortSignal.timeout(20_000),
      )
    return { client, get }
  }

  test('gets its key as a header, behind the path and the query of its URL', async () => {
    const access = { maestroApiKey: new Secret('key of maestro') }
    await clientOf(esploraHeaders(new Secret(maestro), access, Date.now)).get()
    expect(seen).toMatchObject([
      { path: '/api/blocks/tip/height?key=canary', headers: { 'api-key': 'key of maestro' } },
    ])
  })

  test('of another host gets no key', async () => {
    const access = {
      maestroApiKey: new Secret('key of maestro'),
      blockstreamClientId: new Secret('id'),
      blockstreamClientSecret: new Secret('secret'),
    }
    await clientOf(esploraHeaders(new Secret(`${origin}/gomaestro-api`), access, Date.now)).get()
    expect(JSON.stringify(seen)).not.toMatch(/key of maestro|secret/)
  })

  test('of tokens is asked for one, once for all who wait, and again before it expires', async () => {
    answer = (path) =>
      path === '/token'
        ? { status: 200, text: bitcoinBodies.token.body(`t${seen.length}`) }
        : { status: 200, text: '7' }
    let nowMs = 0
    const credentials = { id: new Secret('id'), secret: new Secret('secret') }
    const headers = createTokenHeaders({ tokenUrl: `${origin}/token`, ...credentials, now: () => nowMs })
    const { client, get } = clientOf(headers)
    const other = client.askEach(
      (view, signal) => view.ask({ method: 'GET', path: '/other' }, signal),
      AbortSignal.timeout(20_000),
    )
    expect((await Promise.all([get(), other])).flat().map(({ said }) => said?.text)).toEqual(['7', '7'])
    nowMs = 269_000
    await get()
    nowMs = 271_000
    await get()
    const tokens = seen.filter(({ path }) => path === '/token')
    expect(tokens).toHaveLength(2)
    const used = seen
      .filter(({ path }) => path !== '/token')
      .map(({ headers: sent }) => sent['authorization'])
    expect(used.slice(0, 3)).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t1'])
    expect(used[3]).not.toBe('Bearer t1')
  })

  test.each([
    ['refuses', 401, bitcoinBodies.brokenTokens.body.refused],
    ['answers with no JSON', 200, 'no'],
    ['answers without a token', 200, bitcoinBodies.brokenTokens.body.withoutToken],
  ])('of tokens that %s leaves the endpoint silent', async (_name, status, text) => {
    answer = (path) => (path === '/token' ? { status, text } : { status: 200, text: '7' })
    const credentials = { id: new Secret('id'), secret: new Secret('secret') }
    const headers = createTokenHeaders({ tokenUrl: `${origin}/token`, ...credentials, now: Date.now })
    const [said] = await clientOf(headers).get()
    expect(said?.said).toBeUndefined()
    expect(seen.every(({ path }) => path === '/token')).toBe(true)
  })

  test('is asked once for equal questions in flight, and for a bounded number at a time', async () => {
    let [open, most] = [0, 0]
    const waiting: (() => void)[] = []
    const busy = createServer((request, response) => {
      open += 1
      most = Math.max(most, open)
      const finish = () => {
        open -= 1
        response.end(request.url)
      }
      waiting.push(finish)
      setTimeout(() => waiting.shift()?.(), 20)
    })
    await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve))
    const address = busy.address()
    const endpoint = { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}` }
    const client = createHttpQuorumClient({
      chainId: 'bitcoin',
      endpoints: [endpoint],
      limits: { requestsInFlightMax: 2, callsWaitingMax: 3 },
    })
    onTestFinished(async () => {
      await client.close()
      busy.close()
    })
    const ask = (path: string) =>
      client.askEach((view, signal) => view.ask({ method: 'GET', path }, signal), AbortSignal.timeout(20_000))
    const asked = ['/1', '/1', '/2', '/3', '/4', '/5', '/6'].map(ask)
    const texts = (await Promise.all(asked)).flat().map(({ said }) => said?.text)
    expect(texts).toEqual(['/1', '/1', '/2', '/3', '/4', '/5', undefined])
    expect(most).toBe(2)
  })
})
