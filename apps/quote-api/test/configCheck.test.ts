// Goal: one command compares the shipped configuration with live endpoints and names every value that is wrong, with
// its file, its place, what the chain says and what mends it. Attack: one wrong value per kind, each of which would
// lose money or stop quotes, must be found, and nothing else with it. Method: endpoints that say what the shipped
// files and their sources say, because no public chain can be asked here; one answer is changed per case.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deriveProgramAddresses, token2022Program, tokenProgram } from '@causeway/families/rules'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { loadConfig } from '../src/config/config.ts'
import { runCli } from '../src/operate/cli/runCli.ts'
import { repositoryRoot } from './fixtures/service.ts'
import { configsDirectory } from './serviceSupport/configCopy.ts'
import {
  type ConfiguredChains,
  guardianKeeper,
  guardianSet,
  nowSeconds,
  recordStandIns,
  roundOf,
  type ShownChain,
  type ShownContract,
  startConfiguredChains,
  text,
  word,
} from './serviceSupport/configuredChains.ts'

const environment = 'mainnets.prod'
const outputSchema = z.object({
  checked: z.array(z.string()),
  unread: z.array(z.object({ chain: z.string(), variables: z.array(z.string()) })),
  mistakes: z.array(
    z.object({ file: z.string(), path: z.string(), value: z.string(), said: z.string(), fix: z.string() }),
  ),
})
let directory: string
let configured: ConfiguredChains

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-config-check-'))
  await cp(configsDirectory, directory, { recursive: true })
  const read = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(join(directory, `${name}.${environment}.json`), 'utf8'))
  const chains = await read('chains')
  configured = await startConfiguredChains(await read('quote'), chains)
  const recorded = JSON.stringify(recordStandIns(chains, configured))
  await writeFile(join(directory, `chains.${environment}.json`), recorded)
})
afterAll(async () => {
  await configured?.close()
  await rm(directory, { recursive: true, force: true })
})

async function command(words: readonly string[], keys?: readonly string[]) {
  const lines: string[] = []
  const keep = async (line: string) => void lines.push(line)
  const variables = {
    ENVIRONMENT: environment,
    CONFIG_DIR: directory,
    ECDSA_PRIVATE_KEY: generatePrivateKey(),
    DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
    API_KEY_PEPPERS: `v1:${'9e27b1f0'.repeat(8)}`,
    PUBLIC_URL: 'https://api.example',
    ADMIN_API_KEY: 'admin-5d41402abc4b2a76b9',
    FILL_WALLET_ADDRESS: `0x${'5f'.repeat(20)}`,
    MAINNETS_BASE_URL: 'https://api.example',
    TESTNETS_BASE_URL: 'https://api.testnets.example',
    ...configured.variables(keys),
  }
  const code = await runCli({
    words,
    actor: 'cli:operator',
    signal: new AbortController().signal,
    print: keep,
    complain: keep,
    config: async () => ({ config: loadConfig(variables, repositoryRoot), variables }),
  })
  return { code, output: lines.join('\n') }
}

async function check(keys?: readonly string[]) {
  const { code, output } = await command(['config', 'check', '--json'], keys)
  return { code, ...outputSchema.parse(JSON.parse(output)) }
}

describe('the shipped configuration', () => {
  test('agrees with chains that are as its sources say', async () => {
    const { code, checked, unread, mistakes } = await check()
    expect([code, mistakes, unread]).toEqual([0, [], []])
    expect(checked).toEqual(['ethereum', 'base', 'optimism', 'arbitrum', 'polygon', 'solana'])
  })

  test('is checked as far as there are endpoints, and says what was not', async () => {
    const { code, checked, unread } = await check(['base', 'solana'])
    expect([code, checked]).toEqual([0, ['base', 'solana']])
    expect(unread).toContainEqual({ chain: 'polygon', variables: ['POLYGON_RPC_URL'] })
    const nothing = await command(['config', 'check'], [])
    expect(nothing.code).toBe(1)
    expect(nothing.output).toContain('Not checked: base, without endpoint (BASE_RPC_URL).')
    expect(nothing.output).toContain('nothing was checked')
  })
})

const usdc = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const pool = '0xd0b53d9277642d899df5c87a3966a349a798f224'
const ethFeed = '0x71041dddad3595f9ced3dccfbe3d1f4b0a16bb70'
const fillContract = '0x7852e4af7bef43638a7d73262a4a0f4ac814ec3e'
const depository = '0x4cd00e387622c35bddb9b4c962c136462338bc31'
const programId = '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2'
const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const vault = deriveProgramAddresses(programId).vaultTokenAccount({ mint, tokenProgram })
const elsewhere = `0x${'77'.repeat(20)}`
const quotePath = 'chains.base.currencies.USDC'
const poolPath = 'chains.base.uniswapV3.pools[0]'
const feedPath = 'prices.ETH/USD.feeds[1]'
const uptimeFeed = '0xbcf85224fc0756b9fa45aa7892530b47e10b6433'
const mintPath = `chains.solana.currencies.${mint}`

