// Goal: others may have what nodes answered, and learn from it nothing about who asked. Attacks: a provider that quotes the
// key, the caller's address or a personal link in its refusals; an answer in a batch that stands for another question; a
// flood of one answer.
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { replay } from '../replay/readFolder.ts'
import { startRecording } from './recording.ts'
import { answersIn, createRecorder, createScrubber } from './records.ts'
import { renderReport } from './report.ts'

const key = `0x${'5e'.repeat(32)}` as const
const endpoints = [
  'https://fresh-lake-dawn.sepolia.quiknode.example/0a1b2c3d4e5f60718293/',
  'https://user-name:pass%2Fword@rpc.example/v2?apikey=ABCDEFGHIJ',
]
const scrub = createScrubber({ endpoints, secrets: [key] })

test.each([
  ['a key in the path', 'invalid key 0a1b2c3d4e5f60718293'],
  ['a key in the query, in another case', 'invalid key abcdefghij'],
  ['the host, which is part of the key', 'no route to fresh-lake-dawn.sepolia.quiknode.example'],
  ['a password as it is written', 'pass%2Fword'],
  ['a password as it is meant', 'pass/word'],
  ['a user', 'hello user-name'],
  ['a private key without its prefix', '5e'.repeat(32)],
  ['a link with an account', 'see https://dashboard.example/accounts/17?plan=1 to pay'],
  ['the address of the caller', 'rate limit for 198.51.100.77 exceeded'],
  ['the address of the caller, of version 6', 'blocked 2001:db8:85a3:1:2:8a2e:370:7334'],
])('O-113: a record does not hold %s', (_what, text) => {
  const left = scrub(JSON.stringify({ message: text }))
  expect(() => JSON.parse(left)).not.toThrow()
  const secrets = /0a1b2c3d|abcdefghij|fresh-lake|pass.{1,3}word|user-name|5e5e|accounts|198\.51|85a3/i
  expect(left).not.toMatch(secrets)
})

test('O-113: what says nothing about the caller stays as it is', () => {
  const text = '{"jsonrpc":"2.0","id":1,"result":{"number":"0x1b4","hash":"0xabcdef","logs":[]}}'
  expect(scrub(text)).toBe(text)
})

const call = (id: number, method: string) => ({ jsonrpc: '2.0', id, method, params: [] })
const exchange = (requests: unknown, body: unknown, status = 200) => ({
  family: 'ethereum-vm',
  path: '/',
  status,
  requestBody: JSON.stringify(requests),
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

test('O-113: each answer of a batch is a record of its own question, in whatever order they come', () => {
  const answers = answersIn(
    exchange(
      [call(1, 'eth_chainId'), call(2, 'eth_getLogs')],
      [
        { jsonrpc: '2.0', id: 2, error: { code: -32_005, message: 'too many' } },
        { jsonrpc: '2.0', id: 1, result: '0x1' },
      ],
    ),
  )
  expect(answers.map(({ folder, method }) => [folder, method])).toEqual([
    ['errors', 'eth_getLogs'],
    ['ethereum-vm', 'eth_chainId'],
  ])
})

test('O-113: a refusal of a whole request, a page and a status that says no are errors', () => {
  const refused = {
    jsonrpc: '2.0',
    id: null,
    error: { code: -32_014, message: 'maximum 10 calls in 1 batch' },
  }
  for (const one of [
    exchange([call(1, 'eth_chainId')], refused),
    exchange(call(1, 'eth_chainId'), '<html>Bad gateway</html>'),
    exchange(call(1, 'eth_chainId'), { jsonrpc: '2.0', id: 1, result: '0x1' }, 503),
  ])
    expect(answersIn(one).map(({ folder, method }) => [folder, method])).toEqual([['errors', 'eth_chainId']])
})

test('O-113: some answers of each method are kept, none twice, and a long one not at all', () => {
  const record = createRecorder(scrub)
  const place = { chain: 'sepolia', endpoint: endpoints[0] ?? '' }
  const answer = (result: string, id: number) => ({
    folder: 'ethereum-vm',
    method: 'eth_blockNumber',
    status: 200,
    text: JSON.stringify({ jsonrpc: '2.0', id, result }),
  })
  const kept = Array.from({ length: 500 }, (_, index) => record(answer(`0x${index.toString(16)}`, 1), place))
  expect(kept.filter((one) => one !== undefined)).toHaveLength(12)
  const [first] = kept
  expect(first?.file).toMatch(/^ethereum-vm\/eth-blockNumber-sepolia-[0-9a-f]{8}\.json$/)
  expect(first?.source).toContain('| recorded from quiknode.example |')
  const other = createRecorder(scrub)
  expect([other(answer('0x1', 1), place), other(answer('0x1', 2), place)].map(Boolean)).toEqual([true, false])
  expect(other(answer(`0x${'0'.repeat(2_000_000)}`, 1), place)).toBeUndefined()
})

test('O-113: what an endpoint answers through the recording is what it said, and its records are replayed', async () => {
  const said =
    '{"jsonrpc":"2.0","id":4,"error":{"code":-32005,"message":"rate limit of key 77aa88bb99cc exceeded"}}'
  const node = createServer((_request, response) => response.writeHead(429, { 'retry-after': '7' }).end(said))
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
  const folder = await mkdtemp(join(tmpdir(), 'causeway-field-'))
  onTestFinished(async () => {
    node.close()
    await rm(folder, { recursive: true })
  })
  const { port } = Object(node.address())
  const url = `http://127.0.0.1:${port}/77aa88bb99cc`
  const recording = await startRecording(
    { variables: { ONE_RPC_URL: url, HUB_RPC_URL: url }, families: [], publicOracle: undefined },
    { chains: [], hubVariable: 'HUB_RPC_URL', capVariables: [] },
    { folder, secrets: [], print: () => expect.unreachable() },
  )
  const answer = await fetch(recording.urlOf('HUB_RPC_URL'), {
    method: 'POST',
    body: JSON.stringify(call(4, 'eth_getLogs')),
  })
  expect([answer.status, answer.headers.get('retry-after'), await answer.text()]).toEqual([429, '7', said])
  await recording.stop()
  const lines: string[] = []
  expect(await replay(folder, (line) => lines.push(line))).toBe(0)
  expect(lines.join('\n')).toMatch(/errors\/eth-getLogs-hub-[0-9a-f]{8}-s429\.json: refused: rate_limited/)
  expect(recording.requests()).toEqual({ hub: 1 })
})

test('O-113: a report holds nothing that an error quotes, and its table stays one', () => {
  const step = { kind: 'deposit', chain: 'sepolia', to: 'base', maxWei: 1n, maxMicroUsd: 5n } as const
  const told = 'invalid key 0a1b2c3d4e5f60718293 | try\nagain'
  const report = renderReport(
    {
      environment: 'testnets.prod',
      startedAt: new Date(0),
      endedAt: new Date(90_000),
      taken: [{ step, outcome: 'failed', told, seconds: 1.25 }],
      stopped: told,
      sumMicroUsd: 20_000_000n,
      spentMicroUsd: undefined,
      givenBack: [],
      requests: { sepolia: 3 },
      records: 2,
      replayed: { counts: '2 read', faults: [told] },
    },
    scrub,
  )
  expect(report).not.toContain('0a1b2c3d')
  expect(report).toContain(
    '| deposit sepolia to base | failed | 0.000005 USD | 1.3 | invalid key scrubbed \\| try again |',
  )
  expect(report).toContain('Spent: unknown of at most 20 USD')
})
