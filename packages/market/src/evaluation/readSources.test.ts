// Goal: each source of a price says its value and until when it counts, or why it counts for nothing.
// Method: readings of one chain made by hand, each with one thing wrong.
import { describe, expect, test } from 'vitest'
import {
  baseReading,
  blockHash,
  ethFeed,
  poolAt,
  quoteFile,
  usdcFeed,
  weth,
  wethUsdcPool,
} from '../../test/support/fixtures.ts'
import type { ChainReading } from '../chain/chainReading.ts'
import type { ChainFacts } from '../chain/chainState.ts'
import { defaultLimits } from '../limits.ts'
import { planMarket } from '../plan.ts'
import { oneUsdX18 } from '../prices/guards.ts'
import type { SourceReading } from '../prices/source.ts'
import { createSourceReader, type MarketFacts } from './readSources.ts'

const nowMs = 1_800_000_000_000
const headMs = nowMs - 1_000
const plan = planMarket(quoteFile())
const usual = baseReading({ nowMs })
const feedName = `feed base ${ethFeed}`
const poolName = `pool base ${wethUsdcPool}`
const ofEth = usual.feeds.get(ethFeed)

/** The sources of ETH/USD by name, where base was read just now unless said otherwise. */
function sourcesOf(change: Partial<ChainReading>, rest: Partial<MarketFacts & ChainFacts> = {}) {
  const { wentOnAtSeconds, ...others } = rest
  const chainFacts = { reading: { ...usual, ...change }, readAtMs: nowMs, wentOnAtSeconds }
  const chains = new Map([['base', chainFacts]])
  return readAll({ plan, chains, http: new Map(), limits: defaultLimits, nowMs, ...others })
}

function readAll(facts: MarketFacts, price = plan.priceByKey.get('ETH/USD')) {
  if (price === undefined) throw new Error('no price of ETH')
  return new Map(createSourceReader(facts)(price).map((reading) => [reading.source, reading]))
}

/** The feeds of base where that of ETH says this. */
function feedsWith(eth: Partial<NonNullable<typeof ofEth>>): ChainReading['feeds'] {
  return new Map([...usual.feeds, [ethFeed, { round: ofEth?.round, identity: ofEth?.identity, ...eth }]])
}

const nobodyRead: Partial<MarketFacts> = { chains: new Map() }
const isNotPlanned: Partial<MarketFacts> = { plan: { ...plan, chainByKey: new Map() } }

describe('a feed', () => {
  test('counts as long as its round, the reading and the head do', () => {
    const feed: SourceReading = {
      source: feedName,
      kind: 'feed',
      readAtMs: nowMs,
      block: 90n,
      result: { usdX18: 2_000n * oneUsdX18, updatedAtMs: headMs - 10_000, freshUntilMs: headMs + 20_000 },
    }
    const contractsAt = { ...usual.contractsAt, block: 90n }
    expect(sourcesOf({ contractsAt }).get(feedName)).toEqual(feed)
  })

  test.each<[string, string, Partial<ChainReading>, Partial<MarketFacts & ChainFacts>?]>([
    ['no_answer', 'its chain was never read', {}, nobodyRead],
    ['no_answer', 'its chain is not in the plan', {}, isNotPlanned],
    ['no_answer', 'it was not asked', { feeds: new Map() }],
    ['no_answer', 'it reverted', { feeds: feedsWith({ round: undefined }) }],
    ['unverified', 'it did not say yet what it is', { feeds: feedsWith({ identity: undefined }) }],
    [
      'misdescribed',
      'it prices something else',
      { feeds: feedsWith({ identity: { description: 'BTC / USD', decimals: 8 } }) },
    ],
    [
      'misdescribed',
      'it has other decimals',
      { feeds: feedsWith({ identity: { description: 'ETH / USD', decimals: 18 } }) },
    ],
    ['older_than_stop', 'its chain stood since', {}, { wentOnAtSeconds: (headMs - 10_000) / 1_000 }],
    [
      'no_timestamp',
      'it was never updated',
      { feeds: feedsWith({ round: { answer: 1n, updatedAtSeconds: 0n } }) },
    ],
    [
      'from_the_future',
      'the head is far ahead',
      { head: { ...usual.head, timestampSeconds: nowMs / 1_000 + 601 } },
    ],
  ])('says %s where %s', (fault, _name, change, rest = {}) => {
    expect(sourcesOf(change, rest).get(feedName)).toMatchObject({ kind: 'feed', result: { fault } })
  })
})

