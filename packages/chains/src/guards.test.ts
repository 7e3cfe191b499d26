import { readdirSync, readFileSync } from 'node:fs'
import { publishedDevelopmentAddresses } from '@causeway/core/config'
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { loadChains } from './config/chainRegistry.ts'
import { localNetworkAddresses, rehearsalAddresses } from './config/localAddresses.ts'
import {
  addressesIn,
  chainNotes,
  checkForeignAddresses,
  checkLocalEndpoints,
  localAddressesOf,
} from './guards.ts'

function registryOf(environment: string, urls: readonly string[], more: object = {}, moreOfHub: object = {}) {
  const chain = { id: 'base', vmType: 'ethereum-vm', httpRpcUrl: urls, hubChainId: '8453', ...more }
  const hub = {
    environment,
    id: 'relay',
    evmChainId: 1,
    oracleAddress: `0x${'1'.repeat(40)}`,
    oracleVersion: '2',
  }
  return loadChains({
    environment,
    chainsJson: { environment, chains: [chain] },
    hubJson: { ...hub, httpRpcUrl: urls.at(-1), ...moreOfHub },
    variables: {},
  })
}

test.each([true, false])('P-45: traceInternalTransfers (%s) is accepted, and said to do nothing', (value) => {
  const noted = (more: object) => chainNotes(registryOf('local', ['http://127.0.0.1:1'], more))
  expect(noted({})).toEqual([])
  expect(noted({ additionalData: { traceInternalTransfers: value } })).toMatchObject([
    { code: 'setting-without-effect', severity: 'note', setting: 'traceInternalTransfers of base' },
  ])
})

describe('checkLocalEndpoints', () => {
  test.each([
    'http://127.0.0.1:8545',
    'http://localhost:8545/x',
    'http://[::1]:1',
    'http://127.8.9.1',
    'http://2130706433/',
  ])('accepts %s in local', (url) => {
    expect(checkLocalEndpoints(registryOf('local', [url]))).toEqual([])
  })

  test.each([
    'https://mainnet.base.example/canary',
    'http://10.0.0.1',
    'http://127.0.0.1.canary.example',
    'http://localhost.canary.example',
    'http://[::ffff:8.8.8.8]',
    'http://0.0.0.0:8545',
  ])('refuses %s in local, naming chain and hub but not the URL', (url) => {
    const problems = checkLocalEndpoints(registryOf('local', ['http://127.0.0.1:1', url]))
    expect(problems).toEqual([
      'httpRpcUrl of base: endpoint 2 is not on this machine, as ENVIRONMENT=local demands',
      'httpRpcUrl of hub relay: endpoint 1 is not on this machine, as ENVIRONMENT=local demands',
    ])
  })

  test('O-150: holds a rehearsal of production to this machine as well', () => {
    expect(checkLocalEndpoints(registryOf('rehearsal', ['http://127.0.0.1:1']))).toEqual([])
    expect(checkLocalEndpoints(registryOf('rehearsal', ['https://mainnet.base.example']))).toEqual([
      'httpRpcUrl of base: endpoint 1 is not on this machine, as ENVIRONMENT=rehearsal demands',
      'httpRpcUrl of hub relay: endpoint 1 is not on this machine, as ENVIRONMENT=rehearsal demands',
    ])
  })

  test('O-2: names the setting of an allocator that stands elsewhere', () => {
    const here = 'http://127.0.0.1:1'
    const hub = { auroraEvmChainId: 2, auroraHttpRpcUrl: 'https://allocator.example' }
    expect(checkLocalEndpoints(registryOf('local', [here], {}, hub))).toEqual([
      'auroraHttpRpcUrl of hub relay: endpoint 1 is not on this machine, as ENVIRONMENT=local demands',
    ])
  })

  test('refuses services elsewhere in local, each by its setting', () => {
    const additionalData = {
      esploraCompatibleApiUrl: 'http://127.0.0.1:3002/api,https://canary.example/api',
      proxyApiUrl: 'https://canary.example',
      explorerApiUrl: 'http://localhost:1',
    }
    const bitcoin = { id: 'bitcoin', vmType: 'bitcoin-vm', hubChainId: '7', additionalData }
    const chainsJson = { environment: 'local', chains: [bitcoin] }
    expect(checkLocalEndpoints(loadChains({ environment: 'local', chainsJson, variables: {} }))).toEqual([
      'esploraCompatibleApiUrl of bitcoin is not on this machine, as ENVIRONMENT=local demands',
      'proxyApiUrl of bitcoin is not on this machine, as ENVIRONMENT=local demands',
    ])
  })

  test('leaves other environments alone', () => {
    expect(checkLocalEndpoints(registryOf('mainnets.prod', ['https://rpc.example']))).toEqual([])
  })
})

