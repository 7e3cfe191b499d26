// Goal: the oracle as an operator runs it: what refuses to start, a chain without endpoint, a chain that is
// rewritten and cleared, and a stop that loses nothing. Method: `main.ts` as a process over real nodes.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import {
  type FaultProxy,
  freeLoopbackPort,
  startFaultProxy,
  startHostileClient,
  startTestNetwork,
  type TestNetwork,
} from '@causeway/localnet'
import { parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../src/compose/config.ts'
import { createOracle } from '../src/compose/createOracle.ts'
import { examineOwnOracle } from '../src/compose/examine.ts'
import { chainsResponseSchema, type ListedChain } from '../src/http/app.ts'
import {
  callerKey,
  type OracleProcess,
  oracleVariables,
  repositoryRoot,
  spawnOracle,
} from './support/oracleProcess.ts'
import { deposit, native, noOrder } from './support/protocolActors.ts'

let network: TestNetwork
let proxy: FaultProxy
let directory: string
let oracle: OracleProcess
let url: string
let transactionId: string

beforeAll(async () => {
  network = await startTestNetwork()
  proxy = await startFaultProxy({ targetUrl: network.chains.base.url })
  directory = await mkdtemp(join(tmpdir(), 'causeway-oracle-'))
  const [user] = network.keys.users
  if (user === undefined) throw new Error('the network has users')
  transactionId = await deposit(network, 'base', user, {
    currency: native,
    amount: parseEther('0.1'),
    id: noOrder,
  })
  oracle = spawnOracle({
    ...oracleVariables(network),
    BASE_RPC_URL: proxy.url,
    OPTIMISM_RPC_URL: '',
    STATE_DIR: directory,
  })
  url = await oracle.listening()
})
afterAll(async () => {
  await oracle?.stop()
  await proxy?.stop()
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})

function attest(body: object): Promise<Response> {
  return fetch(`${url}/attestations/depository-deposits/v1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': callerKey },
    body: JSON.stringify(body),
  })
}

async function listed(id: string): Promise<ListedChain | undefined> {
  const { chains } = chainsResponseSchema.parse(await (await fetch(`${url}/chains/v1`)).json())
  return chains.find((chain) => chain.id === id)
}

/** The variables of an oracle whose hub file is the local one, changed. */
const withHubFile = (change: (text: string) => string) => withFile('chains.hub.local.json', change)

async function withFile(
  changedName: 'chains.local.json' | 'chains.hub.local.json',
  change: (text: string) => string,
): Promise<Record<string, string>> {
  const configs = await mkdtemp(join(directory, 'configs-'))
  for (const name of ['chains.local.json', 'chains.hub.local.json']) {
    const text = await readFile(join(repositoryRoot, 'configs', name), 'utf8')
    const changed = name === changedName ? change(text) : text
    if (name === changedName) expect(changed).not.toBe(text)
    await writeFile(join(configs, name), changed)
  }
  return { ...oracleVariables(network), CONFIG_DIR: configs, LOG_LEVEL: 'silent' }
}

describe('a start is refused and names the setting', () => {
  test.each<[string, Record<string, string>, RegExp]>([
    ['without a key', { ECDSA_PRIVATE_KEY: '' }, /ECDSA_PRIVATE_KEY/],
    ['with an unknown signing module', { SIGNING_MODULE: 'paper' }, /SIGNING_MODULE/],
    ['in an unknown environment', { ENVIRONMENT: 'moon' }, /ENVIRONMENT/],
    ['without an endpoint of the hub', { RELAY_RPC_URL: '' }, /RELAY_RPC_URL/],
    ['with a threshold of 0', { ORACLE_SIGNERS_THRESHOLD: '0' }, /ORACLE_SIGNERS_THRESHOLD/],
    ['with a threshold of 1.5', { ORACLE_SIGNERS_THRESHOLD: '1.5' }, /ORACLE_SIGNERS_THRESHOLD/],
    ['with a threshold that is no number', { ORACLE_SIGNERS_THRESHOLD: 'abc' }, /ORACLE_SIGNERS_THRESHOLD/],
    ['with a list that lacks the local signer', { ORACLE_SIGNERS: `0x${'12'.repeat(20)}` }, /ORACLE_SIGNERS/],
    ['with the zero address in the list', { ORACLE_SIGNERS: `0x${'00'.repeat(20)}` }, /ORACLE_SIGNERS/],
    ['with a malformed peer', { PEERS: 'nowhere' }, /PEERS/],
    ['with an endpoint elsewhere in local', { BASE_RPC_URL: 'http://10.0.0.1' }, /base/],
  ])('%s', async (_what, change, message) => {
    const variables = { ...oracleVariables(network), ...change, LOG_LEVEL: 'silent' }
    const start = async () => createOracle(loadConfig(variables, repositoryRoot), variables)
    const error = await start().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ConfigurationError)
    expect(String(error)).toMatch(message)
    expect(String(error)).not.toContain(network.keys.oracles[0].privateKey)
  })

  test('with an endpoint of another chain', async () => {
    const variables = {
      ...oracleVariables(network),
      BASE_RPC_URL: network.chains.optimism.url,
      LOG_LEVEL: 'silent',
    }
    await expect(createOracle(loadConfig(variables, repositoryRoot), variables)).rejects.toThrow(
      /httpRpcUrl of base: .* is not on chain 8453/,
    )
  })

  test('with a hub that the oracle contract does not name', async () => {
    const variables = await withHubFile((text) =>
      text.replace(/"hubAddress": "0x[0-9a-f]{40}"/, `"hubAddress": "0x${'77'.repeat(20)}"`),
    )
    await expect(createOracle(loadConfig(variables, repositoryRoot), variables)).rejects.toThrow(/hubAddress/)
  })

  describe('with another contract than this release knows', () => {
    const start = (variables: Record<string, string>) =>
      createOracle(loadConfig(variables, repositoryRoot), variables)

    test.each(['oracleMultisigAddress', 'genericMappingAddress', 'auroraAllocatorAddress'] as const)(
      'as %s',
      async (member) => {
        const { hub } = network.deployment
        const builder = hub.bitcoinPayloadBuilder
        const variables = await withHubFile((text) =>
          text.replace(new RegExp(`"${member}": "0x[0-9a-f]{40}"`), `"${member}": "${builder}"`),
        )
        await expect(start(variables)).rejects.toThrow(
          new RegExp(`relay.* shows other code at hub: ${member} than`),
        )
      },
    )

    test.each(['depository', 'fillContract'] as const)('as %s of a chain', async (member) => {
      const { [member]: address, multicall3 } = network.deployment.base
      const variables = await withFile('chains.local.json', (text) => text.replaceAll(address, multicall3))
      const setting = member === 'depository' ? 'depository' : 'fillContracts'
      await expect(start(variables)).rejects.toThrow(
        new RegExp(`base.* shows other code at chains: base.${setting} than`),
      )
    })

    test('as a fill contract that is none, at an address where anything may appear', async () => {
      const { fillContract } = network.deployment.base
      const variables = await withFile('chains.local.json', (text) =>
        text.replaceAll(fillContract, `0x${'7a'.repeat(20)}`),
      )
      await expect(start(variables)).rejects.toThrow(/shows no contract at chains: base.fillContracts/)
    })
  })

  test.each<[string, RegExp, string, RegExp]>([
    ['of another version', /"oracleVersion": "2"/, '"oracleVersion": "1"', /hub: oracleVersion/],
    [
      'whose multisig is no contract',
      /"oracleMultisigAddress": "0x[0-9a-f]{40}"/,
      `"oracleMultisigAddress": "0x${'78'.repeat(20)}"`,
      /hub: oracleMultisigAddress is no contract/,
    ],
    [
      'whose generic mapping is no contract',
      /"genericMappingAddress": "0x[0-9a-f]{40}"/,
      `"genericMappingAddress": "0x${'79'.repeat(20)}"`,
      /hub: genericMappingAddress is no contract/,
    ],
    [
      'whose generic mapping is another contract',
      /("oracleAddress": ("0x[0-9a-f]{40}").*)"genericMappingAddress": "0x[0-9a-f]{40}"/s,
      '$1"genericMappingAddress": $2',
      /domain of the contract at hub: genericMappingAddress/,
    ],
    [
      'whose allocator spender is no contract',
      /"auroraAllocatorSpenderAddress": "0x[0-9a-f]{40}"/,
      `"auroraAllocatorSpenderAddress": "0x${'7a'.repeat(20)}"`,
      /hub: auroraAllocatorSpenderAddress is no contract/,
    ],
  ])('with a hub %s', async (_what, member, by, named) => {
    const variables = await withHubFile((text) => text.replace(member, by))
    const start = createOracle(loadConfig(variables, repositoryRoot), variables)
    await expect(start).rejects.toThrow(named)
    await expect(start).rejects.toBeInstanceOf(ConfigurationError)
  })

  test('on a port that is taken', async () => {
    const { port } = new URL(url)
    const variables = { ...oracleVariables(network), HTTP_PORT: port, LOG_LEVEL: 'silent' }
    const second = await createOracle(loadConfig(variables, repositoryRoot), variables)
    await expect(second.listen()).rejects.toThrow(`HTTP_PORT: port ${port} cannot be opened (EADDRINUSE).`)
  })

  test('as a process, with exit code 1 and without a stack', async () => {
    const refused = spawnOracle({ ...oracleVariables(network), ORACLE_SIGNERS_THRESHOLD: '0' })
    expect(await refused.ended).toBe(1)
    expect(refused.output()).toContain('must be a whole number of at least 1.')
    expect(refused.output()).not.toContain('    at ')
  })
})

describe('P-1: a peer that is this oracle itself stops the start', () => {
  test.each([
    ['127.0.0.1', 'localhost'],
    ['0.0.0.0', '127.0.0.1'],
    ['::', '[::1]'],
  ])('P-1: where it listens on %s and %s is named', async (HTTP_HOST, name) => {
    const HTTP_PORT = String(await freeLoopbackPort())
    const PEERS = `https://other.example|peer-key;http://${name}:${HTTP_PORT}/|peer-key`
    const refused = spawnOracle({ ...oracleVariables(network), HTTP_HOST, HTTP_PORT, PEERS })
    onTestFinished(() => refused.stop())
    expect(await refused.ended).toBe(1)
    expect(refused.output()).toContain('PEERS entry 2 is this oracle itself.')
    expect(refused.output()).not.toContain('peer-key')
  })

  test('P-1: but not another port, nor where it listens on another address', async () => {
    const HTTP_PORT = String(await freeLoopbackPort())
    const peers = (address: string) => `http://${address}|peer-key`
    const other = await freeLoopbackPort()
    for (const [HTTP_HOST, PEERS] of [
      ['127.0.0.1', peers(`127.0.0.1:${other}`)],
      ['192.0.2.7', peers(`127.0.0.1:${HTTP_PORT}`)],
    ] as const) {
      const variables = { ...oracleVariables(network), HTTP_HOST, HTTP_PORT, PEERS }
      const examination = { repositoryRoot, nowMs: () => Date.now(), scope: 'settings' } as const
      const found = await examineOwnOracle(variables, examination)
      expect(found.filter(({ severity }) => severity === 'stops')).toEqual([])
    }
  })
})

