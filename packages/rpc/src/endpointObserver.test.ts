// Goal: operators see which endpoint fails and which one lies. Method: real HTTP servers, one of which says
// something else, one of which is gone.
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createJsonRpcClient } from './client.ts'
import { createQuorumClient } from './quorumClient.ts'
import { singleRoundQuestion } from './singleRoundQuestion.ts'

const servers: Server[] = []
const urls: string[] = []

beforeAll(async () => {
  for (const result of ['0x1', '0x1', '0x2']) urls.push(await serve(result))
  // A port that was free a moment ago: nothing listens there any more.
  const gone = await serve('0x1')
  const last = servers.pop()
  await new Promise((resolve) => last?.close(resolve))
  urls.push(gone)
})
afterAll(async () => {
  for (const server of servers) server.closeAllConnections()
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
})

async function serve(result: string): Promise<string> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const asked: unknown = JSON.parse(Buffer.concat(parts).toString())
      const answer = (call: unknown) => ({ jsonrpc: '2.0', id: idOf(call), result })
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(Array.isArray(asked) ? asked.map(answer) : answer(asked)))
    })
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  // Hosts apart: endpoints of one host are one voice.
  return `http://127.0.0.${servers.length}:${address.port}`
}

const idOf = (call: unknown) => (typeof call === 'object' && call !== null && 'id' in call ? call.id : null)
const call = { method: 'eth_getBalance', params: [] }

function watched() {
  const seen: string[] = []
  const observerOf = (alias: string) => ({
    exchanged: (seconds: number, failure: string | undefined) => {
      if (seconds >= 0 && failure !== 'cancelled') seen.push(`${alias} ${failure ?? 'answered'}`)
    },
    outvoted: () => void seen.push(`${alias} outvoted`),
  })
  return { seen, observerOf }
}

const endpoints = () => ['one', 'two', 'liar', 'gone'].map((alias, index) => ({ alias, url: hostOf(index) }))
/** The servers listen on 127.0.0.1 alone; names tell the hosts apart. */
const hostOf = (index: number) => {
  const { port } = new URL(urls[index] ?? '')
  return `http://${['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '127.0.0.1.'][index]}:${port}`
}

test('who fails, and who is outvoted where a client agrees', async () => {
  const { seen, observerOf } = watched()
  const client = createJsonRpcClient({ chainId: 'x', endpoints: endpoints(), threshold: 2 })
  client.observe(observerOf)
  // All are heard before it ends: the last of the votes decides.
  await expect(
    client.poll([call], { decide: (_votes, isLast) => (isLast ? true : undefined) }),
  ).resolves.toBe(true)
  expect(seen.toSorted()).toEqual(['gone unreachable', 'liar answered', 'one answered', 'two answered'])
  await client.close()
})

test('who is outvoted where a quorum reads', async () => {
  const { seen, observerOf } = watched()
  const [one, two, liar] = endpoints()
  if (one === undefined || two === undefined || liar === undefined) throw new Error('three are configured')
  // The honest ones are asked after the liar has spoken.
  const quorum = createQuorumClient({
    chainId: 'x',
    endpoints: [liar, one, two],
    threshold: 2,
  })
  quorum.observe(observerOf)
  let spoken: () => void = () => {}
  const liarSpoke = new Promise<void>((resolve) => {
    spoken = resolve
  })
  await quorum.read({
    ...singleRoundQuestion(async (view, signal) => {
      if (view.alias !== 'liar') await liarSpoke
      const [answer] = await view.ask([call], signal)
      if (view.alias === 'liar') setTimeout(spoken, 20)
      return { kind: 'final' as const, facts: { answer } }
    }),
    signal: AbortSignal.timeout(5_000),
  })
  expect(seen.filter((line) => line.endsWith('outvoted'))).toEqual(['liar outvoted'])
  await quorum.close()
})

test('who is outvoted where answers are compared whole', async () => {
  const { seen, observerOf } = watched()
  const [one, two, liar] = endpoints()
  if (one === undefined || two === undefined || liar === undefined) throw new Error('three are configured')
  const client = createJsonRpcClient({
    chainId: 'x',
    endpoints: [liar, one, two],
    threshold: 2,
  })
  client.observe(observerOf)
  for (let round = 0; round < 200 && !seen.includes('liar outvoted'); round += 1) await client.agree([call])
  expect(seen).toContain('liar outvoted')
  expect(seen).not.toContain('one outvoted')
  expect(seen).not.toContain('two outvoted')
  await client.close()
})
