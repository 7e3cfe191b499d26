// Goal: what the hub file says of the allocator is true at start, or the start stops: one that does not name
// its payloads runs under public keys alone, with its holes printed; without one nothing is executed.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../src/compose/config.ts'
import { loadFiles } from '../src/compose/files.ts'
import { openNetwork } from '../src/compose/network.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))

let network: TestNetwork
beforeAll(async () => {
  network = await startTestNetwork()
})
afterAll(() => network?.stop())

/** Opens the chains of a hub file that says something else. @returns what was logged, by event */
async function open(change: (deployment: TestNetwork['deployment']) => object) {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-hub-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await cp(join(repositoryRoot, 'configs'), folder, { recursive: true })
  const path = join(folder, 'chains.hub.local.json')
  const hub = { ...JSON.parse(await readFile(path, 'utf8')), ...change(network.deployment) }
  await writeFile(path, JSON.stringify(hub))
  const { chains, keys } = network
  const variables = {
    ENVIRONMENT: 'local',
    CONFIG_DIR: folder,
    RELAY_RPC_URL: chains.hub.url,
    BASE_RPC_URL: chains.base.url,
    OPTIMISM_RPC_URL: chains.optimism.url,
  }
  const { environment, configDirectory } = loadConfig(variables, repositoryRoot)
  const signer = keys.oracles[0].address
  const files = await loadFiles({ environment, configDirectory, variables, signer })
  const logged = new Map<string, object>()
  const note = (fields: object) => void logged.set('event' in fields ? String(fields.event) : '', fields)
  const opened = await openNetwork({
    files,
    environment,
    halts: undefined,
    finalityCheckIntervalMs: 60_000,
    headCheckIntervalMs: 500,
    headAgeMaxMs: 30_000,
    finalResultsKeptMax: 0,
    log: { error: note, warn: note, info: note },
  })
  onTestFinished(() => opened.close())
  return { logged, context: opened.context }
}

test('an allocator that names its payloads is taken with keys of our own', async () => {
  const { logged, context } = await open(() => ({}))
  expect(context.allocator?.keys).toBe('own')
  expect(logged.has('allocator_missing') || logged.has('withdrawal_keys_public')).toBe(false)
})

test('one that does not stops the start, unless its keys are said to be public', async () => {
  // Code that this release does not know: its operator answers for it.
  const without = ({ hub: { hub } }: TestNetwork['deployment']) => ({
    auroraAllocatorAddress: hub,
    codeHashes: { [hub]: 'unchecked' },
  })
  await expect(open(without)).rejects.toThrow('withdrawalKeys must say "public"')
  const { logged, context } = await open((deployment) => ({
    ...without(deployment),
    withdrawalKeys: 'public',
  }))
  expect(context.allocator?.keys).toBe('public')
  expect(logged.get('withdrawal_keys_public')).toMatchObject({
    holes: expect.arrayContaining([expect.stringContaining('second payload')]),
  })
})

test('one without code, or on another chain than is said, stops the start', async () => {
  const nowhere = { auroraAllocatorAddress: `0x${'5a'.repeat(20)}` }
  await expect(open(() => nowhere)).rejects.toThrow('no contract at hub: auroraAllocatorAddress')
  const elsewhere = () => ({ auroraEvmChainId: 1, auroraHttpRpcUrl: network.chains.hub.url })
  await expect(open(elsewhere)).rejects.toThrow('is not on chain 1')
})

test('one that is on the hub has no endpoints of its own, and one elsewhere needs some', async () => {
  await expect(open(() => ({ auroraHttpRpcUrl: network.chains.hub.url }))).rejects.toThrow('auroraHttpRpcUrl')
  const { logged, context } = await open(() => ({ auroraEvmChainId: 1 }))
  expect(context.allocator).toBeUndefined()
  expect(logged.has('allocator_missing')).toBe(true)
})

test('one elsewhere is on this machine in a local environment', async () => {
  const far = () => ({ auroraEvmChainId: 1, auroraHttpRpcUrl: 'https://allocator.example' })
  await expect(open(far)).rejects.toThrow('is not on this machine')
})