describe('a pool', () => {
  test('has the price and the time of the head, as long as the reading and the head count', () => {
    const pool: SourceReading = {
      source: poolName,
      kind: 'pool',
      readAtMs: nowMs,
      block: 100n,
      result: { usdX18: expect.any(BigInt), updatedAtMs: headMs, freshUntilMs: headMs + 20_000 },
    }
    expect(sourcesOf({}).get(poolName)).toEqual(pool)
  })

  test('is the one that the file names, whichever others its chain has', () => {
    const other = { ...poolAt(3_000, blockHash(100)), address: ethFeed } as const
    expect(sourcesOf({ pools: [other, ...usual.pools] }).get(poolName)).toEqual(sourcesOf({}).get(poolName))
  })

  test.each<[string, string, Partial<ChainReading>, Partial<MarketFacts>?]>([
    ['no_answer', 'its chain was never read', {}, nobodyRead],
    ['no_answer', 'its chain is not in the plan', {}, isNotPlanned],
    ['no_answer', 'it is not in the reading', { pools: [] }],
    ['unpriced_pair', 'its other token has no price', { feeds: new Map([...usual.feeds].slice(0, 1)) }],
    ['thin_pool', 'it is cheap to move', { pools: usual.pools.map((pool) => ({ ...pool, liquidity: 1n })) }],
  ])('says %s where %s', (fault, _name, change, rest = {}) => {
    expect(sourcesOf(change, rest).get(poolName)).toMatchObject({ kind: 'pool', result: { fault } })
  })

  test('says unpriced_pair where its other token is priced nowhere', () => {
    const price = plan.priceByKey.get('ETH/USD')
    if (price === undefined) throw new Error('no price of ETH')
    const chains = new Map([['base', { reading: usual, readAtMs: nowMs }]])
    const facts = { plan, chains, http: new Map(), limits: defaultLimits, nowMs }
    const elsewhere = { ...price, pools: price.pools.map((pool) => ({ ...pool, quoteKey: 'XYZ/USD' })) }
    expect(readAll(facts, elsewhere).get(poolName)?.result).toEqual({ fault: 'unpriced_pair' })
  })
})

describe('a price service', () => {
  const quote = { usdX18: 2_000n * oneUsdX18, updatedAtMs: nowMs, freshUntilMs: nowMs + 5 }
  const answered = (id: string) => ({
    http: new Map([
      ['defillama', { kind: 'http' as const, quotes: new Map([[id, quote]]), readAtMs: nowMs - 7 }],
    ]),
  })

  test('says what it answered, when, and no_answer for an asset that it does not know', () => {
    const read = { source: 'http defillama', kind: 'http', readAtMs: nowMs - 7 }
    expect(sourcesOf({}, answered('coingecko:ethereum')).get('http defillama')).toEqual({
      ...read,
      result: quote,
    })
    expect(sourcesOf({}, answered('coingecko:bitcoin')).get('http defillama')).toEqual({
      ...read,
      result: { fault: 'no_answer' },
    })
  })

  test('is no source before its first answer', () => {
    expect([...sourcesOf({}).keys()]).toEqual([feedName, poolName])
  })
})

test('the sources of these tests are those that the file names', () => {
  expect([...usual.feeds.keys()]).toEqual([ethFeed, usdcFeed])
  expect(usual.pools.map(({ token0 }) => token0)).toEqual([weth])
})
