// Goal: a service that must not run refuses to start, names the setting and prints no secret.
// Method: `main.ts` as a process of its own per setting, with real nodes and files. Rules of one setting
// alone, as the forms of a key, are tested where they are written; other environments in `productionStart`.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FaultProxy, startFaultProxy, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { serviceEnvironment } from './fixtures/service.ts'
import { type ConfigCopy, copyConfigs } from './serviceSupport/configCopy.ts'
import { expectRefusedStart, type StartVariables, startSecrets } from './serviceSupport/refusedStart.ts'

const secretPath = `/v2/${startSecrets.endpoint}`
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

type Change = (environment: StartVariables) => StartVariables | Promise<StartVariables>

/** `ENVIRONMENT=local` as it works, changed in one respect. */
function local(change: Change): () => Promise<StartVariables> {
  return async () => change(await serviceEnvironment(network, directory, { LOG_LEVEL: 'info' }))
}

/** Sets variables; an empty one counts as unset. */
function set(overrides: StartVariables): Change {
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

const refused: readonly (readonly [
  string,
  () => StartVariables | Promise<StartVariables>,
  readonly string[],
])[] = [
  [
    'no ENVIRONMENT and a port that is none, naming both',
    local(set({ ENVIRONMENT: '', HTTP_PORT: '70000' })),
    ['ENVIRONMENT', 'HTTP_PORT'],
  ],
  ['no key', local(set({ ECDSA_PRIVATE_KEY_FILE: '' })), ['ECDSA_PRIVATE_KEY']],
  [
    'the key of the allocator',
    local(set({ ALLOCATOR_ECDSA_PRIVATE_KEY: 'x' })),
    ['ALLOCATOR_ECDSA_PRIVATE_KEY'],
  ],
  [
    'a key that is none',
    local(set({ ECDSA_PRIVATE_KEY_FILE: '', ECDSA_PRIVATE_KEY: startSecrets.privateKey.slice(0, -2) })),
    ['ECDSA_PRIVATE_KEY'],
  ],
  [
    'the key of the order signer as evidence key',
    local((environment) => ({
      ...environment,
      EVIDENCE_ECDSA_PRIVATE_KEY_FILE: environment['ECDSA_PRIVATE_KEY_FILE'] ?? '',
    })),
    ['EVIDENCE_ECDSA_PRIVATE_KEY', 'a key of its own'],
  ],
  [
    'the key of the order signer as hub key',
    local((environment) => ({
      ...environment,
      HUB_ECDSA_PRIVATE_KEY_FILE: environment['ECDSA_PRIVATE_KEY_FILE'] ?? '',
    })),
    ['HUB_ECDSA_PRIVATE_KEY', 'a key of its own'],
  ],
  [
    'half an evidence key',
    local(set({ EVIDENCE_SIGNING_MODULE: 'raw-private-key' })),
    ['EVIDENCE_ECDSA_PRIVATE_KEY'],
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
    'O-32: a local node that is no anvil, beside one that is silent',
    local((environment) => ({
      ...environment,
      BASE_RPC_URL: `http://127.0.0.1:${silentPort}${secretPath}`,
      OPTIMISM_RPC_URL: `${foreignNode.url}${secretPath}`,
    })),
    ['httpRpcUrl of optimism', 'is no anvil node'],
  ],
  [
    'a quote file of another environment',
    local(files(['quote.local.json', '"environment": "local"', '"environment": "testnets.prod"'])),
    ['quote.local.json', 'the environment that runs'],
  ],
  [
    'a chain file of another environment',
    local(files(['chains.local.json', '"environment": "local"', '"environment": "mainnets.prod"'])),
    ['chains.local.json', 'the environment that runs'],
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
  [
    'a fill contract that is another contract than that of this release',
    local((environment) =>
      files(
        ['quote.local.json', network.deployment.base.fillContract, network.deployment.base.multicall3],
        ['chains.local.json', network.deployment.base.fillContract, network.deployment.base.multicall3],
      )(environment),
    ),
    ['shows other code at quote: chains.base.fillContract than this release or codeHashes knows'],
  ],
  [
    'prices of Hermes where nobody is named whose signatures count',
    local((environment) => ({ ...environment, HERMES_URL: 'https://hermes.example' })),
    ['HERMES_URL needs guardianSets in configs/quote.local.json'],
  ],
]

describe.concurrent('main.ts refuses', () => {
  test.each(refused)('%s', async (_name, environment, named) =>
    expectRefusedStart(await environment(), named),
  )
})