type Case = readonly [
  what: string,
  chain: string,
  plant: (shown: ShownChain) => void,
  file: string,
  path: string,
]

const contract = ({ contracts }: ShownChain, address: string): ShownContract => {
  const found = contracts.get(address)
  if (found === undefined) throw new Error(`${address} is not configured`)
  return found
}
const says = (address: string, name: string, value: `0x${string}`) => (shown: ShownChain) => {
  const { returns } = contract(shown, address)
  if (returns[name] === undefined) throw new Error(`${name} is not asked`)
  returns[name] = value
}
const set = (change: Partial<ShownChain>) => (shown: ShownChain) => {
  Object.assign(shown, change)
}
const isCode = (address: string, code: `0x${string}`) => (shown: ShownChain) => {
  contract(shown, address).code = code
}

const cases: readonly Case[] = [
  ['an endpoint of another chain', 'base', set({ chainId: 10 }), 'chains', 'base.httpRpcUrl'],
  [
    'endpoints that refuse to tell a block',
    'base',
    set({ refused: 'eth_getBlockByNumber' }),
    'chains',
    'base.httpRpcUrl',
  ],
  ['endpoints that do not answer', 'base', set({ isSilent: true }), 'chains', 'base.httpRpcUrl'],
  [
    'no Multicall3',
    'base',
    isCode('0xca11bde05977b3631167028862be2a173976ca11', '0x'),
    'quote',
    'chains.base.multicall3',
  ],
  ['a token that is not there', 'base', isCode(usdc, '0x'), 'quote', quotePath],
  [
    'a fill contract that is not deployed',
    'base',
    isCode(fillContract, '0x'),
    'quote',
    'chains.base.fillContract',
  ],
  [
    'a fill contract of other code',
    'base',
    isCode(fillContract, '0x6001'),
    'quote',
    'chains.base.fillContract',
  ],
  ['a depository of other code', 'polygon', isCode(depository, '0x6001'), 'chains', 'polygon.depository'],
  ['other decimals of a token', 'base', says(usdc, 'decimals()', word(18)), 'quote', `${quotePath}.decimals`],
  ['another symbol', 'base', says(usdc, 'symbol()', text('USDbC')), 'quote', `${quotePath}.symbol`],
  [
    'a feed of another price',
    'base',
    says(ethFeed, 'description()', text('BTC / USD')),
    'quote',
    `${feedPath}.description`,
  ],
  [
    'F-50: an uptime feed that is another feed',
    'base',
    says(uptimeFeed, 'description()', text('ETH / USD')),
    'quote',
    'chains.base.sequencerUptimeFeed.description',
  ],
  [
    'other decimals of a feed',
    'base',
    says(ethFeed, 'decimals()', word(18)),
    'quote',
    `${feedPath}.decimals`,
  ],
  [
    'a feed that stands still',
    'base',
    says(ethFeed, 'latestRoundData()', roundOf(1n, nowSeconds() - 1_300n)),
    'quote',
    `${feedPath}.heartbeatSeconds`,
  ],
  [
    'a feed without a price',
    'base',
    says(ethFeed, 'latestRoundData()', roundOf(0n, nowSeconds())),
    'quote',
    `${feedPath}.heartbeatSeconds`,
  ],
  [
    'another first token of a pool',
    'base',
    says(pool, 'token0()', word(elsewhere)),
    'quote',
    `${poolPath}.token0`,
  ],
  ['another second token', 'base', says(pool, 'token1()', word(elsewhere)), 'quote', `${poolPath}.token1`],
  ['another fee', 'base', says(pool, 'fee()', word(3_000)), 'quote', `${poolPath}.fee`],
  ['another spacing', 'base', says(pool, 'tickSpacing()', word(60)), 'quote', `${poolPath}.tickSpacing`],
  ["a stranger's pool", 'base', says(pool, 'factory()', word(elsewhere)), 'quote', `${poolPath}.factory`],
  ['another cluster', 'solana', set({ genesisHash: vault }), 'chains', 'solana.additionalData.network'],
  [
    'no depository program',
    'solana',
    ({ accounts }) => void accounts.delete(programId),
    'chains',
    'solana.depository',
  ],
  ['no mint', 'solana', ({ accounts }) => void accounts.delete(mint), 'quote', mintPath],
  [
    'other decimals of a mint',
    'solana',
    ({ accounts }) => void accounts.get(mint)?.data.writeUInt8(9, 44),
    'quote',
    `${mintPath}.decimals`,
  ],
  [
    'the other token program',
    'solana',
    ({ accounts }) => void Object.assign(accounts.get(mint) ?? {}, { owner: token2022Program }),
    'quote',
    `${mintPath}.tokenProgram`,
  ],
  [
    'no account of the depository for a mint',
    'solana',
    ({ accounts }) => void accounts.delete(vault),
    'quote',
    mintPath,
  ],
]

