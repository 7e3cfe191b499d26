// Goal: with Solana on either side an accepted price satisfies the sum of rule Q-150 to the last unit,
// sponsored or not, and charges rent exactly where the recipient lacks an account. Method: random prices,
// decimals, fees of the cluster, lacks, amounts, trade types, app fees and sponsors' terms; routes of coins
// and tokens, both ways.

import { convertUp, DomainError, partsBoughtBy, sponsoredWords } from '@causeway/core'
import { quoteFileSchema } from '@causeway/core/config'
import { mainNetwork } from '@causeway/core/encodings'
import { type AccountLack, SolanaFees } from '@causeway/families/rules'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { leastSeen } from '../../test/fixtures/leastSeen.ts'
import {
  chainA,
  e18,
  openedRewards,
  testChainMarket,
  testChains,
  testSnapshot,
  usdPrice,
  user,
} from '../../test/fixtures/market.ts'
import {
  checkPriced,
  type RandomMarket,
  randomMarket,
  randomRequest,
  steppingClock,
  toRequest,
} from '../../test/fixtures/randomMarkets.ts'
import { createInventoryViews } from './market/inventoryView.ts'
import type { PricedRoute } from './pricedRoute.ts'
import { priceRequest, rewardsFor } from './priceRequest.ts'
import { createRegistry } from './registry.ts'
import { type QuoteRequest, tradeTypes } from './request.ts'
import { subsidyRule } from './sponsorship/subsidyRule.ts'

const solanaChain = 792_703_809
const sol = '1'.repeat(32)
const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const fillWallet = 'CktRuQ2mttgRGkXJtyksdKHjUdc2C4TgDzyB98oEzy8'
const account = 'AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9'
const depository = '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2'
const native = `0x${'0'.repeat(40)}`
const held = `0x${'a1'.padStart(40, '0')}`

const randomFees = fc.record({
  lamportsPerSignature: fc.bigInt({ min: 1n, max: 100_000n }),
  microLamportsPerUnit: fc.bigInt({ min: 0n, max: 10_000_000n }),
  rentLamportsPerByte: fc.bigInt({ min: 1n, max: 100_000n }),
})
const randomLack: fc.Arbitrary<AccountLack> = fc.constantFrom(
  {},
  { stateBytes: 165 },
  { stateBytes: 170 },
  { isAbsent: true },
)
const randomWay = fc.record({
  goesTo: fc.boolean(),
  paysCoin: fc.boolean(),
  getsCoin: fc.boolean(),
  mintDecimals: fc.integer({ min: 0, max: 12 }),
  solUsd: fc.bigInt({ min: e18, max: 10_000n * e18 }),
})
type Way = typeof randomWay extends fc.Arbitrary<infer T> ? T : never

const randomTerms = fc.option(
  fc.record({
    apiKeyId: fc.constant('key'),
    sponsor: fc.constant(`0x${'5'.repeat(40)}` as const),
    selected: fc
      .subarray([...sponsoredWords], { minLength: 1 })
      .map((chosen) => new Set(chosen.flatMap(partsBoughtBy))),
    capMicroUsd: fc.option(fc.bigInt({ min: 0n, max: 10n ** 7n }), { nil: undefined, freq: 3 }),
    allOrNothing: fc.boolean(),
  }),
  { nil: undefined },
)
const usdc = { asset: { id: 'usdc', class: 'stable', priceKey: 'USDC/USD' }, usdX18: e18 } as const

function registryOf(m: RandomMarket, way: Way) {
  const inventory = { kappaBps: 20, rewardCapBps: 10, maxSkewBps: 100, reserveBps: 500 }
  const asset = (id: string) => ({ id, class: 'major', priceKey: `${id.toUpperCase()}/USD`, inventory })
  const currency = (address: string, decimals: number, id: string, targetShareBps: number) => ({
    address,
    symbol: id.toUpperCase(),
    name: id,
    decimals,
    asset: id,
    solver: true,
    source: 'test',
    targetShareBps,
  })
  const chain = (chainId: number, name: string) => ({
    chainId,
    name,
    displayName: name,
    blockTimeMs: 400,
    headMaxAgeMs: 15_000,
    pinPolicy: [{ finalized: true }],
  })
  const file = quoteFileSchema.parse({
    environment: 'local',
    servers: [],
    prices: [],
    swapImpactMaxBps: 500,
    schedule: { flatMicroUsd: '20000', sameAssetBps: 0, stableBps: 1, majorBps: 6, longtailBps: 15 },
    orderLifetimeSeconds: 600,
    quoteLifetimeSeconds: 60,
    rateLimits: { perKeyPerSecond: 0, perIpPerSecond: 0 },
    assets: [asset('gas'), asset('held'), asset('sol')],
    chains: {
      'local-a': {
        ...chain(chainA, 'local-a'),
        multicall3: `0x${'e0'.repeat(20)}`,
        wrappedNative: `0x${'c2'.repeat(20)}`,
        depositRouter: `0x${'d2'.repeat(20)}`,
        fillContract: `0x${'d3'.repeat(20)}`,
        feeModel: { kind: 'eip1559' },
        currencies: [currency(native, 18, 'gas', 10_000), currency(held, m.heldDecimals, 'held', 5_000)],
      },
      solana: {
        ...chain(solanaChain, 'solana'),
        feeModel: { kind: 'priority-fee' },
        fillWallet,
        currencies: [currency(sol, 9, 'sol', 10_000), currency(mint, way.mintDecimals, 'held', 5_000)],
      },
    },
  })
  const listed = { id: 'solana', ...mainNetwork('solana-vm'), depository }
  return { file, registry: createRegistry(file, [...testChains, listed]) }
}

