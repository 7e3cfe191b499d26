// Goal: the shipped files say what networks are today, and an operator of a chain that ends is told so. Method: the
// files themselves, and what each service finds in its settings with an endpoint of such a chain.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { examineOwnOracle } from '../../apps/oracle/src/compose/examine.ts'
import { examineQuoteApi } from '../../apps/quote-api/src/compose/examine.ts'
import { examineSolver } from '../../apps/solver/src/compose/examine.ts'
import { parseConfigSet, readRawConfigSet } from './configFiles.ts'
import { root } from './writeJson.ts'

const configs = (environment: string) =>
  parseConfigSet(environment, readRawConfigSet(join(root, 'configs'), environment))
const mainnets = configs('mainnets.prod')

const ending = ['abstract', 'blast', 'lisk', 'metis', 'superseed']
const variables = {
  ENVIRONMENT: 'mainnets.prod',
  ECDSA_PRIVATE_KEY: `0x${'5a'.repeat(32)}`,
  FILL_WALLET_ADDRESS: `0x${'5f'.repeat(20)}`,
  MAINNETS_BASE_URL: 'https://api.example',
  TESTNETS_BASE_URL: 'https://api.testnets.example',
  BASE_RPC_URL: 'https://rpc.example/key-of-base',
}

describe('F-48: a chain that is being wound down', () => {
  test('is each of those that end, and stays listed', () => {
    const marked = mainnets.chains.chains.filter(({ windingDown }) => windingDown !== undefined)
    expect(marked.map(({ id }) => id).sort()).toEqual(ending)
  })

  test('is quoted by no shipped file', () => {
    expect(ending.filter((id) => Object.hasOwn(mainnets.quote.chains, id))).toEqual([])
  })

  test.each([
    ['oracle', examineOwnOracle],
    ['quote-api', examineQuoteApi],
    ['solver', examineSolver],
  ])('is named by the doctor of %s where it has an endpoint, and only there', async (_service, examine) => {
    const endpoints = {
      LISK_RPC_URL: 'https://rpc.example/key-of-lisk',
      METIS_RPC_URL: 'https://rpc.example',
    }
    const found = await examine(
      { ...variables, ...endpoints },
      { repositoryRoot: root, nowMs: () => Date.now(), scope: 'settings' },
    )
    const named = found.filter(({ code }) => code === 'chain-winding-down')
    expect(named.map(({ severity, setting }) => `${severity} ${setting}`).sort()).toEqual([
      'note httpRpcUrl of lisk',
      'note httpRpcUrl of metis',
    ])
    expect(named.find(({ setting }) => setting.endsWith('lisk'))).toMatchObject({
      seen: 'lisk has an endpoint and is being wound down. Its operator ends the chain.',
      fix: expect.stringContaining('withdrawn'),
    })
    expect(JSON.stringify(named)).not.toContain('key-of')
  })
})

describe('F-107: dated facts', () => {
  const environments = ['mainnets.prod', 'testnets.prod']
  const today = new Date().toISOString().slice(0, 10)

  test.each(environments)(
    'every chain and guardian set of %s says when its facts were compared',
    (environment) => {
      const { chains, guardianSets } = configs(environment).quote
      for (const [key, { seen }] of Object.entries(chains)) {
        expect(seen?.source, key).not.toBe('')
        expect(seen?.on ?? '', key).toMatch(/^2026-/)
        expect((seen?.on ?? '9') <= today, key).toBe(true)
      }
      expect(guardianSets.map(({ seen }) => seen)).not.toContain(undefined)
    },
  )

  test('of chains of this machine are none: nobody could say what their network should be', () => {
    expect(Object.values(configs('local').quote.chains).filter(({ seen }) => seen !== undefined)).toEqual([])
  })

  test('F-112: the page of networks says of each what the files say', () => {
    const page = readFileSync(join(root, 'docs/operating/networks.md'), 'utf8')
    const rows = environments.flatMap((environment) => {
      const { chains, guardianSets } = configs(environment).quote
      return [
        ...Object.entries(chains).map(([key, { blockTimeMs, seen }]) => [
          ...[`\`${environment}\``, key, `${blockTimeMs} ms`],
          ...[seen?.finalitySeconds === undefined ? '—' : `${seen.finalitySeconds} s`, seen?.on ?? '—'],
          seen?.onChain ?? '—',
        ]),
        ...guardianSets.map(({ index, seen }) => [
          ...[`\`${environment}\``, `guardian set ${index}`, '—', '—', seen ?? '—', '—'],
        ]),
      ]
    })
    const told = page.split('\n').filter((line) => line.startsWith('| `') && line.includes('.prod` |'))
    expect(told.toSorted()).toEqual(rows.map((cells) => `| ${cells.join(' | ')} |`).toSorted())
  })
})

describe('F-49: feeds and tokens', () => {
  const feedsOf = (key: string) => mainnets.quote.prices.find((price) => price.key === key)?.feeds ?? []

  test('USDC / USD on Ethereum is old after 82,800 seconds', () => {
    expect(feedsOf('USDC/USD').find(({ chain }) => chain === 'ethereum')?.heartbeatSeconds).toBe(82_800)
  })

  test('SOL / USD is not read where it may be 2 % off, and still from three chains', () => {
    expect(feedsOf('SOL/USD').map(({ chain }) => chain)).toEqual(['optimism', 'base', 'arbitrum'])
  })

  test('F-50: every shipped rollup on which feeds are read names the uptime feed of its sequencer', () => {
    const named = Object.entries(mainnets.quote.chains).flatMap(([key, { sequencerUptimeFeed }]) =>
      sequencerUptimeFeed === undefined ? [] : [[key, sequencerUptimeFeed]],
    )
    expect(Object.fromEntries(named)).toEqual({
      base: '0xbcf85224fc0756b9fa45aa7892530b47e10b6433',
      optimism: '0x371ead81c9102c9bf4874a9075ffff170f2ee389',
      arbitrum: '0xfdb631f5ee196f0ed6faa767959853a9f217697d',
    })
    const rollups = Object.entries(mainnets.quote.chains).filter(([, { feeModel }]) =>
      ['op-stack', 'arbitrum'].includes(feeModel.kind),
    )
    const read = new Set(mainnets.quote.prices.flatMap(({ feeds }) => feeds.map(({ chain }) => chain)))
    expect(
      rollups
        .map(([key]) => key)
        .filter((key) => read.has(key))
        .sort(),
    ).toEqual(Object.keys(Object.fromEntries(named)).sort())
  })

  test.each(['sepolia', 'base-sepolia'])('USDC on %s has the name that it signs with', (key) => {
    const { currencies = [] } = configs('testnets.prod').quote.chains[key] ?? {}
    expect(currencies.find(({ symbol }) => symbol === 'USDC')?.name).toBe('USDC')
  })
})
