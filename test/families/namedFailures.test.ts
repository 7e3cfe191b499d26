// Goal: what one caller names costs nobody else an endpoint. Who gains by breaking it: a stranger who asks for prices of an
// address, or for a transaction, that nodes fail at. Method: an endpoint of each family that fails at one name, in every way
// that hosted nodes fail, and answers all else; then the same endpoint failing at everything.
import { createServer, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { connectQuotingChain } from '@causeway/chains'
import { Secret } from '@causeway/core'
import type { VmType } from '@causeway/core/encodings'
import type { RegisteredChain } from '@causeway/families'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { BitcoinView } from '../../packages/families/src/bitcoin/reading/bitcoinView.ts'
import { createEsploraView } from '../../packages/families/src/bitcoin/reading/esploraView.ts'
import { esploraQuorumOf } from '../../packages/families/src/bitcoin/reading/openQuorums.ts'
import { openQuorum } from '../../packages/families/src/hyperliquid/reading/openHyperliquidChain.ts'
import {
  recentRequest,
  statusRequest,
  userRoleRequest,
} from '../../packages/families/src/hyperliquid/reading/requests.ts'
import { explorersOf } from '../../packages/families/src/lighter/reading/openLighterChain.ts'
import { createQuestionGroups } from '../../packages/rpc/src/groupedQuestions.ts'
import type { HttpRequest } from '../../packages/rpc/src/httpTransport.ts'
import type { RpcCall } from '../../packages/rpc/src/jsonRpc.ts'
import { createQuorumClient } from '../../packages/rpc/src/quorumClient.ts'

const poison = 'aa'.repeat(20)

/** Answers of a chain that stands at height 16, by what is asked. */
function answerTo(path: string, body: string): unknown {
  const head = {
    block_header: { raw_data: { number: 16 } },
    blockID: `${'10'.padStart(16, '0')}${'0'.repeat(48)}`,
  }
  if (path.endsWith('/wallet/getblock')) return head
  if (path.endsWith('/info')) return { time: 16 }
  if (path.includes('/logs')) return []
  if (path.endsWith('/blocks/tip/height')) return 16
  if (body === '') return { timestamp: 16 }
  if (path.endsWith('/explorer')) return { txs: [] }
  const answer = ({ id, method }: { id: number; method: string }) => ({
    jsonrpc: '2.0',
    id,
    result: method.startsWith('eth_') ? '0x10' : 16,
  })
  const calls: unknown = JSON.parse(body)
  // CAST: calls of our own clients.
  return Array.isArray(calls) ? calls.map(answer) : answer(calls as { id: number; method: string })
}

type Fail = (response: ServerResponse) => void
const status =
  (code: number, headers: Record<string, string> = {}, text = 'no'): Fail =>
  (response) =>
    response.writeHead(code, headers).end(text)
const ways: readonly (readonly [string, Fail])[] = [
  ['400', status(400)],
  ['403', status(403)],
  ['404 of a web page', status(404, { 'content-type': 'text/html' }, '<h1>no</h1>')],
  ['500', status(500)],
  ['503 that asks for half a minute', status(503, { 'retry-after': '30' })],
  ['504', status(504)],
  ['text', status(200, {}, 'internal error')],
  ['a broken connection', (response) => response.destroy()],
  ['a redirect', status(302, { location: '/elsewhere' })],
]

async function startEndpoint(fail: Fail): Promise<{ url: string; isDown: boolean; asked: () => number }> {
  const endpoint = { isDown: false, url: '' }
  let asked = 0
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString()
    })
    request.on('end', () => {
      asked += 1
      const path = request.url ?? ''
      if (endpoint.isDown || `${path} ${body}`.includes(poison)) return fail(response)
      response.end(JSON.stringify(answerTo(path, body)))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  endpoint.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  return Object.assign(endpoint, { asked: () => asked })
}

const chainOf = (vmType: VmType, url: string, additionalData: RegisteredChain['additionalData'] = {}) =>
  ({
    id: 'named',
    vmType,
    network: undefined,
    hubChainId: '7',
    additionalData,
    ready: true,
    rpcThreshold: 1,
    unsetVariables: [],
    depository: '900001',
    endpoints: [new Secret(url)],
  }) satisfies RegisteredChain

/** An endpoint as it is asked for a name, and what it is asked for beside that. */
type Asked = {
  readonly named: () => Promise<unknown>
  readonly other: () => Promise<unknown>
}

function quoting(vmType: VmType, [named, other]: readonly [RpcCall, RpcCall]): (url: string) => Asked {
  return (url) => {
    const client = connectQuotingChain(chainOf(vmType, url))
    if (client === undefined) throw new Error('it is quoted')
    onTestFinished(() => client.close())
    const ask = (call: RpcCall) => client.batch([call], { timeoutMs: 1_500 })
    return { named: () => ask(named), other: () => ask(other) }
  }
}

const signal = () => AbortSignal.timeout(1_500)

function api(
  open: (url: string) => ReturnType<typeof explorersOf>,
  [named, other]: readonly [HttpRequest, HttpRequest],
): (url: string) => Asked {
  return (url) => {
    const quorum = open(url)
    if (quorum === undefined) throw new Error('it has an API')
    onTestFinished(() => quorum.close())
    const ask = async (request: HttpRequest) => {
      const [one] = await quorum.askEach((view, own) => view.ask(request, own), signal())
      if (one?.said === undefined) throw new Error('no answer')
    }
    return { named: () => ask(named), other: () => ask(other) }
  }
}

function esplora(url: string): Asked {
  const additionalData = { esploraCompatibleApiUrl: new Secret(url) }
  const chain = { ...chainOf('bitcoin-vm', url, additionalData), ready: false }
  const quorum = esploraQuorumOf(chain, createEsploraView)
  if (quorum === undefined) throw new Error('it has an API')
  onTestFinished(() => quorum.close())
  const ask = async (of: (view: BitcoinView, own: AbortSignal) => Promise<unknown>) => {
    const [one] = await quorum.askEach(of, signal())
    if (one?.said === undefined) throw new Error('no answer')
  }
  return {
    named: () => ask((view, own) => view.nameOutputs(poison, own)),
    other: () => ask((view, own) => view.readTipHeight(own)),
  }
}

function exchange(isExplorer: boolean): (url: string) => Asked {
  return (url) => {
    const { quorum, close } = openQuorum(chainOf('hyperliquid-vm', url))
    onTestFinished(close)
    const ask = async (user: string, isNamed: boolean) => {
      const [one] = await quorum.askEach(
        (view, own) =>
          isExplorer
            ? view.explore(recentRequest(user), own)
            : view.ask(isNamed ? userRoleRequest(user) : statusRequest, own),
        signal(),
      )
      if (one?.said === undefined) throw new Error('no answer')
    }
    return { named: () => ask(`0x${poison}`, true), other: () => ask(`0x${'bb'.repeat(20)}`, false) }
  }
}

const get = (path: string): HttpRequest => ({ method: 'GET', path })
const call = (method: string, ...params: readonly unknown[]): RpcCall => ({ method, params })
const families: readonly (readonly [string, (url: string) => Asked])[] = [
  [
    'an EVM chain',
    quoting('ethereum-vm', [
      call('eth_getCode', `0x${poison}`, 'latest'),
      call('eth_getCode', '0x1', 'latest'),
    ]),
  ],
  ['Solana', quoting('solana-vm', [call('getAccountInfo', poison), call('getBlockHeight')])],
  ['Bitcoin', quoting('bitcoin-vm', [call('gettxout', poison, 0), call('getblockchaininfo')])],
  ['Esplora', esplora],
  [
    'Tron',
    quoting('tron-vm', [
      call('/wallet/getaccount', { address: poison }),
      call('/wallet/getblock', { detail: false }),
    ]),
  ],
  ['Hyperliquid', quoting('hyperliquid-vm', [call('/info', { user: poison }), call('/info', { user: 'b' })])],
  ['the API of Hyperliquid', exchange(false)],
  ['the explorer of Hyperliquid', exchange(true)],
  [
    'Lighter',
    quoting('lighter-vm', [call(`/api/v1/account?value=${poison}`), call('/api/v1/account?value=1')]),
  ],
  [
    'the explorer of Lighter',
    api(
      (url) => explorersOf(chainOf('lighter-vm', '', { explorerApiUrl: new Secret(url) })),
      [get(`/accounts/${poison}/logs`), get('/accounts/1/logs')],
    ),
  ],
]

describe.each(families)('F-82: %s', (_family, open) => {
  test.each(ways)('fails at one name by %s, and answers everybody else', async (_way, fail) => {
    const endpoint = await startEndpoint(fail)
    const { named, other } = open(endpoint.url)
    for (let round = 0; round < 12; round += 1) {
      await named().catch(() => {})
      await other()
      await named().catch(() => {})
    }
    for (let round = 0; round < 8; round += 1) await named().catch(() => {})
    await other()
  })

  test('fails at everything, and is paused', async () => {
    const endpoint = await startEndpoint(status(500))
    endpoint.isDown = true
    const { named } = open(endpoint.url)
    let reached = 0
    for (let round = 0; round < 40; round += 1) {
      await named().catch(() => {})
      await pause(25)
      if (round === 20) reached = endpoint.asked()
    }
    expect(endpoint.asked() - reached).toBeLessThan(8)
  })
})

describe('F-87: what one names costs nobody else an answer', () => {
  test('in calls that travel together', async () => {
    const endpoint = await startEndpoint(status(500))
    const quorum = createQuorumClient({ chainId: 'named', endpoints: [{ url: endpoint.url }] })
    onTestFinished(() => quorum.close())
    const names = ['1', '2', poison, '3', '4', '5']
    const asked = await quorum.askEach(
      (view, own) =>
        Promise.allSettled(names.map((name) => view.ask([call('eth_getCode', name, 'latest')], own))),
      signal(),
    )
    const outcomes = asked[0]?.said?.map((outcome) => outcome.status)
    expect(outcomes).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'])
  })

  test.each([[0], [3], [6]])('in a group of questions, at place %s', async (bad) => {
    const outcomes = new Map<number, string>()
    const sent: number[] = []
    const groups = createQuestionGroups<number>({
      inFlightMax: 1,
      defer: setImmediate,
      firstOf: (waiting) => waiting,
      async send(group) {
        sent.push(group.length)
        if (group.includes(bad)) throw new Error('poison')
        for (const question of group) outcomes.set(question, 'answered')
      },
      fail: (question, error) => outcomes.set(question, String(error)),
    })
    for (let question = 0; question < 7; question += 1) groups.add(question)
    while (outcomes.size < 7) await pause(1)
    expect([...outcomes].filter(([, outcome]) => outcome !== 'answered')).toEqual([[bad, 'Error: poison']])
    expect(sent.length).toBeLessThanOrEqual(7)
  })
})
