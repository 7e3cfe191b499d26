// Goal: a fee that is added to the list compiles nowhere until all its rules are decided, and everywhere once
// they are; then price, answer, row, histories, hold and policy agree about it. Attack: the fee that is listed and
// forgotten somewhere, for which an answer says "full" while the user pays it. Method: the compiler, and the
// service itself, over these sources with a fee more in them.
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RequestRecord } from '../src/requests/history/requestHistory.ts'
import { type Change, loadChanged, problemsIn } from './feeSupport/changedSources.ts'
import { chainA, chainB, native, recipient, usdc, user } from './fixtures/market.ts'
import { linkedKey } from './fixtures/sponsor.ts'

const rules = 'packages/core/src/fees/feeRules.ts'
const solve = 'apps/quote-api/src/pricing/fees/solve.ts'

const namesFees =
  /\b(noFees|sponsor(able|ed|Rule)|fees?(Split|Terms|Parts?|By|In[A-Z]|Totals?|Components|Rule))/i

const decisions = {
  parts: `[{ name: 'tip', about: 'A tip', total: 'relayerService', requestV2: 'price' }]`,
  sponsor: `{ selectedBy: 'subsidizeFees', ceiling: 'sponsorGas' }`,
  impact: `'relay'`,
  requestV3: `'platform'`,
  stored: `'unlessZero'`,
}

const listed = [`'app', 'rent'] as const`, `'app', 'rent', 'tip'] as const`] as const

function decided(without?: keyof typeof decisions): Change {
  const members = Object.entries(decisions).filter(([name]) => name !== without)
  const rule = `tip: { ${members.map(([name, value]) => `${name}: ${value}`).join(', ')} },`
  return { [rules]: [listed, ['} as const satisfies', `${rule}\n} as const satisfies`]] }
}

/** Three basis points of what the solver receives, rounded up. */
const priced: Change = {
  ...decided(),
  [solve]: [['rent: terms.rent,', 'rent: terms.rent,\n    tip: bpsUp(amountIn, 3n),']],
}
const tipOf = (received: bigint) => (received * 3n + 9_999n) / 10_000n

