// Goal: an endpoint that takes little at once is asked in parts, and one that lies about it costs the others nothing.
// Attacks: ranges and batches refused in every known way, a refusal of everything, a limit that shrinks, one that grows,
// an answer above 8 MiB. Method: nodes as HTTP servers of the test, behind the shipped client.
import { createServer } from 'node:http'
import { Secret } from '@causeway/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createJsonRpcClient } from './client.ts'
import { answerBytesMax } from './httpTransport.ts'

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] }
type Reply = { readonly status?: number; readonly type?: string; readonly text: string }
/** Refusal of a request by a node; undefined where it answers. */
type Refuse = (calls: readonly Call[], isBatch: boolean) => Reply | undefined

type Node = { readonly url: string; requests(): readonly (readonly Call[])[]; refuse: Refuse }

const json = (value: unknown, status = 200): Reply => ({ status, text: JSON.stringify(value) })
const error = (code: number, message: string, id: number | null = null) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})

function rangeOf({ method, params: [filter] }: Call): { from: number; to: number } {
  if (method !== 'eth_getLogs' || typeof filter !== 'object' || filter === null) return { from: 1, to: 1 }
  const { fromBlock, toBlock } = { fromBlock: '0x1', toBlock: '0x1', ...filter }
  return { from: Number(fromBlock), to: Number(toBlock) }
}

const widthOf = (call: Call) => rangeOf(call).to - rangeOf(call).from + 1

/** One log in each block: its answer names all blocks of the range. */
function resultOf(call: Call): unknown {
  if (call.method !== 'eth_getLogs') return '0x2105'
  const { from } = rangeOf(call)
  return Array.from({ length: widthOf(call) }, (_, index) => ({
    blockNumber: `0x${(from + index).toString(16)}`,
  }))
}

