// Goal: outside of `local` a service whose settings are not those of an operator refuses to start, names every setting
// and prints no secret. Method: `main.ts` as a process of its own per setting; its chains and its database stand
// nowhere, as a start that is refused asks neither.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findingCodes, severities } from '@causeway/core/config'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { examineQuoteApi } from '../src/compose/examine.ts'
import { repositoryRoot } from './fixtures/service.ts'
import { expectRefusedStart, type StartVariables, startSecrets } from './serviceSupport/refusedStart.ts'
import { spawnService } from './serviceSupport/serviceProcess.ts'

/** The first account of anvil and hardhat. */
const publishedAddress = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const adminKey = 'admin-5d41402abc4b2a76b9'
const solverKey = 'solver-5d41402abc4b2a76b9'
const findingSchema = z.object({
  code: z.enum(findingCodes),
  severity: z.enum(severities),
  setting: z.string(),
  seen: z.string(),
  fix: z.string(),
})
/** Nothing listens there. */
const silentPort = 9
const localChains = z
  .object({ chains: z.tuple([z.object({ depository: z.string() })], z.unknown()) })
  .parse(JSON.parse(readFileSync(join(repositoryRoot, 'configs', 'chains.local.json'), 'utf8')))

/** Another environment, complete but for what no test machine has: its chains and its database. */
function testnets(overrides: StartVariables): StartVariables {
  return {
    ENVIRONMENT: 'testnets.prod',
    ECDSA_PRIVATE_KEY: startSecrets.privateKey,
    DATABASE_URL: `postgres://causeway:${startSecrets.databasePassword}@127.0.0.1:${silentPort}/causeway`,
    API_KEY_PEPPERS: `v1:${startSecrets.pepper}`,
    PUBLIC_URL: 'https://api.testnets.example',
    ADMIN_API_KEY: adminKey,
    SOLVER_API_KEY: solverKey,
    FILL_WALLET_ADDRESS: `0x${'5f'.repeat(20)}`,
    MAINNETS_BASE_URL: 'https://api.example',
    TESTNETS_BASE_URL: 'https://api.testnets.example',
    ...overrides,
  }
}

const refused: readonly (readonly [string, StartVariables, readonly string[]])[] = [
  [
    'an ENVIRONMENT without files',
    testnets({ ENVIRONMENT: 'staging' }),
    ['ENVIRONMENT is staging', 'chains.staging.json', 'known: local, mainnets.prod, testnets.prod'],
  ],
  ['another environment without a database', testnets({ DATABASE_URL: '' }), ['DATABASE_URL']],
  ['another environment without peppers', testnets({ API_KEY_PEPPERS: '' }), ['API_KEY_PEPPERS']],
  [
    'a pepper that is too short',
    testnets({ API_KEY_PEPPERS: `v2:${startSecrets.pepper};v1:${startSecrets.pepper.slice(2)}` }),
    ['API_KEY_PEPPERS'],
  ],
  ['another environment whose address nobody knows', testnets({ PUBLIC_URL: '' }), ['PUBLIC_URL']],
  [
    'another environment whose admin listener would take anybody on this machine for the operator',
    testnets({ ADMIN_API_KEY: '' }),
    ['ADMIN_API_KEY'],
  ],
  [
    'O-104: another environment without the key of a solver, so that nothing is filled or given back',
    testnets({ SOLVER_API_KEY: '' }),
    ['SOLVER_API_KEY', 'neither filled nor given back'],
  ],
  ['an admin key that can be guessed', testnets({ ADMIN_API_KEY: 'admin' }), ['ADMIN_API_KEY']],
  [
    'another environment with a published key and a published account as fill wallet, naming both',
    testnets({ ECDSA_PRIVATE_KEY: startSecrets.publishedKey, FILL_WALLET_ADDRESS: publishedAddress }),
    ['ECDSA_PRIVATE_KEY belongs to a published', 'fillWallet belongs to a published'],
  ],
  [
    'another environment with an address of the local network',
    testnets({ FILL_WALLET_ADDRESS: localChains.chains[0].depository }),
    ['fillWallet', 'local network'],
  ],
  [
    'another environment whose second source of a price is behind the host of the first, naming both',
    testnets({
      ENVIRONMENT: 'mainnets.prod',
      ETHEREUM_RPC_URL: `https://rpc.example/v2/${startSecrets.endpoint}`,
      DEFILLAMA_URL: 'https://RPC.example:8443/prices',
    }),
    ['ETH/USD', 'USDC/USD', 'http defillama', 'one endpoint host'],
  ],
  [
    'another environment whose own address is not set',
    testnets({ TESTNETS_BASE_URL: '' }),
    ['TESTNETS_BASE_URL'],
  ],
  [
    'another environment in which nobody pays orders, and no chain can be read',
    testnets({ FILL_WALLET_ADDRESS: '' }),
    ['FILL_WALLET_ADDRESS', 'every quote is refused', 'BASE_SEPOLIA_RPC_URL'],
  ],
  [
    'everything that is missing at once, with what makes it',
    { ENVIRONMENT: 'testnets.prod', HTTP_PORT: '3001', LOG_LEVEL: startSecrets.pepper },
    [
      ...['DATABASE_URL', 'API_KEY_PEPPERS', 'ADMIN_API_KEY', 'PUBLIC_URL', 'ECDSA_PRIVATE_KEY', 'LOG_LEVEL'],
      ...['FILL_WALLET_ADDRESS', 'MAINNETS_BASE_URL', 'TESTNETS_BASE_URL', 'BASE_SEPOLIA_RPC_URL'],
      ...['is port 3001, as HTTP_PORT', 'openssl rand -hex 32'],
    ],
  ],
  [
    'O-145: settings that are wrong at once, without a part of one',
    testnets({
      DATABASE_URL: `postgres://u:${startSecrets.databasePassword}@[${startSecrets.endpoint}`,
      BASE_SEPOLIA_RPC_URL: `https://user:${startSecrets.databasePassword}@127.0.0.1:${silentPort}/${startSecrets.endpoint}`,
      ORACLES: `https://o.example/${startSecrets.endpoint}|${startSecrets.pepper}|0x12`,
      API_KEY_PEPPERS: startSecrets.pepper,
      ALLOCATOR_ECDSA_PRIVATE_KEY: startSecrets.privateKey,
      HERMES_API_KEY: startSecrets.endpoint,
    }),
    [
      ...['DATABASE_URL', 'ERR_INVALID_URL', 'ORACLES', 'API_KEY_PEPPERS', 'ALLOCATOR_ECDSA_PRIVATE_KEY'],
      ...['HERMES_API_KEY', 'does nothing without HERMES_URL', '127.0.0.1:9#1 does not answer'],
    ],
  ],
]

