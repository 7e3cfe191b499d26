// Start-up checks of the allocator's files: the local files, and files that would sign for less or for more than is
// meant.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigurationError, type Hex } from '@causeway/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadFiles } from './files.ts'

const configs = join(import.meta.dirname, '../../../../configs')
const signer: Hex = `0x${'a1'.repeat(20)}`

type Json = Record<string, unknown>

/** The local files with some members changed. */
async function load(change: { allocator?: Json; hub?: Json; chains?: Json } = {}, environment = 'local') {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-allocator-files-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const local of ['chains', 'chains.hub']) {
    await cp(join(configs, `${local}.local.json`), join(folder, `${local}.local.json`))
  }
  for (const [name, own] of [
    ['allocator', change.allocator],
    ['chains.hub', change.hub],
    ['chains', change.chains],
  ] as const) {
    const file: Json = JSON.parse(await readFile(join(configs, `${name}.local.json`), 'utf8'))
    await writeFile(
      join(folder, `${name}.${environment}.json`),
      JSON.stringify({ ...file, ...own, environment }),
    )
  }
  const variables = { RELAY_RPC_URL: 'http://127.0.0.1:1' }
  return loadFiles({ environment, configDirectory: folder, variables, signer })
}

test('the local file signs for every depository of the local network', async () => {
  const { payers, caps } = await load()
  expect(payers.map(({ chain, vmType }) => [chain, vmType])).toEqual([
    ['base', 'ethereum-vm'],
    ['optimism', 'ethereum-vm'],
    ['solana', 'solana-vm'],
    ['bitcoin', 'bitcoin-vm'],
    ['tron', 'tron-vm'],
    ['hyperliquid', 'hyperliquid-vm'],
    ['lighter', 'lighter-vm'],
  ])
  expect(caps.size).toBe(0)
})

const usdc = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'

test('caps are of the currency of their chain', async () => {
  const { caps } = await load({ allocator: { depositories: [{ chain: 'base', caps: `${usdc}=5` }] } })
  expect([...caps.values()]).toEqual([{ chain: 'base', currency: usdc, amount: 5n }])
})

describe('a start is refused, naming what is wrong', () => {
  const depositories = (...entries: Json[]) => ({ allocator: { depositories: entries } })
  test.each([
    ['a chain that nobody knows', depositories({ chain: 'nowhere' }), 'nowhere is no chain'],
    ['a chain twice', depositories({ chain: 'base' }, { chain: 'base' }), 'base is named twice'],
    [
      'a member that means nothing there',
      depositories({ chain: 'base', vault: 'x' }),
      'base.vault means nothing',
    ],
    ['a vault that is missing', depositories({ chain: 'solana' }), 'solana.vault is needed'],
    ['a member that nobody knows', depositories({ chain: 'base', cap: '5' }), 'cap'],
    ['a cap of no currency', depositories({ chain: 'base', caps: { ETHER: '5' } }), 'names no currency'],
    ['an allocator of others', { hub: { withdrawalKeys: 'public' } }, 'withdrawalKeys'],
    [
      'an allocator on another chain than the hub',
      { hub: { auroraEvmChainId: 5 } },
      'chains.hub.local.json: auroraEvmChainId: must be 537713, the evmChainId of this file',
    ],
    ['a hub without a ledger', { hub: { hubAddress: undefined } }, 'hub.local.json: hubAddress: is missing'],
  ])('%s', async (_what, change, problem) => {
    await expect(load(change)).rejects.toThrow(ConfigurationError)
    await expect(load(change)).rejects.toThrow(problem)
  })

  test('outside local: no cap, and the addresses of the local network', async () => {
    const elsewhere = load({ allocator: { depositories: [{ chain: 'base' }] } }, 'own.prod')
    await expect(elsewhere).rejects.toThrow('depositories.base.caps is needed')
    await expect(elsewhere).rejects.toThrow(/auroraAllocatorAddress.*local|local.*auroraAllocatorAddress/s)
  })
})