describe('a planted mistake is found, and no other', () => {
  test.each(cases)('%s', async (_what, key, plant, file, path) => {
    const shown = configured.chains.get(key)
    if (shown === undefined) throw new Error(`${key} is not configured`)
    onTestFinished(restore(shown))
    plant(shown)
    const { code, mistakes } = await check()
    expect(mistakes.map((mistake) => [mistake.file, mistake.path])).toEqual([
      [`${file}.${environment}.json`, path],
    ])
    const [{ value = '', said = '', fix = '' } = {}] = mistakes
    expect(said).not.toBe(value)
    for (const told of [value, said, fix]) expect(told).not.toBe('')
    expect(code).toBe(1)
  })

  test('together, all in one run, in words of where, what and how', async () => {
    const [base, solana] = ['base', 'solana'].map((key) => configured.chains.get(key))
    if (base === undefined || solana === undefined) throw new Error('not configured')
    onTestFinished(restore(base))
    onTestFinished(restore(solana))
    says(usdc, 'decimals()', word(18))(base)
    says(ethFeed, 'description()', text('BTC / USD'))(base)
    solana.accounts.delete(programId)
    const { code, output } = await command(['config', 'check'])
    expect(code).toBe(1)
    expect(output).toContain(
      [
        'quote.mainnets.prod.json: chains.base.currencies.USDC.decimals',
        '  configured: 6',
        '  the chain says: 18',
        '  Compare the address with its source (Circle, native USDC on Base); where it is right, write what the chain says.',
      ].join('\n'),
    )
    expect(output).toContain('the chain says: BTC / USD')
    expect(output).toContain('chains.mainnets.prod.json: solana.depository')
    expect(output).toContain('Findings: 3, on ethereum, base, optimism, arbitrum, polygon, solana.')
  })
})

describe('F-112: --against-chain', () => {
  const path = () => join(directory, `quote.${environment}.json`)
  const words = ['config', 'check', '--against-chain', '--json']

  test('writes the day for each chain that agrees, for no other, and changes nothing else', async () => {
    const before = await readFile(path(), 'utf8')
    onTestFinished(() => writeFile(path(), before))
    const base = configured.chains.get('base')
    if (base === undefined) throw new Error('base is not configured')
    onTestFinished(restore(base))
    says(usdc, 'decimals()', word(18))(base)
    const { code } = await command(words, ['base', 'optimism', 'arbitrum'])
    expect(code).toBe(1)
    const after = await readFile(path(), 'utf8')
    expect(after.replaceAll(/,\s*"onChain": "[-0-9]*"/g, '')).toBe(before)
    const { chains } = JSON.parse(after)
    expect(Object.keys(chains).filter((key) => chains[key].seen.onChain !== undefined)).toEqual([
      'optimism',
      'arbitrum',
    ])
  })

  test('names a guardian set that is the current one and is not listed', async () => {
    const before = await readFile(path(), 'utf8')
    const arbitrum = configured.chains.get('arbitrum')
    if (arbitrum === undefined) throw new Error('arbitrum is not configured')
    onTestFinished(restore(arbitrum))
    Object.assign(contract(arbitrum, guardianKeeper).returns, guardianSet(2, [`0x${'77'.repeat(20)}`]))
    const { code, output } = await command(words, ['arbitrum'])
    const { mistakes } = outputSchema.parse(JSON.parse(output))
    expect([code, mistakes]).toMatchObject([
      1,
      [{ path: 'guardianSets[0]', value: 'set 1', said: `set 2: ${elsewhere}` }],
    ])
    expect(await readFile(path(), 'utf8')).toBe(before)
    // Whoever only compares is not asked about it.
    expect((await check(['arbitrum'])).mistakes).toEqual([])
  })
})

/** Returns a function that restores the chain's present state. */
function restore(shown: ShownChain): () => void {
  const { isSilent, refused, chainId, genesisHash } = shown
  const contracts = structuredClone([...shown.contracts])
  const accounts = [...shown.accounts].map(
    ([key, account]) => [key, { ...account, data: Buffer.from(account.data) }] as const,
  )
  return () => {
    Object.assign(shown, { isSilent, refused, chainId, genesisHash })
    shown.contracts.clear()
    for (const [key, value] of contracts) shown.contracts.set(key, value)
    shown.accounts.clear()
    for (const [key, value] of accounts) shown.accounts.set(key, value)
  }
}
