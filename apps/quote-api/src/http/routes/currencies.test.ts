// Goal: what clients may ask of the lists of chains and currencies is honoured or without effect, and a table says
// which. Adversary: a page that offers a deposit address for what none can be quoted for.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { quoteFileSchema } from '@causeway/core/config'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { type TestAppOptions, testApp } from '../../../test/fixtures/app.ts'
import {
  chainA,
  chainB,
  marketWithPools,
  native,
  recipient,
  testRegistry,
  usdc,
  user,
  weth,
} from '../../../test/fixtures/market.ts'
import { mint, registryWithRentChain } from '../../../test/fixtures/rentFamily.ts'
import { sdkMembersAt } from '../../../test/fixtures/sdkTypes.ts'
import { createInventoryViews } from '../../pricing/market/inventoryView.ts'
import type { QuotableChain } from '../../pricing/registry.ts'
import { currenciesResponseSchema } from '../wire/currencies.ts'

const fillWallet = `0x${'f1'.repeat(20)}` as const

async function openApp(options: TestAppOptions = {}) {
  const app = await testApp({ fillWallet, market: { current: marketWithPools() }, ...options })
  onTestFinished(() => app.close())
  return app
}

async function find(body: object, options: TestAppOptions = {}) {
  const app = await openApp(options)
  const answer = await app.inject({ method: 'POST', url: '/currencies/v2', payload: { limit: 100, ...body } })
  return currenciesResponseSchema.parse(answer.json())
}

const names = async (body: object, options: TestAppOptions = {}) =>
  (await find(body, options)).map(({ chainId, symbol }) => `${symbol} on ${chainId}`)

/** The registry with one chain changed. */
function changed(change: Partial<QuotableChain['config']>): TestAppOptions {
  const registry = testRegistry()
  const chains = registry.chains.map((chain) =>
    chain.chainId === chainA ? { ...chain, config: { ...chain.config, ...change } } : chain,
  )
  const chainById = new Map(chains.map((chain) => [chain.chainId, chain]))
  return { registry: { ...registry, chains, chainById }, inventoryView: createInventoryViews(registry) }
}

describe('depositAddressOnly', () => {
  const amounts: Readonly<Record<string, string>> = { USDC: '100000000', USDX: '100000000' }

  test.each<[string, TestAppOptions, boolean]>([
    ['as configured', {}, true],
    ['where a chain has no deposit addresses', changed({ depositAddresses: undefined }), true],
    ['where a chain is disabled', changed({ enabled: false }), true],
    ['where nobody empties them', { fillWallet: undefined }, false],
  ])('lists what a deposit address is quoted for, and nothing else: %s', async (_what, options, hasAny) => {
    const app = await openApp(options)
    const quotable: string[] = []
    for (const { chainId, symbol, address } of await find({}, options)) {
      const answer = await app.inject({
        method: 'POST',
        url: '/quote',
        payload: {
          user,
          recipient,
          refundTo: user,
          useDepositAddress: true,
          tradeType: 'EXACT_INPUT',
          originChainId: chainId,
          originCurrency: address,
          amount: amounts[symbol] ?? `1${'0'.repeat(18)}`,
          // On one chain, so that what the other lacks keeps nothing from being quoted.
          destinationChainId: chainId,
          destinationCurrency: address === usdc ? native : usdc,
        },
      })
      if (answer.statusCode === 200) quotable.push(`${symbol} on ${chainId}`)
    }
    expect(await names({ depositAddressOnly: true }, options)).toEqual(quotable)
    expect(quotable.length > 0).toBe(hasAny)
  })

  test('shows what is swapped first as well, and `false` leaves out nothing', async () => {
    const symbols = ['ETH', 'WETH', 'USDC', 'USDX', 'TIDE']
    expect(await names({ depositAddressOnly: true, chainIds: [chainA] })).toEqual(
      symbols.map((symbol) => `${symbol} on ${chainA}`),
    )
    expect(await names({ depositAddressOnly: false })).toEqual(await names({}))
  })
})

describe('includeAllChains', () => {
  test('shows on every chain what chainIds and address name', async () => {
    const named = { chainIds: [chainA], address: weth }
    expect(await names(named)).toEqual([`WETH on ${chainA}`])
    expect(await names({ ...named, includeAllChains: false })).toEqual([`WETH on ${chainA}`])
    expect(await names({ ...named, includeAllChains: true })).toEqual([
      `ETH on ${chainA}`,
      `WETH on ${chainA}`,
      `ETH on ${chainB}`,
      `WETH on ${chainB}`,
    ])
  })

  test('changes nothing where nothing is named, or what is named is nowhere', async () => {
    expect(await names({ chainIds: [chainA], includeAllChains: true })).toEqual(
      await names({ chainIds: [chainA] }),
    )
    expect(await names({ chainIds: [chainA], address: user, includeAllChains: true })).toEqual([])
    expect(await names({ chainIds: [1], address: weth, includeAllChains: true })).toEqual([])
  })

  test('keeps the other filters', async () => {
    const named = { chainIds: [chainA], address: weth, includeAllChains: true }
    expect(await names({ ...named, term: 'weth' })).toEqual([`WETH on ${chainA}`, `WETH on ${chainB}`])
    expect(await find({ ...named, limit: 1 })).toHaveLength(1)
  })
})

