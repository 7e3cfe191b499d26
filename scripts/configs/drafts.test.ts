// Goal: an operator starts an environment of his own from the shipped files, knows every value that he has to give, and
// nothing of somebody else's environment is left in it. Attacks: a contract of others that stays in a file and is
// believed; a place that is to be filled in and is taken for a value; a chain alone, whose prices stand on other chains;
// files that were renamed and still name the environment that they come from.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressesIn, unfilledPlaces } from '@causeway/chains'
import { allocatorFileSchema, type Finding, solverFileSchema } from '@causeway/core/config'
import { describe, expect, onTestFinished, test } from 'vitest'
import { draftableChains, draftFiles } from '../../apps/quote-api/src/operate/cli/draftedFiles.ts'
import { parseConfigSet } from './configFiles.ts'
import { findBrokenReferences } from './crossReferences.ts'
import { examination, exampleOf, fillIn, read, services, stopping } from './exampleServices.ts'
import { root } from './writeJson.ts'

const environment = 'own.prod'
const parsed = (name: string) => JSON.parse(read(`configs/${name}.json`))
const shippedOf = (source: string) => ({
  chains: parsed(`chains.${source}`),
  'chains.hub': parsed(`chains.hub.${source}`),
  quote: parsed(`quote.${source}`),
  solver: parsed(`solver.${source}`),
})
const mainnets = shippedOf('mainnets.prod')
const testnets = shippedOf('testnets.prod')
const draft = (keys: readonly string[], shipped = mainnets) => draftFiles(shipped, { environment, keys })

const address = `0x${'ab'.repeat(20)}`
/** No depository pays fills, so that it is another account. */
const fillContract = `0x${'ef'.repeat(20)}`
const account = 'So11111111111111111111111111111111111111112'
const feed = (chain: string) => ({
  chain,
  address,
  description: 'ETH / USD',
  decimals: 8,
  heartbeatSeconds: 60,
  source: 'test',
})

/** As an operator does it: a value in the place of each sentence, of the kind that the sentence asks for. */
function filledIn(json: unknown, keys: readonly string[], name = ''): unknown {
  if (Array.isArray(json)) {
    const isMissing = (one: unknown) => name === 'feeds' && unfilledPlaces(one).length > 0
    return json.map((one) => (isMissing(one) ? feed(keys[0] ?? '') : filledIn(one, keys)))
  }
  if (typeof json === 'object' && json !== null)
    return Object.fromEntries(Object.entries(json).map(([key, one]) => [key, filledIn(one, keys, key)]))
  if (unfilledPlaces(json).length === 0) return json
  const words = String(json)
  if (words.startsWith('fill in by contracts deploy: '))
    return name === 'fillContract' ? fillContract : address
  if (words.includes('number of a block')) return 1
  if (words.includes('the most ')) return '150000000000'
  return words.includes('domain') ? `0x${'cd'.repeat(32)}` : account
}

function subsetsOf(keys: readonly string[]): readonly (readonly string[])[] {
  const [first, ...rest] = keys
  if (first === undefined) return [[]]
  return subsetsOf(rest).flatMap((subset) => [subset, [first, ...subset]])
}

describe.each([
  ['mainnets.prod', mainnets],
  ['testnets.prod', testnets],
] as const)('drafts of %s', (_source, shipped) => {
  const subsets = subsetsOf(draftableChains(shipped)).filter((keys) => keys.length > 0)

  test('O-100: any chains of it make five files that fit once they are filled in', () => {
    expect(subsets.length).toBeGreaterThan(2)
    for (const keys of subsets) {
      const files = draft(keys, shipped)
      const { chains, quote, solver, allocator, ...rest } = JSON.parse(JSON.stringify(filledIn(files, keys)))
      const config = parseConfigSet(environment, { chains, hub: rest['chains.hub'], quote })
      expect([keys, findBrokenReferences(config)]).toEqual([keys, []])
      expect(config.chains.chains.map(({ id }) => id).sort()).toEqual([...keys].sort())
      expect(Object.keys(solverFileSchema.parse(solver).chains).sort()).toEqual([...keys].sort())
      const { depositories } = allocatorFileSchema.parse(allocator)
      expect(depositories.map(({ chain }) => chain).sort()).toEqual([...keys].sort())
      expect(config.hub.auroraEvmChainId).toBe(config.hub.evmChainId)
      for (const one of Object.values(files)) expect(one).toMatchObject({ environment })
    }
  })

  test('O-100: no contract, account or promise of the environment that it is made from is left', () => {
    const { chains, quote } = shipped
    const foreign = new Set(
      [
        ...addressesIn(shipped['chains.hub']),
        ...addressesIn(chains).filter(({ setting }) => !setting.includes('signingCaps')),
        ...addressesIn(quote).filter(({ setting }) => setting.endsWith('.fillContract')),
      ].map((one) => one.address),
    )
    expect(foreign.size).toBeGreaterThan(1)
    for (const keys of subsets) {
      const files = draft(keys, shipped)
      expect(addressesIn(files).filter((one) => foreign.has(one.address))).toEqual([])
      expect(JSON.stringify(files)).not.toMatch(/codeHashes|fillPayers|additionalDepositories|withdrawalKeys/)
    }
  })
})