async function startNode(refuse: Refuse = () => undefined): Promise<Node> {
  const requests: (readonly Call[])[] = []
  const node = { refuse }
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString()
    })
    request.on('end', () => {
      // CAST: only the project's own code asks this node.
      const parsed = JSON.parse(body) as Call | readonly Call[]
      const isBatch = Array.isArray(parsed)
      const calls = [parsed].flat()
      requests.push(calls)
      const answers = calls.map((call) => ({ jsonrpc: '2.0', id: call.id, result: resultOf(call) }))
      const {
        status = 200,
        type = 'application/json',
        text,
      } = node.refuse(calls, isBatch) ?? json(isBatch ? answers : answers[0])
      response.writeHead(status, { 'content-type': type })
      response.end(text)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return Object.assign(node, { url: `http://127.0.0.1:${port}/`, requests: () => requests })
}

function clientOf(nodes: readonly Node[], threshold = nodes.length) {
  let skippedMs = 0
  const client = createJsonRpcClient({
    chainId: 'base',
    endpoints: nodes.map(({ url }, index) => ({ url: new Secret(url), alias: `node-${index + 1}` })),
    now: () => Date.now() + skippedMs,
    timeoutMs: 10_000,
    threshold,
    headProbeIntervalMs: Number.POSITIVE_INFINITY,
  })
  onTestFinished(() => client.close())
  return { ...client, skip: (ms: number) => (skippedMs += ms) }
}

const chainId = { method: 'eth_chainId', params: [] }
const logs = (from: number, to: number) => ({
  method: 'eth_getLogs',
  params: [{ fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}`, topics: [] }],
})
/** As if even one block were too wide. */
const asWide = (call: Call): Call => (call.method === 'eth_getLogs' ? { ...call, ...logs(1, 2) } : call)
/** One batch, as a watcher's pass sends it: logs of many blocks between two small calls. */
const pass = [chainId, logs(1_000, 1_499), chainId]
const blocksIn = (answer: unknown) =>
  typeof answer === 'object' && answer !== null && 'result' in answer && Array.isArray(answer.result)
    ? answer.result.map(({ blockNumber }: { blockNumber: string }) => Number(blockNumber))
    : answer
const allBlocks = Array.from({ length: 500 }, (_, index) => 1_000 + index)

/** Ranges above `most` blocks are refused so. */
const tooWide =
  (most: number, refusal: (calls: readonly Call[], isBatch: boolean) => Reply): Refuse =>
  (calls, isBatch) =>
    calls.some((call) => widthOf(call) > most) ? refusal(calls, isBatch) : undefined
/** Members of a batch above the range are refused, others answered. */
const refusedMembers =
  (most: number, code: number, message: string) =>
  (calls: readonly Call[], isBatch: boolean): Reply => {
    const answers = calls.map((call) =>
      widthOf(call) > most
        ? error(code, message, call.id)
        : { jsonrpc: '2.0', id: call.id, result: resultOf(call) },
    )
    return json(isBatch ? answers : answers[0])
  }
const moreThan =
  (most: number, refusal: Reply): Refuse =>
  (calls, isBatch) =>
    isBatch && calls.length > most ? refusal : undefined

const alchemy = 'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.'
const adversaries: readonly (readonly [string, Refuse])[] = [
  ['10 blocks, by -32600', tooWide(10, refusedMembers(10, -32_600, alchemy))],
  ['10 blocks, by -32602 without a number', tooWide(10, refusedMembers(10, -32_602, 'invalid params'))],
  ['10 blocks, by HTTP 400 of the whole', tooWide(10, () => json(error(-32_600, alchemy), 400))],
  [
    '10 blocks, by -32005 with a range',
    tooWide(
      10,
      refusedMembers(
        10,
        -32_005,
        'query returned more than 10000 results. Try with this block range [0x3e8, 0x3f1].',
      ),
    ),
  ],
  ['10 blocks, by 413', tooWide(10, () => ({ status: 413, type: 'text/html', text: '<h1>Too large</h1>' }))],
  ['10 blocks, by plain text', tooWide(10, () => ({ type: 'text/plain', text: 'block range is too wide' }))],
  [
    '3 calls, by one error object',
    moreThan(3, json(error(-32_600, 'Batch of more than 3 requests are not allowed'))),
  ],
  [
    '3 calls, by status 500',
    moreThan(3, json(error(31, 'Batch of more than 3 requests are not allowed'), 500)),
  ],
  ['3 calls, by 413', moreThan(3, { status: 413, type: 'text/html', text: '<h1>Too large</h1>' })],
  ['no batch, by 400', moreThan(0, { status: 400, type: 'text/plain', text: 'bad request' })],
  ['no batch, by plain text', moreThan(0, { type: 'text/plain', text: 'expected an object' })],
  [
    'neither a batch nor more than 10 blocks',
    (calls, isBatch) =>
      isBatch || calls.some((call) => widthOf(call) > 10) ? json(error(-32_600, 'no'), 400) : undefined,
  ],
]

describe('an endpoint that takes', () => {
  test.each(adversaries)('F-80: %s: is read in parts as others are, and is healthy', async (_, refuse) => {
    const small = await startNode(refuse)
    const client = clientOf([small, await startNode()])
    const calls = [...pass, chainId, chainId]
    const { answers, agreeingEndpoints } = await client.agree(calls)
    expect(agreeingEndpoints).toHaveLength(2)
    expect(answers.map((answer) => blocksIn(answer))).toEqual([
      ...[answers[0], allBlocks, answers[0], answers[0], answers[0]],
    ])
    expect(
      client.health().every(({ healthy, consecutiveFailures }) => healthy && consecutiveFailures === 0),
    ).toBe(true)
    // The second time nothing is refused.
    await client.agree(calls)
    const before = small.requests().length
    await client.agree(calls)
    const again = small.requests().slice(before)
    expect(again.filter((sent) => refuse(sent, sent.length > 1) !== undefined)).toEqual([])
    expect(again.length).toBeLessThanOrEqual(128)
  })
})

test('F-80: who refuses everything is asked a few times more, not again for a minute, and delays nobody', async () => {
  const liar = await startNode(() => json(error(-32_005, 'limit exceeded'), 413))
  const client = clientOf([liar, await startNode(), await startNode()], 2)
  const startedAtMs = Date.now()
  const { answers } = await client.agree(pass)
  expect(blocksIn(answers[1])).toEqual(allBlocks)
  // A delay would be the ten seconds of a request's limit.
  expect(Date.now() - startedAtMs).toBeLessThan(5_000)
  await client.poll(pass, { decide: (_, isLast) => (isLast ? true : undefined) })
  const before = liar.requests().length
  expect(before).toBeLessThanOrEqual(30)
  await client.poll(pass, { decide: (_, isLast) => (isLast ? true : undefined) })
  expect(liar.requests().length - before).toBeLessThanOrEqual(1)
  for (let round = 0; round < 6; round += 1) {
    client.skip(1_100)
    await client.poll(pass, { decide: (_, isLast) => (isLast ? true : undefined) })
  }
  expect(client.health().map(({ healthy }) => healthy)).toEqual([false, true, true])
})

test('F-80: who answers every range with an error is no narrower for it, and its error is the answer', async () => {
  const refuse = refusedMembers(1, -32_602, 'block range extends beyond current head block')
  const node = await startNode((calls, isBatch) => refuse(calls.map(asWide), isBatch))
  const client = clientOf([node])
  const answers = await client.batch(pass)
  expect(answers.map(({ ok }) => ok)).toEqual([true, false, true])
  expect(client.endpoints[0]?.sizes).toEqual({
    calls: Number.POSITIVE_INFINITY,
    logBlocks: Number.POSITIVE_INFINITY,
  })
})

test('F-80: a limit that shrinks is followed, and one that grows too, with care', async () => {
  const node = await startNode(tooWide(100, refusedMembers(100, -32_602, 'range')))
  const client = clientOf([node])
  const read = async () => {
    const before = node.requests().length
    const [, answer] = await client.batch(pass)
    expect(blocksIn(answer)).toEqual(allBlocks)
    return node.requests().slice(before)
  }
  await read()
  expect(client.endpoints[0]?.sizes.logBlocks).toBe(62)
  node.refuse = tooWide(20, refusedMembers(20, -32_602, 'range'))
  await read()
  expect(client.endpoints[0]?.sizes.logBlocks).toBe(15)
  node.refuse = () => undefined
  await read()
  expect(client.endpoints[0]?.sizes.logBlocks).toBe(15)
  for (const blocks of [30, 60, 120]) {
    client.skip(61_000)
    await read()
    expect(client.endpoints[0]?.sizes.logBlocks).toBe(blocks)
  }
  // A growth that fails costs one refusal, and is tried later and later.
  node.refuse = tooWide(120, refusedMembers(120, -32_602, 'range'))
  const refusals = async () => (await read()).flat().filter((call) => widthOf(call) > 120).length
  client.skip(61_000)
  expect(await refusals()).toBeGreaterThan(0)
  client.skip(61_000)
  expect(await refusals()).toBe(0)
  client.skip(61_000)
  expect(await refusals()).toBeGreaterThan(0)
})

test('F-80: more parts than a question may have are a refusal of ours, and no failure of the endpoint', async () => {
  const node = await startNode(tooWide(2, refusedMembers(2, -32_602, 'range [0x1, 0x2]')))
  const client = clientOf([node])
  await expect(client.batch(pass)).rejects.toMatchObject({ code: 'RPC_HTTP_ERROR' })
  expect(node.requests().length).toBeLessThan(8)
  expect(client.health()[0]).toMatchObject({ healthy: true, consecutiveFailures: 0 })
  const [answer] = await client.batch([logs(1_000, 1_199)])
  expect(blocksIn(answer)).toHaveLength(200)
})

test('F-81: an answer above 8 MiB is read where nothing smaller can be asked for, and a batch of such in parts', async () => {
  const large = 'f'.repeat(9 * 1024 * 1024)
  const node = await startNode((calls, isBatch) => {
    const answers = calls.map(({ id, method }) => ({
      jsonrpc: '2.0',
      id,
      result: method === 'eth_chainId' ? '0x1' : large,
    }))
    return json(isBatch ? answers : answers[0])
  })
  const client = clientOf([node])
  const receipt = { method: 'eth_getTransactionReceipt', params: ['0x1'] }
  const answers = await client.batch([receipt, chainId, receipt, chainId])
  expect(answers.map((answer) => answer.ok && String(answer.result).length)).toEqual([
    large.length,
    3,
    large.length,
    3,
  ])
  expect(client.endpoints[0]?.sizes.calls).toBe(Number.POSITIVE_INFINITY)
  expect(client.health()[0]).toMatchObject({ healthy: true, consecutiveFailures: 0 })
})

test.each([
  // Digits of 4,000,000 bytes, with what stands around them.
  ['a block of Bitcoin', 2 * 4_000_000 + 1_024, answerBytesMax.usual],
  ['a receipt of 16,777,216 gas', 1.3 * 16_777_216, answerBytesMax.alone],
  // Digits of 2,000,000 bytes twice, and names of members beside them.
  ['a block of Tron', 4 * 2 * 2_000_000, answerBytesMax.alone],
])('F-55: %s is no longer than an answer may be', async (_what, length, limit) => {
  expect(length).toBeLessThanOrEqual(limit)
  const node = await startNode(([call]) => json({ jsonrpc: '2.0', id: call?.id, result: 'f'.repeat(length) }))
  const answer = await clientOf([node]).request({ method: 'eth_getTransactionReceipt', params: ['0x1'] })
  expect(String(answer)).toHaveLength(Math.floor(length))
})

test('F-82: a refusal of what one caller named is no failure of the endpoint, one of its head is', async () => {
  const node = await startNode((calls) =>
    calls.some(({ method }) => method === 'eth_getCode')
      ? { status: 400, type: 'text/plain', text: 'no such address' }
      : undefined,
  )
  const client = clientOf([node])
  const named = { method: 'eth_getCode', params: ['0xnobody', 'latest'] }
  for (let round = 0; round < 20; round += 1) await expect(client.request(named)).rejects.toThrow()
  await expect(client.request(chainId)).resolves.toBe('0x2105')
  expect(client.health()[0]).toMatchObject({ healthy: true })
  node.refuse = () => ({ status: 400, type: 'text/plain', text: 'no' })
  for (let round = 0; round < 6; round += 1) {
    client.skip(1_000)
    await expect(client.request(named)).rejects.toThrow()
    await client.probeHeads()
  }
  expect(client.health()[0]).toMatchObject({ healthy: false })
})

test.each<[string, boolean]>([
  ['{"Error":"The key exceeds the frequency limit(15), and the query server is suspended for 1s"}', true],
  ['{"Error":"forbidden"}', false],
])('F-61: 403 with %s tells by its words whether it is a limit of the rate', async (text, isLimit) => {
  const node = await startNode(() => ({ status: 403, type: 'application/json', text }))
  const refused = await clientOf([node])
    .request(chainId)
    .catch((error: unknown) => error)
  expect(String(Object(refused).cause)).toMatch(isLimit ? /rate_limited \(403\)/ : /http_status \(403\)/)
})

test('F-80: 429 with a page is patience first, and twice in a row a smaller batch', async () => {
  const node = await startNode(moreThan(3, { status: 429, type: 'text/html', text: '<h1>Slow down</h1>' }))
  const client = clientOf([node])
  const many = Array.from({ length: 8 }, () => chainId)
  const outcomes: boolean[] = []
  while (outcomes.at(-1) !== true && outcomes.length < 12) {
    outcomes.push(
      await client.batch(many).then(
        () => true,
        () => false,
      ),
    )
    client.skip(2_000)
  }
  // The number of rounds depends on the time that they take.
  expect(outcomes.slice(0, 2)).toEqual([false, false])
  expect(outcomes.at(-1)).toBe(true)
})

const passing = (calls: readonly Call[], isBatch: boolean): Reply => {
  const said = calls.map(({ id }) => error(-32_603, 'http request handling timeout', id))
  return json(isBatch ? said : said[0])
}
const every = (number: number, refusal: (calls: readonly Call[], isBatch: boolean) => Reply): Refuse => {
  let count = 0
  return (calls, isBatch) => (++count % number === 0 ? refusal(calls, isBatch) : undefined)
}

test.each<[string, (calls: readonly Call[], isBatch: boolean) => Reply]>([
  ['each call of one request in three', passing],
  ['a whole request in three', () => json(error(-32_603, 'http request handling timeout'))],
  [
    'a block that it is to have',
    (calls, isBatch) => {
      const said = calls.map(({ id }) => error(-32_000, 'header not found', id))
      return json(isBatch ? said : said[0])
    },
  ],
])(
  'F-62: an endpoint that fails at %s, and passes, is asked once more and costs nothing',
  async (_name, refusal) => {
    const client = clientOf([await startNode(every(3, refusal))])
    for (let round = 0; round < 12; round += 1) {
      expect(await client.request({ method: 'eth_blockNumber', params: [] })).toBe('0x2105')
      expect((await client.batch([chainId, chainId])).every(({ ok }) => ok)).toBe(true)
      expect((await client.batch([logs(1, 40)])).map(blocksIn)).toMatchObject([{ length: 40 }])
    }
    expect(client.sizes()).toMatchObject([
      { calls: Number.POSITIVE_INFINITY, logBlocks: Number.POSITIVE_INFINITY },
    ])
  },
)

test('F-62: what is sent once more is the whole request, and an error that stays is handed on', async () => {
  const node = await startNode(passing)
  const client = clientOf([node])
  const answers = await client.batch([chainId, chainId])
  expect(answers).toMatchObject([{ code: -32_603 }, { code: -32_603 }])
  expect(node.requests().map(({ length }) => length)).toEqual([2, 2])
})

test('F-62: a transaction is not sent again by itself, nor is what ran and failed', async () => {
  const node = await startNode(passing)
  const client = clientOf([node])
  await client.batch([{ method: 'eth_sendRawTransaction', params: ['0x'] }])
  node.refuse = ([call]) => json(error(3, 'execution reverted: timeout', call?.id))
  await client.batch([{ method: 'eth_call', params: [] }])
  expect(node.requests()).toHaveLength(2)
})

const receiptOf = (logs: readonly object[], logsBloom?: string) => ({ status: '0x1', logs, logsBloom })
const bloom = `0x${'0'.repeat(500)}800000000000`
const receipt = { method: 'eth_getTransactionReceipt', params: [`0x${'11'.repeat(32)}`] }

test('F-64: a receipt whose bloom has logs that it does not show is asked for again, and is no answer', async () => {
  let shown: readonly object[] = []
  const node = await startNode((calls, isBatch) => {
    const answers = calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: receiptOf(shown, bloom) }))
    return json(isBatch ? answers : answers[0])
  })
  const client = clientOf([node])
  await expect(client.request(receipt)).rejects.toThrow('does not show the logs')
  expect(await client.batch([receipt, chainId])).toMatchObject([{ ok: false, code: -32_603 }, { ok: true }])
  expect(node.requests().map(({ length }) => length)).toEqual([1, 1, 2, 2])
  shown = [{}]
  expect(await client.request(receipt)).toMatchObject({ logs: [{}] })
})

test.each([[`0x${'0'.repeat(512)}`], [undefined]])(
  'F-64: a receipt without logs by its bloom, or without one, is read',
  async (logsBloom) => {
    const node = await startNode(([call]) =>
      json({ jsonrpc: '2.0', id: call?.id, result: receiptOf([], logsBloom) }),
    )
    expect(await clientOf([node]).request(receipt)).toMatchObject({ logs: [] })
    expect(node.requests()).toHaveLength(1)
  },
)