describe('an endpoint that is dead at the start', () => {
  /** An oracle whose endpoint of one chain refuses connections, until the test says otherwise. */
  async function startBeside(
    variable: 'BASE_RPC_URL' | 'RELAY_RPC_URL',
    targetUrl: string,
    more: { readonly beside?: string; readonly variables?: Readonly<Record<string, string>> } = {},
  ) {
    const dead = await startFaultProxy({ targetUrl })
    onTestFinished(() => dead.stop())
    await dead.set({ kind: 'refuse' })
    const urls = [...(more.beside === undefined ? [] : [more.beside]), dead.url].join(',')
    const started = spawnOracle({ ...oracleVariables(network), ...more.variables, [variable]: urls })
    onTestFinished(() => started.stop())
    const address = await started.listening()
    const isReady = async (id: string) => {
      const headers = { 'x-api-key': callerKey }
      const { chains } = chainsResponseSchema.parse(
        await (await fetch(`${address}/chains/v1`, { headers })).json(),
      )
      return chains.find((chain) => chain.id === id)?.ready
    }
    return {
      dead,
      started,
      isReady,
      readiness: async () => (await fetch(`${address}/lives/ready/v1`)).status,
    }
  }

  test('O-32: stops nothing in local either, and is asked again until it answers', async () => {
    const { dead, isReady } = await startBeside('BASE_RPC_URL', network.chains.base.url)
    expect([await isReady('base'), await isReady('optimism')]).toEqual([false, true])
    await dead.set({ kind: 'pass' })
    await expect.poll(() => isReady('base'), { timeout: 60_000 }).toBe(true)
  })

  test('O-32: of the hub leaves the oracle unready until it answers', async () => {
    const { dead, readiness } = await startBeside('RELAY_RPC_URL', network.chains.hub.url)
    expect(await readiness()).toBe(503)
    await dead.set({ kind: 'pass' })
    await expect.poll(readiness, { timeout: 60_000 }).toBe(200)
  })

  test('O-32: that comes back as a node of no local network is read in no way', async () => {
    const { dead, started, isReady } = await startBeside('BASE_RPC_URL', network.chains.base.url)
    await dead.set({
      kind: 'lie',
      rewrite: ({ method }, result) => (method === 'web3_clientVersion' ? 'Geth/v1.16.7-stable' : result),
    })
    await expect
      .poll(() => started.output(), { timeout: 60_000 })
      .toContain('is no anvil node, as ENVIRONMENT=local')
    expect(started.output()).toContain('"event":"chain_misconfigured","chain":"base"')
    expect(await isReady('base')).toBe(false)
  })

  test('O-32: keeps a chain waiting whose threshold it could reach alone', async () => {
    const { url: beside } = network.chains.base
    const { CONFIG_DIR = '' } = await withFile('chains.local.json', (text) =>
      text.replace('"id": "base",', '"id": "base", "rpcThreshold": 1,'),
    )
    const { dead, isReady } = await startBeside('BASE_RPC_URL', beside, { beside, variables: { CONFIG_DIR } })
    expect(await isReady('base')).toBe(false)
    await dead.set({ kind: 'pass' })
    await expect.poll(() => isReady('base'), { timeout: 60_000 }).toBe(true)
  })

  test('O-32: one of three is no more than silent, and one of three that is foreign still stops the start', async () => {
    const { base } = network.chains
    const others = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl: base.url })))
    const [dead] = others
    onTestFinished(async () => {
      for (const one of others) await one.stop()
    })
    const variables = {
      ...oracleVariables(network),
      BASE_RPC_URL: others.map(({ url: one }) => one).join(','),
    }
    await dead?.set({ kind: 'refuse' })
    const started = await createOracle(
      loadConfig({ ...variables, LOG_LEVEL: 'silent' }, repositoryRoot),
      variables,
    )
    await started.close()
    await dead?.set({ kind: 'lie', rewrite: () => 'Geth/v1.16.7-stable' })
    const refused = createOracle(loadConfig({ ...variables, LOG_LEVEL: 'silent' }, repositoryRoot), variables)
    await expect(refused).rejects.toThrow(/is no anvil node/)
  })
})

