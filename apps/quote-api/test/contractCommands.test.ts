// Goal: an operator deploys what quotes rely on by one command, the same contract at the same address on every
// chain, and learns when other code stands there. Method: the commands on bare nodes.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeStateOf, deploymentPlan } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { type Anvil, startAnvil } from '@causeway/localnet'
import { createPublicClient, createTestClient, http, parseEther, zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { loadConfig } from '../src/config/config.ts'
import { runCli } from '../src/operate/cli/runCli.ts'
import { repositoryRoot } from './fixtures/service.ts'

const deployerKey = generatePrivateKey()
const outputSchema = z.object({
  contracts: z.array(
    z.object({ name: z.string(), address: z.string(), state: z.string(), isNew: z.boolean() }),
  ),
})

let base: Anvil
let optimism: Anvil
let directory: string

beforeAll(async () => {
  ;[base, optimism] = await Promise.all([startAnvil({ chainId: 8_453 }), startAnvil({ chainId: 10 })])
  directory = await mkdtemp(join(tmpdir(), 'causeway-contracts-'))
  for (const { url } of [base, optimism]) {
    const address = privateKeyToAddress(deployerKey)
    await node(url).setBalance({ address, value: parseEther('10') })
  }
})
afterAll(async () => {
  await base?.stop()
  await optimism?.stop()
  await rm(directory, { recursive: true, force: true })
})

const node = (url: string) => createTestClient({ mode: 'anvil', transport: http(url) })

async function command(words: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const lines: string[] = []
  const keep = async (line: string) => void lines.push(line)
  const variables = {
    ...{ ENVIRONMENT: 'local', CAUSEWAY_LOCAL_DIR: directory, ECDSA_PRIVATE_KEY: generatePrivateKey() },
    ...{ BASE_RPC_URL: base.url, OPTIMISM_RPC_URL: optimism.url, RELAY_RPC_URL: base.url },
    ...more,
  }
  const code = await runCli({
    ...{ words, actor: 'cli:operator', signal: new AbortController().signal },
    ...{ print: keep, complain: keep },
    config: async () => ({ config: loadConfig(variables, repositoryRoot), variables }),
  })
  return { code, output: lines.join('\n') }
}

const contractsOf = (output: string) => outputSchema.parse(JSON.parse(output)).contracts
const withKey = { DEPLOYER_PRIVATE_KEY: deployerKey }

describe('contracts', () => {
  test('are planned without a key, and nothing stands there yet', async () => {
    const planned = await command(['contracts', 'deploy', '--chain', 'base', '--dry-run', '--json'])
    expect(contractsOf(planned.output).map(({ name, state }) => [name, state])).toEqual([
      ['FillContract', 'planned'],
      ['CleanupRouter', 'planned'],
      ['DepositAddresses', 'planned'],
      ['PermitRouter', 'planned'],
      ['DepositRouter', 'planned'],
    ])
    const found = await command(['contracts', 'verify', '--chain', 'base', '--json'])
    expect(found.code).toBe(1)
    expect(new Set(contractsOf(found.output).map(({ state }) => state))).toEqual(new Set(['missing']))
    const refused = await command(['contracts', 'deploy', '--chain', 'base'])
    expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('DEPLOYER_PRIVATE_KEY')])
  })

  test('are deployed once, at the addresses of the configuration and alike on both chains', async () => {
    const keyFile = join(directory, 'deployer.key')
    await writeFile(keyFile, deployerKey, { mode: 0o600 })
    const first = await command(['contracts', 'deploy', '--chain', 'base', '--json'], {
      DEPLOYER_PRIVATE_KEY_FILE: keyFile,
    })
    expect(first.output).not.toContain(deployerKey)
    expect(first.code).toBe(0)
    expect(contractsOf(first.output).every(({ state, isNew }) => state === 'ours' && isNew)).toBe(true)
    const second = await command(['contracts', 'deploy', '--chain', 'optimism', '--json'], withKey)
    expect(contractsOf(second.output).map(({ address }) => address)).toEqual(
      contractsOf(first.output).map(({ address }) => address),
    )
    const again = await command(['contracts', 'deploy', '--chain', 'base', '--json'], withKey)
    expect(contractsOf(again.output).some(({ isNew }) => isNew)).toBe(false)
    // The local network was deployed by the same plan.
    expect(await command(['contracts', 'verify', '--chain', 'base'])).toMatchObject({ code: 0 })
  })

  test('whose code was replaced are told by a verification', async () => {
    const [found] = contractsOf((await command(['contracts', 'verify', '--chain', 'base', '--json'])).output)
    // CAST: the command prints addresses.
    const address = found?.address as Hex
    const code = await createPublicClient({ transport: http(base.url) }).getCode({ address })
    if (code === undefined) throw new Error('no code')
    const changed: Hex = `0x${code.slice(2, -2)}${code.endsWith('00') ? '01' : '00'}`
    await node(base.url).setCode({ address, bytecode: changed })
    const verified = await command(['contracts', 'verify', '--chain', 'base'])
    expect([verified.code, verified.output]).toEqual([1, expect.stringMatching(/fillContract .*other code/)])
    const deployed = await command(['contracts', 'deploy', '--chain', 'base'], withKey)
    expect(deployed.code).toBe(1)
    await node(base.url).setCode({ address, bytecode: code })
    expect(codeStateOf('FillContract', code)).toBe('ours')
  })

  test('are not deployed without the proxy, and not on another chain than the endpoint is on', async () => {
    const bare = await startAnvil({ chainId: 8_453 })
    try {
      const proxy = '0x4e59b44847b379578588920ca78fbf26c0b4956c'
      await node(bare.url).setCode({ address: proxy, bytecode: '0x' })
      const refused = await command(['contracts', 'deploy', '--chain', 'base'], {
        ...withKey,
        BASE_RPC_URL: bare.url,
      })
      expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('deployment proxy')])
    } finally {
      await bare.stop()
    }
    const swapped = await command(['contracts', 'verify', '--chain', 'base'], { BASE_RPC_URL: optimism.url })
    expect([swapped.code, swapped.output]).toEqual([1, expect.stringContaining('is on chain 10')])
    expect(await command(['contracts', 'verify', '--chain', 'atlantis'])).toMatchObject({ code: 2 })
  })

  test('of two environments share no address', () => {
    const around = { depository: zeroAddress, swapRouter: zeroAddress, wrappedNative: zeroAddress }
    const addresses = ['local', 'testnets.prod', 'mainnets.prod'].flatMap((environment) =>
      deploymentPlan(environment, around).map(({ address }) => address),
    )
    expect(new Set(addresses).size).toBe(12)
  })
})