test('term finds a currency by its address, in each spelling that the address filter knows', async () => {
  const registry = registryWithRentChain()
  const rent = { registry, inventoryView: createInventoryViews(registry) }
  for (const address of [mint, weth, weth.toUpperCase().replace('0X', '0x')]) {
    const found = await names({ term: address }, rent)
    expect(found).toEqual(await names({ address }, rent))
    expect(found).not.toEqual([])
  }
  expect(await names({ term: mint.toLowerCase() }, rent)).toEqual([])
})

describe('without effect:', () => {
  test.each<[string, object]>([
    ['defaultList', { defaultList: false }],
    ['verified', { verified: false }],
    ['useExternalSearch', { useExternalSearch: true }],
  ])('%s', async (_member, body) => {
    expect(await names(body)).toEqual(await names({}))
  })

  test('includeChains of /chains and sortBy of /currencies/trending', async () => {
    const app = await openApp()
    const get = async (url: string) => (await app.inject({ url })).json()
    expect(await get(`/chains?includeChains=${chainA}`)).toEqual(await get('/chains'))
    expect(await get('/currencies/trending?sortBy=coingecko6hTrending')).toEqual(
      await get('/currencies/trending'),
    )
  })
})

test("the page says of each member of the SDK's look-ups what becomes of it", async () => {
  const text = await readFile(join(import.meta.dirname, '../../../../../docs/reference/clients.md'), 'utf8')
  const lists = [...text.matchAll(/^- `((?:GET|POST) \S+)` (?:honours|gives no effect to) (.*)$/gm)]
  const told = lists.flatMap(([, route = '', members = '']) =>
    [...members.replace(/\(.*?\)/g, '').matchAll(/`(\w+)`/g)].map(([, member]) => `${route} ${member}`),
  )
  const looked = [
    ['POST', '/currencies/v2', ['requestBody', 'content', 'application/json']],
    ['GET', '/currencies/trending', ['parameters', 'query']],
    ['GET', '/chains', ['parameters', 'query']],
    ['GET', '/metrics/usage', ['parameters', 'query']],
  ] as const
  const members = await Promise.all(
    looked.map(async ([method, path, place]) =>
      (await sdkMembersAt([path, method.toLowerCase(), ...place])).map(
        (member) => `${method} ${path} ${member}`,
      ),
    ),
  )
  expect(members.flat().length).toBeGreaterThan(18)
  expect(told.toSorted()).toEqual(members.flat().toSorted())
})

describe('pictures', () => {
  const picture = 'https://pictures.example/usdc.svg'

  test('of chains and currencies are those of the configuration, wherever they are named; others are empty', async () => {
    const registry = testRegistry()
    const [first] = registry.chains
    const known = first?.currencies.get(usdc)
    if (first === undefined || known === undefined) throw new Error('the test configuration has no USDC')
    const pictured = { ...known, logoUri: picture }
    const chain = {
      ...first,
      config: { ...first.config, iconUrl: picture },
      currencies: new Map([...first.currencies, [usdc, pictured]]),
    }
    const chains = registry.chains.map((one) => (one === first ? chain : one))
    const app = await openApp({ registry: { ...registry, chains } })
    const { chains: listed } = (await app.inject({ url: '/chains' })).json()
    expect(listed.map(({ iconUrl }: { iconUrl: string }) => iconUrl)).toEqual([picture, ''])
    const logos = (tokens: readonly { symbol: string; metadata: { logoURI: string } }[]) =>
      tokens.map(({ symbol, metadata }) => `${symbol} ${metadata.logoURI}`)
    expect(logos(listed[0].featuredTokens)).toEqual([`USDC ${picture}`])
    expect(logos(listed[0].erc20Currencies)).toEqual(['WETH ', `USDC ${picture}`, 'USDX ', 'TIDE '])
    expect(logos(listed[1].featuredTokens)).toEqual(['USDC '])
    const found = (
      await app.inject({ method: 'POST', url: '/currencies/v2', payload: { term: 'USDC' } })
    ).json()
    expect(logos(found)).toEqual([`USDC ${picture}`, 'USDC '])
  })

  test.each([
    ['https://user:secret@pictures.example/a.svg', false],
    ['javascript:alert(1)', false],
    ['a.svg', false],
    ['', true],
    [picture, true],
    ['data:image/svg+xml,%3Csvg%2F%3E', true],
  ])('that are no URL, or hold credentials, stop the start: %s', async (url, isGood) => {
    const file = join(import.meta.dirname, '../../../../../configs/quote.local.json')
    const json = z
      .looseObject({
        chains: z.record(z.string(), z.looseObject({ currencies: z.array(z.looseObject({})) })),
      })
      .parse(JSON.parse(await readFile(file, 'utf8')))
    for (const chain of Object.values(json.chains)) {
      chain['iconUrl'] = url
      for (const currency of chain.currencies) currency['logoUri'] = url
    }
    const { error } = quoteFileSchema.safeParse(json)
    // Placeholders for what the environment says are no values either.
    const refused = new Set(error?.issues.map(({ path }) => path.at(-1)))
    expect([refused.has('iconUrl'), refused.has('logoUri')]).toEqual([!isGood, !isGood])
  })
})