/** A folder of an operator's own, with the files of one environment alone. */
function ownFolder(change: (files: { chains: string; quote: string }) => Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-own-configs-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const read = (name: string) =>
    readFileSync(join(repositoryRoot, 'configs', `${name}.testnets.prod.json`), 'utf8').replaceAll(
      '"testnets.prod"',
      '"own.prod"',
    )
  const files = {
    'chains.own.prod.json': read('chains'),
    'chains.hub.own.prod.json': read('chains.hub'),
    'quote.own.prod.json': read('quote'),
    ...change({ chains: read('chains'), quote: read('quote') }),
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

const [{ depository: localDepository }] = localChains.chains
const publicDepository = '0x5feab8db4534f9f7e2669bb260c57a01ad1c12e3'

describe('a CONFIG_DIR of the operator alone', () => {
  const own = (folder: string, more: StartVariables = {}) =>
    testnets({ ENVIRONMENT: 'own.prod', CONFIG_DIR: folder, ...more })
  const emptyLocals = {
    'chains.local.json': '{}',
    'chains.hub.local.json': '{}',
    'quote.local.json': '{}',
  }

  test.each([
    ['without local files', {}],
    ['with empty local files', emptyLocals],
  ])('O-149: %s refuses what only the local network has, and published keys', async (_what, locals) => {
    const folder = ownFolder(({ chains }) => ({
      ...locals,
      'chains.own.prod.json': chains.replaceAll(publicDepository, localDepository),
    }))
    await expectRefusedStart(
      own(folder, { ECDSA_PRIVATE_KEY: startSecrets.publishedKey, FILL_WALLET_ADDRESS: publishedAddress }),
      [
        'ECDSA_PRIVATE_KEY belongs to a published',
        'fillWallet belongs to a published',
        'depository belongs to the local network',
      ],
    )
  })

  test('needs no other file, and names its own environment beside one that is mistyped', async () => {
    const folder = ownFolder(() => ({}))
    const repository = { repositoryRoot, nowMs: () => Date.now(), scope: 'settings' } as const
    const endpoint = { BASE_SEPOLIA_RPC_URL: `https://127.0.0.1:${silentPort}` }
    const found = await examineQuoteApi(own(folder, endpoint), repository)
    expect(found.filter(({ severity }) => severity === 'stops')).toEqual([])
    await expectRefusedStart(own(folder, { ENVIRONMENT: 'own.test' }), [
      'ENVIRONMENT is own.test',
      'known: own.prod',
    ])
  })
})

test('a start that nobody watches tells its findings as one line of JSON', async () => {
  const service = spawnService(testnets({ PUBLIC_URL: '' }))
  expect(await service.ended).toEqual({ code: 1, signal: null })
  const line = service
    .output()
    .split('\n')
    .find((one) => one.startsWith('{"service"'))
  const report = z
    .object({
      service: z.literal('quote-api'),
      startable: z.literal(false),
      findings: z.array(findingSchema),
    })
    .parse(JSON.parse(line ?? ''))
  expect(report.findings[0]).toMatchObject({
    code: 'setting-missing',
    severity: 'stops',
    setting: 'PUBLIC_URL',
  })
  expect(report.findings.every(({ fix }) => fix.length > 0)).toBe(true)
})

describe.concurrent('main.ts refuses', () => {
  test.each(refused)('%s', (_name, variables, named) => expectRefusedStart(variables, named))
})