test('P-88: a hub that cannot be read at the start leaves the oracle unready and unsigned until it fits', async () => {
  const hub = await startFaultProxy({ targetUrl: network.chains.hub.url })
  // Readings fail; what tells a development node from others still answers.
  await hub.set({ kind: 'unsupported', methods: ['eth_call'] })
  const waiting = spawnOracle({ ...oracleVariables(network), RELAY_RPC_URL: hub.url })
  try {
    const address = await waiting.listening()
    const ready = async () => (await fetch(`${address}/lives/ready/v1`)).status
    const body = JSON.stringify({ chainId: 'base', transactionId })
    const ask = () =>
      fetch(`${address}/attestations/depository-deposits/v1`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': callerKey },
        body,
      })
    expect(await ready()).toBe(503)
    const refused = await ask()
    expect([refused.status, await refused.json()]).toEqual([
      503,
      expect.objectContaining({ errorCode: 'CHAIN_NOT_CHECKED' }),
    ])
    await hub.set({ kind: 'pass' })
    await expect.poll(ready).toBe(200)
    expect((await ask()).status).toBe(200)
  } finally {
    await waiting.stop()
    await hub.stop()
  }
})

test('a chain without endpoint is listed, is not ready, and its attestations say so', async () => {
  expect(await listed('optimism')).toMatchObject({ ready: false, halted: false })
  const response = await attest({ chainId: 'optimism', transactionId })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ errorCode: 'CHAIN_UNAVAILABLE' })
})

