// Goal: an operator learns which endpoints are silent or behind, whether enough are left, and that the clock is off.
// Attacks: two of three dead, two URLs of one host as two voices, a chain that stands still beside one that runs, a key in
// the path. Method: nodes as HTTP servers of the test.
import { createServer, type Server } from 'node:http'
import { examineClock, examineEndpoints, examineHeadPushes } from '@causeway/chains'
import { Secret } from '@causeway/core'
import { createFindings } from '@causeway/core/config'
import { createJsonRpcClient } from '@causeway/rpc'
import { afterEach, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

/** A node at one height that refuses what its limits say. @returns its URL, with a key in the path */
async function nodeAt(
  height: number,
  refuses: (body: string) => string | undefined = () => undefined,
): Promise<string> {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString()
    })
    request.on('end', () => {
      const calls: unknown = JSON.parse(body)
      const refusal = refuses(body)
      if (refusal !== undefined) {
        response.writeHead(400).end(refusal)
        return
      }
      const answer = (call: unknown) => {
        const id = typeof call === 'object' && call !== null && 'id' in call ? call.id : undefined
        return { jsonrpc: '2.0', id, result: `0x${height.toString(16)}` }
      }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(Array.isArray(calls) ? calls.map(answer) : answer(calls)))
    })
  })
  return listening(server)
}

/** @returns its URL, with a key in the path */
async function listening(server: Server): Promise<string> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/canary`
}

/** A node that answers a subscription so. @returns its URL, with a key in the path */
async function pushesOf(answer: object): Promise<string> {
  const server = createServer()
  new WebSocketServer({ server }).on('connection', (socket) => {
    socket.on('message', () => socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, ...answer })))
  })
  return (await listening(server)).replace('http:', 'ws:')
}

const dead = (port: number) => `http://127.0.0.1:${port}/canary`

async function examine(urls: readonly string[], threshold: number) {
  const client = createJsonRpcClient({
    chainId: 'arbitrum-nova',
    endpoints: urls.map((url) => ({ url })),
    threshold,
  })
  const found = createFindings()
  await examineEndpoints(client, found)
  await client.close()
  expect(JSON.stringify(found.list)).not.toContain('canary')
  return found.list
}

test('endpoints that all answer are no finding', async () => {
  expect(await examine([await nodeAt(100), await nodeAt(101), await nodeAt(100)], 2)).toEqual([])
})

test('F-85: what an endpoint takes at once is found at the start, and told in words', async () => {
  const narrow = (body: string) => {
    const [, from, to] = /"fromBlock":"(0x\w+)","toBlock":"(0x\w+)"/.exec(body) ?? []
    return Number(to ?? 0) - Number(from ?? 0) >= 10 ? 'up to a 10 block range' : undefined
  }
  const single = (body: string) => (body.startsWith('[') ? 'no batches here' : undefined)
  const found = await examine(
    [await nodeAt(5_000), await nodeAt(5_000, narrow), await nodeAt(5_000, single)],
    2,
  )
  expect(found.map(({ code, severity, seen }) => [code, severity, seen.replace(/^\S+#/, '')])).toEqual([
    ['endpoint-narrow', 'note', '2 takes 10 blocks per eth_getLogs: more is asked for in parts'],
    ['endpoint-narrow', 'note', '3 takes 1 call per request: more is asked for in parts'],
  ])
})

test('two dead ones of three leave nothing that two can agree on', async () => {
  const found = await examine([dead(9), await nodeAt(100), dead(7)], 2)
  expect(found.map(({ code, severity, seen }) => [code, severity, seen])).toEqual([
    ['endpoint-silent', 'degrades', '127.0.0.1:9#1 does not answer'],
    ['endpoint-silent', 'degrades', '127.0.0.1:7#3 does not answer'],
    [
      'endpoints-too-few',
      'degrades',
      '1 of 3 hosts answer, and 2 must say the same: nothing of this chain is priced or signed',
    ],
  ])
  expect(found[0]?.setting).toBe('httpRpcUrl of arbitrum-nova')
  expect(found[0]?.fix).toContain('ARBITRUM_NOVA_RPC_URL')
})

test('what does not tell of blocks is told, entry by entry, without its key', async () => {
  const found = createFindings()
  const taking = await pushesOf({ result: '0x1' })
  const refusing = await pushesOf({ error: { code: -32_601, message: 'no subscriptions here' } })
  const speechless = (await listening(createServer(() => {}))).replace('http:', 'ws:')
  const headPushUrls = [taking, refusing, 'ws://127.0.0.1:9/canary', speechless].map((url) => new Secret(url))
  await examineHeadPushes({ id: 'arbitrum-nova', vmType: 'ethereum-vm', headPushUrls }, found)
  expect(JSON.stringify(found.list)).not.toContain('canary')
  expect(found.list.map(({ code, seen }) => [code, seen.split(':')[0]])).toEqual([
    ['endpoint-silent', 'entry 2 refuses a subscription to new blocks'],
    ['endpoint-silent', 'entry 3 cannot be reached, or speaks no websocket there'],
    ['endpoint-silent', 'entry 4 takes no subscription in time'],
  ])
  expect(found.list[0]).toMatchObject({
    setting: 'wsRpcUrl of arbitrum-nova',
    fix: expect.stringContaining('ARBITRUM_NOVA_WS_RPC_URL'),
  })
  const none = createFindings()
  await examineHeadPushes({ id: 'base', vmType: 'ethereum-vm' }, none)
  expect(none.list).toEqual([])
})

test('one dead one of three is survived, and told', async () => {
  const found = await examine([await nodeAt(100), await nodeAt(100), dead(9)], 2)
  expect(found.map(({ code, severity }) => [code, severity])).toEqual([
    ['endpoint-silent', 'degrades'],
    ['endpoints-too-few', 'note'],
  ])
})

test('one that is blocks behind is told', async () => {
  const found = await examine([await nodeAt(1_000), await nodeAt(1_000), await nodeAt(3)], 2)
  expect(found.map(({ code }) => code)).toEqual(['endpoint-behind'])
  expect(found[0]?.seen).toMatch(/^127\.0\.0\.1:\d+#3 is blocks behind the others$/)
})

const nowMs = 1_800_000_000_000
const head = (ageSeconds: number) => async () => nowMs / 1_000 - ageSeconds

test.each<[string, readonly (() => Promise<number | undefined>)[], string | undefined]>([
  ['heads of now', [head(2), head(12)], undefined],
  ['one chain that stands still beside one that runs', [head(9_000), head(3)], undefined],
  ['chains that tell no time', [async () => undefined], undefined],
  ['no chain', [], undefined],
  ['every head old: the clock is ahead', [head(300), head(302)], '300 s ahead of'],
  ['a head of tomorrow: the clock is behind', [head(-300), head(4)], '300 s behind'],
])('%s', async (_what, readers, seen) => {
  const found = createFindings()
  await examineClock(readers, () => nowMs, found)
  expect(found.list).toHaveLength(seen === undefined ? 0 : 1)
  if (seen !== undefined) expect(found.list[0]?.seen).toContain(seen)
})
