// Goal: an operator reads in one pass what an oracle lacks, and whether its peers can complete an answer. Attacks: a peer
// whose signer is not listed, one that is silent, a threshold that nobody can reach, a state folder that cannot be
// written, keys in URLs. Method: peers as HTTP servers of the test; the hub's endpoint stands nowhere.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { examineOwnOracle } from './examine.ts'

const repositoryRoot = fileURLToPath(new URL('../../../..', import.meta.url))
const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

/**
 * @param toKey what becomes of a request that shows a key
 * @returns `host:port` of an oracle that says who signs there
 */
async function peerThatSignsAs(
  signer: string,
  toKey: (response: ServerResponse) => unknown = () => {},
): Promise<string> {
  const server = createServer((request, response) => {
    if (request.headers['x-api-key'] !== undefined) toKey(response)
    else response.statusCode = request.url === '/lives/ready/v1' ? 200 : 404
    response.end(JSON.stringify({ ready: true, draining: false, checks: {}, signer }))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
}

const listed = `0x${'ab'.repeat(20)}`
const stranger = `0x${'cd'.repeat(20)}`
const canary = 'canary-5d41402abc4b'

async function examine(changed: Readonly<Record<string, string>>, scope: 'settings' | 'all' = 'all') {
  const variables = {
    ENVIRONMENT: 'testnets.prod',
    ECDSA_PRIVATE_KEY: `0x${'5a'.repeat(32)}`,
    RELAY_TESTNET_RPC_URL: `http://127.0.0.1:9/${canary}`,
    ...changed,
  }
  const found = await examineOwnOracle(variables, { repositoryRoot, nowMs: () => Date.now(), scope })
  expect(JSON.stringify(found)).not.toMatch(/canary|(5a){8}/)
  return found.map(({ code, severity, setting, seen }) => ({ code, severity, setting, seen }))
}

async function ownSigner(): Promise<string> {
  const [read] = (await examine({}, 'settings')).filter(({ code }) => code === 'key-read')
  return read?.seen.replace('signs as ', '') ?? ''
}

test('peers that are silent, strange or well, and whether they are enough', async () => {
  const signer = await ownSigner()
  const [good, strange] = [await peerThatSignsAs(listed), await peerThatSignsAs(stranger)]
  const variables = {
    PEERS: `http://${good}|${canary};http://${strange}|${canary};http://127.0.0.1:9/${canary}|${canary}`,
    ORACLE_SIGNERS: `${signer};${listed};0x${'ef'.repeat(20)}`,
    ORACLE_SIGNERS_THRESHOLD: '3',
  }
  const found = await examine(variables)
  expect(found).toContainEqual({
    code: 'signer-unlisted',
    severity: 'degrades',
    setting: 'ORACLE_SIGNERS',
    seen: `does not name ${stranger}, which ${strange} (PEERS entry 2) signs as: its signatures do not count`,
  })
  expect(found).toContainEqual({
    code: 'peer-silent',
    severity: 'degrades',
    setting: 'PEERS entry 3',
    seen: '127.0.0.1:9 does not answer',
  })
  expect(found).toContainEqual({
    code: 'threshold-unreachable',
    severity: 'degrades',
    setting: 'ORACLE_SIGNERS_THRESHOLD',
    seen: 'is 3, and 2 listed signers answer, this oracle among them: no answer is complete',
  })
  const enough = await examine({ ...variables, ORACLE_SIGNERS_THRESHOLD: '2' })
  expect(enough.map(({ code }) => code)).not.toContain('threshold-unreachable')
})

test('P-3: a peer that signs as this oracle does is named, and two that sign as one', async () => {
  const signer = await ownSigner()
  const names = [await peerThatSignsAs(signer), await peerThatSignsAs(listed), await peerThatSignsAs(listed)]
  const found = await examine({
    PEERS: names.map((name) => `http://${name}|${canary}`).join(';'),
    ORACLE_SIGNERS: `${signer};${listed}`,
    ORACLE_SIGNERS_THRESHOLD: '2',
  })
  const shared = { code: 'signer-shared', severity: 'degrades' }
  expect(found.filter(({ code }) => code === 'signer-shared')).toEqual([
    {
      ...shared,
      setting: 'PEERS entry 1',
      seen: `${names[0]} signs as ${signer}, as this oracle does: both count once`,
    },
    {
      ...shared,
      setting: 'PEERS entry 3',
      seen: `${names[2]} signs as ${listed}, as PEERS entry 2 does: both count once`,
    },
  ])
})

test('everything that stops the start is found in one pass', async () => {
  const found = await examine(
    {
      ECDSA_PRIVATE_KEY: '',
      RELAY_TESTNET_RPC_URL: '',
      OPS_PORT: '3000',
      PEERS: `ftp://${canary}|${canary}`,
      FORCE: canary,
      BASE_SEPOLIA_RPC_URL: canary,
      ALLOCATOR_ECDSA_PRIVATE_KEY: canary,
    },
    'settings',
  )
  const stops = found.filter(({ severity }) => severity === 'stops').map(({ setting }) => setting)
  expect(stops).toEqual(
    expect.arrayContaining([
      ...['ECDSA_PRIVATE_KEY', 'OPS_PORT', 'PEERS', 'FORCE', 'ALLOCATOR_ECDSA_PRIVATE_KEY'],
      'BASE_SEPOLIA_RPC_URL',
    ]),
  )
})

test('a hub without an endpoint is named by its variable', async () => {
  expect(await examine({ RELAY_TESTNET_RPC_URL: '' }, 'settings')).toContainEqual(
    expect.objectContaining({ severity: 'stops', setting: 'RELAY_TESTNET_RPC_URL' }),
  )
})

test('O-93: a state folder without counts is named, for it may have been emptied; one with them is not', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-counts-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const empty = expect.objectContaining({ code: 'state-empty', severity: 'degrades', setting: 'STATE_DIR' })
  expect(await examine({ STATE_DIR: directory })).toContainEqual(empty)
  await writeFile(join(directory, 'signing-caps.jsonl'), '')
  expect(await examine({ STATE_DIR: directory })).not.toContainEqual(empty)
})

test('O-95: a peer that does not know our key any more is named, whether it says so or only limits us', async () => {
  const [limiting, refusing, knowing] = await Promise.all([
    peerThatSignsAs(listed, (response) => response.setHeader('x-ratelimit-limit', '60')),
    peerThatSignsAs(listed, (response) => response.writeHead(401)),
    peerThatSignsAs(listed, () => {}),
  ])
  const peers = [limiting, refusing, knowing].map((name) => `http://${name}|${canary}-of-the-peer`)
  const found = await examine({ PEERS: peers.join(';') })
  expect(found.filter(({ code }) => code === 'peer-refuses')).toEqual([
    {
      code: 'peer-refuses',
      severity: 'degrades',
      setting: 'PEERS entry 1',
      seen: `${limiting} does not know our key`,
    },
    {
      code: 'peer-refuses',
      severity: 'degrades',
      setting: 'PEERS entry 2',
      seen: `${refusing} does not take our key (401)`,
    },
  ])
})

test('a state folder that cannot be written stops the start; none forgets', async () => {
  const found = await examine({ STATE_DIR: '/dev/null/causeway' })
  expect(found).toContainEqual(
    expect.objectContaining({ code: 'disk-unwritable', severity: 'stops', setting: 'STATE_DIR' }),
  )
  expect(await examine({}, 'settings')).toContainEqual(
    expect.objectContaining({ code: 'setting-missing', severity: 'degrades', setting: 'STATE_DIR' }),
  )
})
