// Goal: one answer tells its fees in several ways, and the published table says how they hang together. Attack: a
// part that the table puts where no answer has it, so that a reader's sums are wrong.

import { readFileSync } from 'node:fs'
import { createOrderIdHasher, feeParts, feesInRequestsV2, feesInRequestsV3 } from '@causeway/core'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { type TestAppOptions, testApp } from '../../test/fixtures/app.ts'
import {
  chainA,
  chainB,
  e18,
  examplePrices,
  native,
  recipient,
  testSnapshot,
  usdc,
  usdPrice,
  user,
} from '../../test/fixtures/market.ts'
import {
  account,
  marketWithRentChain,
  mint,
  registryWithRentChain,
  rentChain,
} from '../../test/fixtures/rentFamily.ts'
import { linkedKey, testSponsor } from '../../test/fixtures/sponsor.ts'
import { createInventoryViews } from '../pricing/market/inventoryView.ts'

const page = readFileSync(new URL('../../../../docs/reference/fees.md', import.meta.url), 'utf8')
const operationSchema = z.object({ post: z.object({ description: z.string() }) })
const descriptionSchema = z.object({
  paths: z.object({ '/quote': operationSchema, '/quote/v2': operationSchema }),
})

/** Lines of the one table of a text. */
const tableOf = (text: string): readonly string[] => text.split('\n').filter((line) => line.startsWith('|'))

/** In the order of the table. */
const partNames = feeParts.map(({ name }) => name)

/** Members of each way to tell fees, by its name: the rows, which are the parts, that each member adds up. */
type Ways = ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>
let described: readonly string[]
let ways: Ways

beforeAll(async () => {
  const app = await testApp()
  const { body } = await app.inject({ url: '/documentation/json' })
  await app.close()
  const { paths } = descriptionSchema.parse(JSON.parse(body))
  expect(paths['/quote/v2'].post.description).toBe('Fees: as of POST /quote')
  described = tableOf(paths['/quote'].post.description)
  ways = waysOf(described)
})

function waysOf([head = '', , ...rows]: readonly string[]): Ways {
  const cellsOf = (line: string) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', ''))
  const [, ...names] = cellsOf(head)
  return new Map(
    names.map((name, column) => {
      const members = new Map<string, number[]>()
      for (const [row, line] of rows.entries()) {
        const member = cellsOf(line)[column + 1] ?? ''
        if (member !== 'none') members.set(member, [...(members.get(member) ?? []), row])
      }
      return [name, members]
    }),
  )
}

const amountSchema = z.object({ amount: z.string() })
const usdSchema = z.object({ usd: z.string() })
const answerSchema = z.object({
  fees: z.record(z.string(), amountSchema),
  feeSponsorship: z.object({
    quoted: z.object({
      components: z.record(
        z.string(),
        z.object({ total: amountSchema, sponsored: amountSchema, userPays: amountSchema }),
      ),
      sponsoredTotal: amountSchema,
      userPaysTotal: amountSchema,
    }),
  }),
  details: z.object({ expandedPriceImpact: z.record(z.string(), usdSchema) }),
})

const micro = ({ amount }: z.infer<typeof amountSchema>): bigint => BigInt(amount)
/** USDC is worth one dollar here, so that six decimals of a dollar are its units. */
const microUsd = ({ usd }: z.infer<typeof usdSchema>): bigint => BigInt(usd.replace('.', ''))
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((all, one) => all + one, 0n)

const plain = {
  user,
  recipient,
  originChainId: chainA,
  originCurrency: usdc,
  destinationChainId: chainB,
  destinationCurrency: native,
  amount: '100000000',
  tradeType: 'EXACT_INPUT',
  subsidizeFees: true,
  appFees: [{ recipient: `0x${'33'.repeat(20)}`, fee: '50' }],
}
const toExact = { ...plain, tradeType: 'EXACT_OUTPUT', amount: '40000000000000000' }
const toRent = { ...plain, destinationChainId: rentChain, destinationCurrency: mint, recipient: account }

/** A market in which moving inventory costs something, and one with rent. */
const moving: TestAppOptions = { config: { kappaBps: 150 } }
function renting(): TestAppOptions {
  const registry = registryWithRentChain()
  const prices = { ...examplePrices, 'COIN/USD': usdPrice(100n * e18) }
  return {
    registry,
    market: { current: testSnapshot({ prices, chains: marketWithRentChain() }) },
    inventoryView: createInventoryViews(registry),
    orderIdOf: createOrderIdHasher(registry.networkByKey),
    lackOf: async ({ chainId }) => (chainId === rentChain ? { stateBytes: 165 } : {}),
  }
}

/** A real answer, with the parts that it was priced from. */
async function quote(change: { readonly destinationChainId: number }) {
  const sponsor = testSponsor(10n ** 12n)
  const options = { ...(change.destinationChainId === rentChain ? renting() : moving), ...sponsor }
  const app = await testApp(options)
  onTestFinished(() => app.close())
  const headers = { 'x-api-key': linkedKey }
  const response = await app.inject({ method: 'POST', url: '/quote', payload: change, headers })
  expect([response.statusCode, response.body]).toEqual([200, expect.any(String)])
  const { fees, feeSponsorship, details } = answerSchema.parse(response.json())
  const parts = sponsor.records[0]?.quote.priced.split.parts
  if (parts === undefined) throw new Error('nothing was stored')
  const { sponsored, ...impact } = details.expandedPriceImpact
  return { fees, ...feeSponsorship.quoted, sponsored, impact, parts }
}

