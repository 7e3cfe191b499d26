// Goal: a service that must not run refuses to start, names the setting and prints no secret.
// Method: `main.ts` as a process of its own per setting, with real nodes and files. Rules of one setting
// alone, as the forms of a key, are tested where they are written.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FaultProxy, startFaultProxy, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serviceEnvironment } from './fixtures/service.ts'
import { type ConfigCopy, copyConfigs } from './serviceSupport/configCopy.ts'
import { spawnService } from './serviceSupport/serviceProcess.ts'

/** The first account of anvil and hardhat. */
const publishedKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const publishedAddress = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const privateKey = generatePrivateKey()
const databasePassword = 'pw-d41d8cd98f'
const pepper = '9e27b1f0'.repeat(8)
const adminKey = 'admin-5d41402abc4b2a76b9'
const endpointSecret = 'secret-6f1ed002ab'
const secretPath = `/v2/${endpointSecret}`
/** Nothing listens there. */
const silentPort = 9

let network: TestNetwork
let directory: string
let foreignNode: FaultProxy
const copies: ConfigCopy[] = []

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  directory = await mkdtemp(join(tmpdir(), 'causeway-startup-'))
  foreignNode = await startFaultProxy({ targetUrl: network.chains.optimism.url })
  await foreignNode.set({
    kind: 'lie',
    rewrite: ({ method }, result) => (method === 'web3_clientVersion' ? 'Geth/v1.16.7-stable' : result),
  })
})
afterAll(async () => {
  await foreignNode?.stop()
  await network?.stop()
  for (const copy of copies) await copy.remove()
  await rm(directory, { recursive: true, force: true })
})

type Environment = Readonly<Record<string, string>>
type Change = (environment: Environment) => Environment | Promise<Environment>

/** `ENVIRONMENT=local` as it works, changed in one respect. */
function local(change: Change): () => Promise<Environment> {
  return async () => change(await serviceEnvironment(network, directory, { LOG_LEVEL: 'info' }))
}

/** Another environment, complete but for what no test machine has: its chains and its database. */
function testnets(overrides: Environment): () => Environment {
  return () => ({
    ENVIRONMENT: 'testnets.prod',
    ECDSA_PRIVATE_KEY: privateKey,
    DATABASE_URL: `postgres://causeway:${databasePassword}@127.0.0.1:${silentPort}/causeway`,
    API_KEY_PEPPERS: `v1:${pepper}`,
    PUBLIC_URL: 'https://api.testnets.example',
    ADMIN_API_KEY: adminKey,
    FILL_WALLET_ADDRESS: `0x${'5f'.repeat(20)}`,
    MAINNETS_BASE_URL: 'https://api.example',
    TESTNETS_BASE_URL: 'https://api.testnets.example',
    ...overrides,
  })
}

/** Sets variables; an empty one counts as unset. */
function set(overrides: Environment): Change {
  return (environment) => ({ ...environment, ...overrides })
}

/** Runs with a copy of the configuration files in which pieces are replaced. */
function files(...replacements: readonly (readonly [name: string, piece: string, by: string])[]): Change {
  return async (environment) => {
    const copy = await copyConfigs()
    copies.push(copy)
    for (const [name, piece, by] of replacements) await copy.replace(name, piece, by)
    return { ...environment, CONFIG_DIR: copy.directory }
  }
}

function usdxDecimals(decimals: number): string {
  return `"symbol": "USDX",
          "name": "USD X",
          "decimals": ${decimals}`
}