test('a chain whose final block changed is halted until the operator clears it', async () => {
  expect((await attest({ chainId: 'base', transactionId })).status).toBe(200)
  await proxy.set({
    kind: 'lie',
    rewrite: (call, result) =>
      call.method === 'eth_getBlockByNumber' && typeof result === 'object' && result !== null
        ? { ...result, hash: `0x${'ee'.repeat(32)}` }
        : result,
  })
  await expect.poll(async () => (await listed('base'))?.halted, { timeout: 30_000 }).toBe(true)
  const refused = await attest({ chainId: 'base', transactionId })
  expect(refused.status).toBe(503)
  expect(await refused.json()).toMatchObject({ errorCode: 'CHAIN_HALTED', retryable: true })
  await proxy.set({ kind: 'pass' })
  expect((await attest({ chainId: 'base', transactionId })).status).toBe(503)

  const command = spawnOracle({ STATE_DIR: directory }, ['halted', 'clear', 'base'])
  expect(await command.ended).toBe(0)
  expect(command.output()).toContain('base is not halted any more.')
  await expect.poll(async () => (await listed('base'))?.ready, { timeout: 30_000 }).toBe(true)
  expect((await attest({ chainId: 'base', transactionId })).status).toBe(200)
})

test('one client that leaves everything undone stops nobody', async () => {
  const hostile = await startHostileClient({
    url,
    getPath: '/chains/v1',
    postPath: '/attestations/depository-deposits/v1',
  })
  try {
    expect((await attest({ chainId: 'base', transactionId })).status).toBe(200)
    const chains = await fetch(`${url}/chains/v1`, { headers: { 'x-api-key': callerKey } })
    expect(chains.status).toBe(200)
    const ready = await fetch(`${url}/lives/ready/v1`)
    expect([ready.status, await ready.json()]).toMatchObject([200, { checks: { requests: 'ok' } }])
  } finally {
    hostile.stop()
  }
})

test('a stop loses none of ten requests in flight', async () => {
  await proxy.set({ kind: 'latency', delayMs: 700 })
  proxy.resetCounters()
  const ids = Array.from({ length: 10 }, (_, index) => `0x${index.toString(16).padStart(64, '0')}`)
  const answers = ids.map((id) => attest({ chainId: 'base', transactionId: id }))
  await expect
    .poll(() => proxy.counters().callsByMethod['eth_getTransactionReceipt'] ?? 0, { timeout: 20_000 })
    .toBeGreaterThanOrEqual(10)
  oracle.signal('SIGTERM')
  const statuses = await Promise.all(answers.map(async (answer) => (await answer).status))
  expect(statuses).toEqual(ids.map(() => 400))
  expect(await oracle.ended).toBe(0)
})