test('O-100: a price whose feeds stand on no drafted chain asks for one, and says where this release knows one', () => {
  expect(unfilledPlaces(draft(['base', 'optimism']).quote).map(({ path }) => path)).toEqual([
    'chains.base.fillContract',
    'chains.optimism.fillContract',
  ])
  expect(unfilledPlaces(draft(['arbitrum']).quote)).toContainEqual({
    path: expect.stringMatching(/^prices\[\d\]\.feeds\[0\]\.chain$/),
    words: expect.stringMatching(/a feed of ETH\/USD, .* ethereum, base, optimism$/),
  })
})

test('O-100: shares of the inventory keep their ratio and are the whole again', () => {
  const { quote } = JSON.parse(JSON.stringify(draft(['base', 'optimism'])))
  const share = (chain: string, symbol: string) =>
    quote.chains[chain].currencies.find((one: { symbol: string }) => one.symbol === symbol).targetShareBps
  // Among all chains 3,000 and 2,000, and 2,500 and 1,500.
  expect([share('base', 'ETH'), share('optimism', 'ETH')]).toEqual([6_000, 4_000])
  expect([share('base', 'USDC'), share('optimism', 'USDC')]).toEqual([6_250, 3_750])
})

function folderWith(files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-drafts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, json] of Object.entries(files))
    writeFileSync(join(folder, `${name}.${environment}.json`), JSON.stringify(json))
  return folder
}

/** Findings of each doctor with its example filled in, and these files. */
async function doctors(folder: string): Promise<ReadonlyMap<string, readonly Finding[]>> {
  const said = services.map(async (service) => {
    const variables = { ...fillIn(exampleOf(service)), ENVIRONMENT: environment, CONFIG_DIR: folder }
    return [service.name, stopping(await service.examine(variables, examination))] as const
  })
  return new Map(await Promise.all(said))
}

const filesOf: Readonly<Record<string, readonly string[]>> = {
  'quote-api': ['chains', 'chains.hub', 'quote'],
  oracle: ['chains', 'chains.hub'],
  solver: ['chains', 'quote', 'solver'],
  allocator: ['chains', 'chains.hub', 'allocator'],
}

test('O-101: every doctor names what its drafted files still ask for, and nothing else', async () => {
  const files = draft(['base', 'optimism'])
  const said = await doctors(folderWith(files))
  for (const [service, findings] of said) {
    const asked = Object.entries(files)
      .filter(([name]) => filesOf[service]?.includes(name))
      .flatMap(([name, json]) =>
        unfilledPlaces(json).map(({ path, words }) => [`${name}.${environment}.json: ${path}`, words]),
      )
    expect(asked.length, service).toBeGreaterThan(1)
    const told = findings.map(({ setting, seen }) => [setting, seen])
    expect(told.toSorted(), service).toEqual(asked.toSorted())
    for (const [, words] of told) expect(words).toMatch(/^fill in (by hand|by contracts deploy): .{5,}/)
  }
})

test('O-101: drafted files that are filled in stop no service', async () => {
  const keys = ['base', 'optimism']
  const files = JSON.parse(JSON.stringify(filledIn(draft(keys), keys)))
  for (const chain of files.chains.chains) chain.fillContracts = [fillContract]
  for (const [service, findings] of await doctors(folderWith(files)))
    expect([service, ...findings]).toEqual([service])
})

describe('files of another environment that were renamed', () => {
  const renamed = (change: (text: string) => string) => {
    const shipped = readdirSync(join(root, 'configs')).filter((name) => name.endsWith('.mainnets.prod.json'))
    return folderWith(
      Object.fromEntries(
        shipped.map((name) => [
          name.replace('.mainnets.prod.json', ''),
          JSON.parse(change(readFileSync(join(root, 'configs', name), 'utf8'))),
        ]),
      ),
    )
  }

  test('O-101: are told by the one member that still names where they are from', async () => {
    const said = await doctors(renamed((text) => text))
    for (const service of ['quote-api', 'oracle', 'solver']) {
      const findings = said.get(service) ?? []
      // The solver reads the hub for the few chains that need one.
      const expected = [...new Set([...(filesOf[service] ?? []), 'chains.hub'])].map((name) => [
        `${name}.${environment}.json: environment`,
        `${name}.${environment}.json: environment: must be "own.prod", the environment that runs: write "environment": "own.prod" into this file`,
      ])
      expect(findings.map(({ setting, seen }) => [setting, seen]).toSorted()).toEqual(expected.toSorted())
    }
  })

  test('O-101: stop no service once they name their own, and the allocator says what an own hub needs', async () => {
    const said = await doctors(renamed((text) => text.replace('"mainnets.prod"', '"own.prod"')))
    for (const service of ['quote-api', 'oracle', 'solver'])
      expect([service, ...(said.get(service) ?? [])]).toEqual([service])
    const seen = (said.get('allocator') ?? []).map((finding) => finding.seen)
    expect(seen).toEqual([
      'allocator.own.prod.json: does not exist (causeway config draft writes one)',
      expect.stringMatching(
        /^chains\.hub\.own\.prod\.json: auroraEvmChainId: must be 537713, .* write "auroraEvmChainId": 537713/,
      ),
    ])
  })
})