describe('published development addresses', () => {
  const mnemonics = [
    'test test test test test test test test test test test junk',
    'myth like bonus scare over problem client lizard pioneer submit female collect',
    'candy maple cake sugar pudding cream honey rich smooth crumble sweet treat',
  ]

  test('are those of the mnemonics and keys that everybody knows', () => {
    const derived = [
      ...mnemonics.flatMap((mnemonic) =>
        Array.from(
          { length: 20 },
          (_, addressIndex) => mnemonicToAccount(mnemonic, { addressIndex }).address,
        ),
      ),
      ...Array.from(
        { length: 20 },
        (_, index) => privateKeyToAccount(`0x${(index + 1).toString(16).padStart(64, '0')}`).address,
      ),
      privateKeyToAccount('0xb71c71a67e1177ad4e901695e1b4b9ee17ae16c6668d313eac2f96dbcda3f291').address,
    ]
    expect([...publishedDevelopmentAddresses]).toEqual(derived.map((address) => address.toLowerCase()))
  })
})

describe('checkForeignAddresses', () => {
  const anvilFirst = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
  const [localToken = ''] = localNetworkAddresses
  const addresses = [
    { setting: 'ECDSA_PRIVATE_KEY', address: anvilFirst },
    { setting: 'chains.base.depository', address: localToken.toUpperCase().replace('0X', '0x') },
    { setting: 'FILL_WALLET_ADDRESS', address: `0x${'cd'.repeat(20)}` },
  ]

  test('refuses published keys and local contracts outside local, by setting', () => {
    expect(checkForeignAddresses({ environment: 'testnets.prod', addresses })).toEqual([
      'ECDSA_PRIVATE_KEY belongs to a published development key',
      'chains.base.depository belongs to the local network',
    ])
  })

  test('O-150: refuses what only a rehearsal has in every other environment, and holds the rehearsal to the rest', () => {
    const [rehearsed = ''] = rehearsalAddresses
    const own = { setting: 'quote.chains.base.currencies.USDC', address: rehearsed }
    const refusedBy = (environment: string) => checkForeignAddresses({ environment, addresses: [own] })
    for (const environment of ['mainnets.prod', 'testnets.prod', 'own.prod'])
      expect(refusedBy(environment)).toEqual([`${own.setting} belongs to a rehearsal`])
    expect(refusedBy('rehearsal')).toEqual([])
    expect(checkForeignAddresses({ environment: 'rehearsal', addresses })).toEqual([
      'ECDSA_PRIVATE_KEY belongs to a published development key',
      'chains.base.depository belongs to the local network',
    ])
    expect([...rehearsalAddresses].filter((address) => localNetworkAddresses.has(address))).toEqual([])
  })

  test('leaves local alone', () => {
    expect(checkForeignAddresses({ environment: 'local', addresses })).toEqual([])
  })

  test('does not count places that public chains share with local ones', () => {
    const shared = [
      '0xcA11bde05977b3631167028862bE2a173976CA11',
      `0x${'0'.repeat(40)}`,
      `0x42${'0'.repeat(37)}f`,
    ]
    expect(localAddressesOf([shared])).toEqual(new Set())
  })
})

describe('the configuration files', () => {
  const directory = new URL('../../../configs/', import.meta.url)
  const files = readdirSync(directory)
    .filter((name) => name.endsWith('.json'))
    .map((name): { name: string; json: unknown } => ({
      name,
      json: JSON.parse(readFileSync(new URL(name, directory), 'utf8')),
    }))
  const locals = files.filter(({ name }) => name.endsWith('.local.json'))
  const localAddresses = localAddressesOf(locals.map(({ json }) => json))

  test('O-149: of local hold addresses that nothing else may use, and that this release knows without them', () => {
    expect(localAddresses.size).toBeGreaterThan(10)
    // Written anew by scripts/writeLocalConfigs.ts.
    expect([...localNetworkAddresses]).toEqual([...localAddresses].sort())
    const addresses = [...localAddresses].map((address) => ({ setting: 'x', address }))
    const problems = checkForeignAddresses({ environment: 'mainnets.prod', addresses })
    expect(problems).toHaveLength(localAddresses.size)
  })

  test('of the public environments hold none of them', () => {
    const addresses = files
      .filter(({ name }) => !name.endsWith('.local.json'))
      .flatMap(({ name, json }) => addressesIn(json, name))
    expect(addresses.length).toBeGreaterThan(50)
    expect(checkForeignAddresses({ environment: 'mainnets.prod', addresses })).toEqual([])
  })
})