test.each([
  ['an exact input', plain],
  ['an exact output', toExact],
  [
    'an exact output with gas',
    { ...plain, destinationCurrency: usdc, tradeType: 'EXACT_OUTPUT', topupGas: true },
  ],
  ['rent that is sponsored', { ...toRent, subsidizeRent: true }],
  ['a cap', { ...plain, maxSubsidizationAmount: '70000' }],
  ['one fee that is sponsored', { ...plain, sponsoredFeeComponents: ['swap'] }],
])(
  'Q-9: the ways that an answer tells its fees follow from each other by the table: %s',
  async (_of, change) => {
    const { fees, components, sponsoredTotal, userPaysTotal, impact, sponsored } = await quote(change)
    const totals = new Map(Object.entries(components).map(([name, { total }]) => [name, micro(total)]))
    const told: Readonly<Record<string, ReadonlyMap<string, bigint>>> = {
      fees: new Map(Object.entries(fees).map(([name, fee]) => [name, micro(fee)])),
      feeSponsorship: totals,
      'details.expandedPriceImpact': new Map(
        Object.entries(impact).map(([name, cost]) => [name, -microUsd(cost)]),
      ),
    }
    // Each way has exactly the members of its column, so that none is left out of a sum.
    expect([...totals.keys()].sort()).toEqual([...(ways.get('feeSponsorship')?.keys() ?? [])].sort())
    expect(Object.keys(impact).sort()).toEqual(
      [...(ways.get('details.expandedPriceImpact')?.keys() ?? [])].sort(),
    )
    let followed = 0
    for (const [from, members] of ways) {
      for (const [to, others] of ways) {
        for (const [member, parts] of others) {
          const covering = [...members].filter(([, own]) => own.every((part) => parts.includes(part)))
          const isWhole = covering.flatMap(([, own]) => own).length === parts.length
          const value = told[to]?.get(member)
          if (from === to || !isWhole || value === undefined || told[from] === undefined) continue
          expect([to, member, sum(covering.map(([name]) => told[from]?.get(name) ?? 0n))]).toEqual([
            to,
            member,
            value,
          ])
          followed += 1
        }
      }
    }
    expect(followed).toBeGreaterThan(5)
    // The lines below the table.
    const { relayer, relayerGas, relayerService, app, subsidized } = told['fees']
      ? Object.fromEntries(told['fees'])
      : {}
    expect(relayer).toBe((relayerGas ?? 0n) + (relayerService ?? 0n))
    expect(relayer).toBe(sum([...totals].flatMap(([name, total]) => (name === 'app' ? [] : [total]))))
    expect(subsidized).toBe(sum(Object.values(components).map((share) => micro(share.sponsored))))
    expect([micro(sponsoredTotal), sponsored && microUsd(sponsored)]).toEqual([subsidized, subsidized])
    expect(micro(userPaysTotal)).toBe((relayer ?? 0n) + (app ?? 0n) - (subsidized ?? 0n))
  },
)

test('Q-9: every member of every way is the sum of the parts that the table gives it', async () => {
  const seen = new Set<string>()
  for (const change of [toExact, { ...toRent, subsidizeRent: true }]) {
    const { fees, components, impact, parts } = await quote(change)
    for (const name of partNames) if (parts[name] !== 0n) seen.add(name)
    const expected = (way: string) =>
      Object.fromEntries(
        [...(ways.get(way) ?? [])].map(([member, rows]) => {
          const names = rows.flatMap((row) => partNames[row] ?? [])
          return [member, sum(names.map((name) => parts[name]))]
        }),
      )
    const amounts = (members: Readonly<Record<string, z.infer<typeof amountSchema>>>) =>
      Object.fromEntries(Object.entries(members).map(([name, member]) => [name, micro(member)]))
    expect(amounts(fees)).toMatchObject(expected('fees'))
    const totals = Object.entries(components).map(([name, { total }]) => [name, total] as const)
    expect(amounts(Object.fromEntries(totals))).toEqual(expected('feeSponsorship'))
    const costs = Object.entries(impact).map(([name, cost]) => [name, -microUsd(cost)])
    expect(Object.fromEntries(costs)).toEqual(expected('details.expandedPriceImpact'))
    expect(feesInRequestsV2(parts)).toEqual(expected('data.fees of /requests/v2'))
    expect(feesInRequestsV3(parts)).toEqual(expected('data.fees of /requests/v3'))
  }
  // A surplus is a unit now and then; it is counted with the operator's share everywhere.
  expect([...seen].sort()).toEqual(partNames.filter((name) => name !== 'surplus').sort())
  for (const members of ways.values())
    for (const rows of members.values())
      expect(rows.includes(partNames.indexOf('surplus'))).toBe(rows.includes(partNames.indexOf('platform')))
})

test('Q-9: the page has the table of the description', () => {
  expect(described.length).toBe(2 + 7)
  expect(tableOf(page)).toEqual(described)
})