const refused: readonly (readonly [string, () => Environment | Promise<Environment>, readonly string[]])[] = [
  [
    'no ENVIRONMENT and a port that is none, naming both',
    local(set({ ENVIRONMENT: '', HTTP_PORT: '70000' })),
    ['ENVIRONMENT', 'HTTP_PORT'],
  ],
  [
    'an ENVIRONMENT without files',
    testnets({ ENVIRONMENT: 'staging' }),
    ['ENVIRONMENT', 'chains.staging.json'],
  ],
  ['no key', local(set({ ECDSA_PRIVATE_KEY_FILE: '' })), ['ECDSA_PRIVATE_KEY']],
  [
    'the key of the allocator',
    local(set({ ALLOCATOR_ECDSA_PRIVATE_KEY: 'x' })),
    ['ALLOCATOR_ECDSA_PRIVATE_KEY'],
  ],
  [
    'a key that is none',
    local(set({ ECDSA_PRIVATE_KEY_FILE: '', ECDSA_PRIVATE_KEY: privateKey.slice(0, -2) })),
    ['ECDSA_PRIVATE_KEY'],
  ],
  ['every sender as a trusted proxy', local(set({ TRUSTED_PROXIES: '0.0.0.0/0' })), ['TRUSTED_PROXIES']],
  [
    'an admin listener for everybody without a key',
    local(set({ ADMIN_HOST: '0.0.0.0' })),
    ['ADMIN_HOST', 'ADMIN_API_KEY'],
  ],
  [
    'a local endpoint on another machine',
    local(set({ BASE_RPC_URL: `http://192.0.2.1:8545${secretPath}` })),
    ['httpRpcUrl of base', 'ENVIRONMENT=local'],
  ],
  [
    'a local node that is no anvil and one that is silent, naming both',
    local((environment) => ({
      ...environment,
      BASE_RPC_URL: `http://127.0.0.1:${silentPort}${secretPath}`,
      OPTIMISM_RPC_URL: `${foreignNode.url}${secretPath}`,
    })),
    ['httpRpcUrl of base', 'does not answer', 'httpRpcUrl of optimism', 'is no anvil node'],
  ],
  [
    'a quote file of another environment',
    local(files(['quote.local.json', '"environment": "local"', '"environment": "testnets.prod"'])),
    ['quote.local.json', 'ENVIRONMENT'],
  ],
  [
    'a chain file of another environment',
    local(files(['chains.local.json', '"environment": "local"', '"environment": "mainnets.prod"'])),
    ['chains.local.json', 'ENVIRONMENT'],
  ],
  [
    'token decimals, a feed and a contract that are not what they are on chain, naming all',
    local((environment) =>
      files(
        ['quote.local.json', usdxDecimals(6), usdxDecimals(8)],
        ['quote.local.json', '"description": "ETH / USD"', '"description": "BTC / USD"'],
        ['quote.local.json', network.deployment.base.fillContract, `0x${'77'.repeat(20)}`],
        ['chains.local.json', network.deployment.base.fillContract, `0x${'77'.repeat(20)}`],
        ['quote.local.json', network.deployment.base.permitRouter.depositCodeHash, `0x${'77'.repeat(32)}`],
      )(environment),
    ),
    [
      'chains.base.currencies.USDX',
      'chains.optimism.currencies.USDX',
      'decimals()',
      'prices.ETH/USD',
      'description()',
      'fillContract',
      'chains.base.permitRouter.contract: DEPOSIT_CODE_HASH()',
    ],
  ],
  [
    'a fill contract that the chain file does not list: nobody would believe that it pays',
    local((environment) =>
      files(['chains.local.json', network.deployment.base.fillContract, `0x${'77'.repeat(20)}`])(environment),
    ),
    ['quote: chains.base.fillContract is missing in chains: base.fillContracts'],
  ],
  ['another environment without a database', testnets({ DATABASE_URL: '' }), ['DATABASE_URL']],
  ['another environment without peppers', testnets({ API_KEY_PEPPERS: '' }), ['API_KEY_PEPPERS']],
  [
    'a pepper that is too short',
    testnets({ API_KEY_PEPPERS: `v2:${pepper};v1:${pepper.slice(2)}` }),
    ['API_KEY_PEPPERS'],
  ],
  ['another environment whose address nobody knows', testnets({ PUBLIC_URL: '' }), ['PUBLIC_URL']],
  [
    'another environment whose admin listener would take anybody on this machine for the operator',
    testnets({ ADMIN_API_KEY: '' }),
    ['ADMIN_API_KEY'],
  ],
  ['an admin key that can be guessed', testnets({ ADMIN_API_KEY: 'admin' }), ['ADMIN_API_KEY']],
  [
    'another environment with a published key and a published account as fill wallet, naming both',
    testnets({ ECDSA_PRIVATE_KEY: publishedKey, FILL_WALLET_ADDRESS: publishedAddress }),
    ['ECDSA_PRIVATE_KEY belongs to a published', 'fillWallet belongs to a published'],
  ],
  [
    'another environment with an address of the local network',
    () => testnets({ FILL_WALLET_ADDRESS: network.deployment.base.tokens.USDC })(),
    ['fillWallet', 'local network'],
  ],
  [
    'another environment whose second source of a price is behind the host of the first, naming both',
    testnets({
      ENVIRONMENT: 'mainnets.prod',
      ETHEREUM_RPC_URL: `https://rpc.example${secretPath}`,
      DEFILLAMA_URL: 'https://RPC.example:8443/prices',
    }),
    ['ETH/USD', 'USDC/USD', 'http defillama', 'one endpoint host'],
  ],
  [
    'prices of Hermes where nobody is named whose signatures count',
    local((environment) => ({ ...environment, HERMES_URL: 'https://hermes.example' })),
    ['HERMES_URL needs guardianSets in configs/quote.local.json'],
  ],
  [
    'another environment whose own address is not set',
    testnets({ TESTNETS_BASE_URL: '' }),
    ['TESTNETS_BASE_URL'],
  ],
]

describe.concurrent('main.ts refuses', () => {
  test.each(refused)('%s', async (_name, environment, named) => {
    const variables = await environment()
    const service = spawnService(variables)
    const started = service.listening().then(
      () => 'it started',
      () => undefined,
    )
    const end = await Promise.race([service.ended, started])
    await service.stop()
    const output = service.output()
    expect(end, output).toEqual({ code: 1, signal: null })
    for (const name of named) expect(output).toContain(name)
    for (const secret of [privateKey, publishedKey, databasePassword, endpointSecret, pepper]) {
      expect(output).not.toContain(secret)
      expect(output).not.toContain(secret.slice(0, 20))
    }
    // What an operator must mend is a sentence, not a stack.
    expect(output).not.toMatch(/^\s+at .*\.ts:\d+/m)
  })
})