function requestOf(m: RandomMarket, r: Parameters<typeof toRequest>[1], way: Way): QuoteRequest {
  const asked = toRequest(m, { ...r, path: 'direct' })
  const [here, there] = [
    { chainId: chainA, coin: native, token: held, who: user, decimals: m.heldDecimals, coinDecimals: 18 },
    {
      chainId: solanaChain,
      coin: sol,
      token: mint,
      who: account,
      decimals: way.mintDecimals,
      coinDecimals: 9,
    },
  ]
  const [from, to] = way.goesTo ? [here, there] : [there, here]
  const originCurrency = way.paysCoin ? from.coin : from.token
  const destinationCurrency = way.getsCoin ? to.coin : to.token
  const isInput = asked.tradeType === 'EXACT_INPUT'
  const basis = isInput ? from : to
  const isCoin = isInput ? way.paysCoin : way.getsCoin
  const coinUsd = basis.chainId === chainA ? m.nativeUsd : way.solUsd
  const [usd, decimals] = isCoin ? [coinUsd, basis.coinDecimals] : [m.heldUsd, basis.decimals]
  const amount =
    r.usdScaled === undefined ? asked.amount : (r.usdScaled * e18 * 10n ** BigInt(decimals)) / usd + 1n
  return {
    ...asked,
    user: from.who,
    recipient: to.who,
    originChainId: from.chainId,
    destinationChainId: to.chainId,
    originCurrency,
    destinationCurrency,
    amount,
  }
}

const draws = fc.record({
  m: randomMarket,
  r: randomRequest,
  way: randomWay,
  facts: randomFees,
  lack: randomLack,
  terms: randomTerms,
})
type Draw = typeof draws extends fc.Arbitrary<infer T> ? T : never

/** Pricing dependencies for a draw. */
function dependenciesOf({ m, way, facts, lack }: Draw) {
  const { file, registry } = registryOf(m, way)
  const stock = (usd: bigint, decimals: number) => (m.stock * e18 * 10n ** BigInt(decimals)) / usd
  const evm = testChainMarket(chainA, {
    expectedWei: m.gasWei,
    inventory: { [native]: stock(m.nativeUsd, 18), [held]: stock(m.heldUsd, m.heldDecimals) },
  })
  const solana = testChainMarket(solanaChain, {
    inventory: { [sol]: stock(way.solUsd, 9), [mint]: stock(m.heldUsd, way.mintDecimals) },
  })
  const snapshot = testSnapshot({
    prices: {
      'GAS/USD': usdPrice(m.nativeUsd),
      'HELD/USD': usdPrice(m.heldUsd),
      'SOL/USD': usdPrice(way.solUsd),
    },
    chains: [evm, { ...solana, fees: new SolanaFees(facts) }],
  })
  return {
    registry,
    schedule: file.schedule,
    swapImpactMaxBps: file.swapImpactMaxBps,
    ceilings: file.ceilings,
    snapshot: () => snapshot,
    clock: steppingClock(),
    inventoryView: createInventoryViews(registry),
    reactionMsOf: () => undefined,
    quoteOnChain: () => undefined,
    openRewards: openedRewards(),
    lackOf: async ({ chainId }: { readonly chainId: number }) => (chainId === solanaChain ? lack : {}),
    userFacts: async () => ({}),
    hasCode: async () => false,
    tryPayment: async () => ({ refusal: undefined }),
    tryFill: async () => 0n,
  }
}

async function attempt(draw: Draw, asked: QuoteRequest): Promise<PricedRoute | DomainError> {
  const dependencies = dependenciesOf(draw)
  const rewards = rewardsFor(dependencies, undefined)
  const subsidy = draw.terms && subsidyRule(draw.terms, usdc)
  try {
    return await priceRequest(dependencies, asked, { rewards, ...(subsidy && { subsidy }) })
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
}

test('prices with a Solana side satisfy the identity both ways, and charge rent where an account is lacking', async () => {
  const seen = new Map<string, number>()
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
  await fc.assert(
    fc.asyncProperty(draws, async (draw) => {
      const { m, r, way, facts, lack } = draw
      const asked = requestOf(m, r, way)
      const priced = await attempt(draw, asked)
      if (priced instanceof DomainError) return
      checkPriced(priced, asked)
      const { destinationNative, feeCurrency } = priced.prices
      const rent = way.goesTo ? new SolanaFees(facts).rentOf(lack) : 0n
      expect(priced.split.parts.rent).toBe(convertUp(rent, destinationNative, feeCurrency))
      count(`${way.goesTo ? 'to' : 'from'} ${r.tradeType}`)
      if (rent > 0n) count('rent')
      if (priced.split.subsidized > 0n) count('subsidized')
    }),
    { numRuns: 800, endOnFailure: true },
  )
  const kinds = ['to', 'from'].flatMap((way) => tradeTypes.map((tradeType) => `${way} ${tradeType}`))
  for (const kind of [...kinds, 'rent', 'subsidized'])
    expect(seen.get(kind) ?? 0, kind).toBeGreaterThanOrEqual(leastSeen(10, 800))
}, 60_000)