/** Shipped sources that name anything of fees: those that could be wrong about one. */
const shipped = ['packages/core/src/fees', 'packages/ledger/src', 'apps/quote-api/src'].flatMap((folder) =>
  readdirSync(new URL(`../../../${folder}`, import.meta.url), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => `${folder}/${path}`)
    .filter((path) => namesFees.test(readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8'))),
)

const mustName = [
  solve,
  'packages/ledger/src/policies/policySchema.ts',
  'apps/quote-api/src/pricing/solverRoute/ceilings.ts',
  'apps/quote-api/src/pricing/sponsorship/allocateSubsidy.ts',
  'apps/quote-api/src/http/wire/feeSponsorship.ts',
  'apps/quote-api/src/requests/orders/storedFees.ts',
  'apps/quote-api/src/requests/draft/createSponsoredQuote.ts',
]

describe('a fee that is added to the list', () => {
  test('does not compile without its rules', () => {
    expect(problemsIn([rules], {})).toEqual([])
    expect(problemsIn([rules], { [rules]: [listed] }).join()).toMatch(/feeRules.*Property 'tip' is missing/)
  })

  test.each(['parts', 'sponsor', 'impact', 'requestV3', 'stored'] as const)(
    'does not compile while its rule leaves out: %s',
    (name) => {
      expect(problemsIn([rules], decided(name)).join()).toMatch(new RegExp(`Property '${name}' is missing`))
    },
  )

  test('then lacks its amount where fees are priced, and nowhere else', () => {
    expect(shipped).toEqual(expect.arrayContaining(mustName))
    const problems = problemsIn(shipped, decided())
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(/^apps\/quote-api\/src\/pricing\/fees\/solve\.ts: Property 'tip' is missing/)
  })

  test('compiles everywhere once it is priced', () => {
    expect(problemsIn(shipped, priced)).toEqual([])
  })
})

describe('a request with the added fee', () => {
  let changed: Awaited<ReturnType<typeof loadModules>>

  beforeAll(async () => {
    changed = await loadModules(priced)
  })
  afterAll(() => changed.close())

  const asked = fc.record({
    destinationCurrency: fc.constantFrom(usdc, native),
    tradeType: fc.constantFrom('EXACT_INPUT', 'EXACT_OUTPUT', 'EXPECTED_OUTPUT'),
    microUsd: fc.bigInt({ min: 5_000_000n, max: 400_000_000n }),
    appBps: fc.constantFrom(0n, 50n),
    topupGas: fc.boolean(),
    capMicroUsd: fc.option(fc.bigInt({ min: 0n, max: 250_000n }), { nil: undefined }),
    components: fc.option(
      fc.uniqueArray(fc.constantFrom('execution', 'swap', 'relay', 'app', 'rent', 'tip'), { minLength: 1 }),
      { nil: undefined },
    ),
  })

  test('agrees about who pays it in its answer, its row, its histories and its hold', async () => {
    const seen = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(asked, async (request) => {
        const { answer, hold, rows, histories } = await changed.quote(request)
        const { fees, feeSponsorship, details } = answer
        const { components, selectedComponents, sponsoredTotal, userPaysTotal } = feeSponsorship.quoted
        const shares = Object.values<Share>(components)
        const relayer = amountOf(fees.relayer)
        const app = amountOf(fees.app)
        const subsidized = amountOf(fees.subsidized)
        const received = amountOf(details.route.origin.outputCurrency)

        expect(Object.keys(components)).toEqual(['execution', 'swap', 'relay', 'app', 'rent', 'tip'])
        expect(amountOf(components.tip.total)).toBe(tipOf(received))
        expect(amountOf(fees.relayerGas) + amountOf(fees.relayerService)).toBe(relayer)
        expect(sum(shares.map(({ total }) => total))).toBe(relayer + app)
        expect(sum(shares.map(({ sponsored }) => sponsored))).toBe(subsidized)
        expect(amountOf(sponsoredTotal)).toBe(subsidized)
        expect(sum(shares.map(({ userPays }) => userPays))).toBe(amountOf(userPaysTotal))
        for (const { total, sponsored, userPays } of shares) {
          expect(amountOf(sponsored) + amountOf(userPays)).toBe(amountOf(total))
        }
        if (request.destinationCurrency === usdc) {
          expect(received).toBe(amountOf(details.currencyOut) + relayer + app - subsidized)
        }
        // The user keeps the rounding rest of an exact output, a few units at most.
        if (feeSponsorship.status === 'full') expect(amountOf(userPaysTotal) - app).toBeLessThan(10n)
        expect(components.tip.selected).toBe(selectedComponents.includes('tip'))

        const { sponsored: impactSponsored, ...impact } = details.expandedPriceImpact
        expect(microUsdOf(impactSponsored)).toBe(subsidized)
        expect(Object.values<Usd>(impact).reduce((all, cost) => all + microUsdOf(cost), 0n)).toBe(
          -relayer - app,
        )

        expect(hold?.amountMicroUsd ?? 0n).toBe(subsidized)
        const paid = Object.keys(components).filter((name) => amountOf(components[name].sponsored) > 0n)
        expect([...(hold?.components ?? [])].sort()).toEqual(paid.sort())

        expect(rows.quoted.tip).toBe(components.tip.total.amount)
        expect(rows.sponsorship.sponsored.tip).toBe(components.tip.sponsored.amount)
        const { v2, v3 } = histories
        expect(v2.data.feeSponsorship).toEqual(feeSponsorship)
        const inOwnWords = JSON.stringify(v3.data.feeSponsorship).replaceAll('"platform"', '"relay"')
        expect(JSON.parse(inOwnWords)).toEqual(feeSponsorship)
        expect(Object.values(v2.data.fees).reduce((all, fee) => all + BigInt(fee), 0n)).toBe(relayer)
        const { sponsored: v3Sponsored, ...v3Fees } = v3.data.fees.quoted
        expect(BigInt(v3Sponsored.amount)).toBe(subsidized)
        expect(sum(Object.values(v3Fees))).toBe(relayer + app)

        seen.set(feeSponsorship.status, (seen.get(feeSponsorship.status) ?? 0) + 1)
        if (amountOf(components.tip.sponsored) > 0n) seen.set('tip', (seen.get('tip') ?? 0) + 1)
      }),
      { numRuns: 150, endOnFailure: true },
    )
    // The rarest is one in fifteen: a number near that would fail now and then by chance.
    expect([...seen.keys()].sort()).toEqual(['full', 'none', 'partial', 'tip'])
  })

  test('is one that a policy can name', () => {
    expect(changed.parsePolicyRules({ components: ['tip'] })).toMatchObject({ components: ['tip'] })
  })

  test('reads rows that are older than the fee as rows without it', async () => {
    const { rows } = await changed.quote({
      destinationCurrency: usdc,
      tradeType: 'EXACT_INPUT',
      microUsd: 10n ** 8n,
    })
    const { tip, relayerService, ...older } = rows.quoted
    const before = { ...older, relayerService: (BigInt(relayerService) - BigInt(tip)).toString() }
    const { fees } = changed.quotedAmountsSchema.parse(before)
    expect(fees).toMatchObject({ tip: 0n, platform: 0n, gas: BigInt(older.relayerGas) })
  })
})

type Amount = { readonly amount: string }
type Usd = { readonly usd: string }
type Share = { readonly total: Amount; readonly sponsored: Amount; readonly userPays: Amount }

const amountOf = ({ amount }: Amount): bigint => BigInt(amount)
const microUsdOf = ({ usd }: Usd): bigint => BigInt(usd.replace('.', ''))
const sum = (amounts: readonly Amount[]): bigint => amounts.reduce((all, one) => all + amountOf(one), 0n)

type Asked = {
  readonly destinationCurrency: string
  readonly tradeType: string
  readonly microUsd: bigint
  readonly appBps?: bigint
  readonly topupGas?: boolean
  readonly capMicroUsd?: bigint | undefined
  readonly components?: readonly string[] | undefined
}

/** The routes over a settable market, and what is kept and told of a request later. */
async function loadModules(change: Change) {
  const { load, close } = await loadChanged(change)
  const quoteApi = 'apps/quote-api'
  const [fixture, sponsors, v2, v3, orders, sponsorships, quoted, policies] = await Promise.all([
    load<typeof import('./fixtures/app.ts')>(`${quoteApi}/test/fixtures/app.ts`),
    load<typeof import('./fixtures/sponsor.ts')>(`${quoteApi}/test/fixtures/sponsor.ts`),
    load<typeof import('../src/http/wire/requestsV2.ts')>(`${quoteApi}/src/http/wire/requestsV2.ts`),
    load<typeof import('../src/http/wire/requestsV3.ts')>(`${quoteApi}/src/http/wire/requestsV3.ts`),
    load<typeof import('../src/requests/orders/storedOrder.ts')>(
      `${quoteApi}/src/requests/orders/storedOrder.ts`,
    ),
    load<typeof import('../src/requests/orders/sponsoredOrderStore.ts')>(
      `${quoteApi}/src/requests/orders/sponsoredOrderStore.ts`,
    ),
    load<typeof import('../src/requests/history/quotedAmounts.ts')>(
      `${quoteApi}/src/requests/history/quotedAmounts.ts`,
    ),
    load<{ parsePolicyRules: (rules: unknown) => unknown }>('packages/ledger/src/policies/policySchema.ts'),
  ])
  const market = await load<typeof import('./fixtures/market.ts')>(`${quoteApi}/test/fixtures/market.ts`)
  const config = { majorBps: 10, kappaBps: 20 }
  const registry = market.testRegistry(config)

  async function quote(request: Asked) {
    const sponsor = sponsors.testSponsor(10n ** 12n)
    const app = await fixture.testApp({ config, ...sponsor })
    const isEthOut = request.destinationCurrency === native && request.tradeType !== 'EXACT_INPUT'
    const response = await app.inject({
      method: 'POST',
      url: '/quote',
      headers: { 'x-api-key': linkedKey },
      payload: {
        user,
        recipient,
        originChainId: chainA,
        destinationChainId: chainB,
        originCurrency: usdc,
        destinationCurrency: request.destinationCurrency,
        // At 2,500 USD.
        amount: (isEthOut ? request.microUsd * 400_000_000n : request.microUsd).toString(),
        tradeType: request.tradeType,
        topupGas: request.topupGas === true && request.destinationCurrency !== native,
        subsidizeFees: true,
        appFees: request.appBps ? [{ recipient, fee: request.appBps.toString() }] : [],
        maxSubsidizationAmount: request.capMicroUsd?.toString(),
        sponsoredFeeComponents: request.components,
      },
    })
    await app.close()
    expect(response.statusCode, response.body).toBe(200)
    const [record] = sponsor.records
    if (record?.quote.sponsorship === undefined) throw new Error('a sponsored quote was not stored')
    const order = orders.toStoredOrder(record)
    const sponsorship = sponsorships.toStoredSponsorship(record.quote.sponsorship)
    const rows = { quoted: JSON.parse(order.quoted), sponsorship: JSON.parse(sponsorship.quoted) }
    const kept: RequestRecord = {
      ...order,
      status: 'waiting',
      failReason: undefined,
      refundFailReason: undefined,
      depositAddress: undefined,
      supersededByRequestId: undefined,
      quoted: quoted.quotedAmountsSchema.parse(rows.quoted),
      order: undefined,
      sponsorship: {
        sponsor: sponsorship.sponsor,
        quoted: quoted.quotedSponsorshipSchema.parse(rows.sponsorship),
        debitMicroUsd: sponsorship.debitMicroUsd,
        debitedMicroUsd: undefined,
        isHeldAtDeposit: false,
      },
      transactions: [],
      createdAtMs: 0,
      updatedAtMs: 0,
    }
    const sponsorCurrency = { chainId: 8_453, currency: '0x' }
    const view = { includeOrderData: false, sponsorCurrency, apiKeyId: order.apiKeyId }
    const histories = {
      v2: v2.requestToV2(registry, kept, view),
      v3: v3.requestToV3(registry, kept, view),
    }
    return { answer: response.json(), hold: sponsor.holds[0], rows, histories }
  }

  return {
    close,
    quote,
    quotedAmountsSchema: quoted.quotedAmountsSchema,
    parsePolicyRules: policies.parsePolicyRules,
  }
}
