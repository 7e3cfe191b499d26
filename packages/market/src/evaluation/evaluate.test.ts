// Goal: a price or chain keeps its object exactly while nobody could tell the difference, and age is seen in time.
// Method: pairs of readings of one chain that differ in one thing.
import type { PoolState } from '@causeway/core'
import type { NetworkFeeRefusal } from '@causeway/families'
import { describe, expect, test } from 'vitest'
import {
  baseReading,
  blockHash,
  poolAt,
  quoteFile,
  type ReadingOptions,
} from '../../test/support/fixtures.ts'
import type { ChainReading } from '../chain/chainReading.ts'
import { defaultLimits } from '../limits.ts'
import { planMarket } from '../plan.ts'
import { type Evaluation, evaluate } from './evaluate.ts'
import type { HttpFacts } from './readSources.ts'

const plan = planMarket(quoteFile())
const nowMs = 1_800_000_000_000
const usual = baseReading({ nowMs })
const secondPool: PoolState = { ...poolAt(2_000, blockHash(100)), address: `0x${'bb'.repeat(20)}` }

function evaluated(
  reading: ChainReading,
  before?: Evaluation,
  http: ReadonlyMap<string, HttpFacts> = new Map(),
) {
  const chains = new Map([['base', { reading, readAtMs: nowMs }]])
  return evaluate({ plan, chains, http, limits: defaultLimits, nowMs }, before)
}

/** The service's price of ETH, in cents. */
function served(cents: bigint, updatedAtMs = nowMs): ReadonlyMap<string, HttpFacts> {
  const quote = { usdX18: cents * 10n ** 16n, updatedAtMs, freshUntilMs: nowMs + 30_000 }
  return new Map([
    ['defillama', { kind: 'http', quotes: new Map([['coingecko:ethereum', quote]]), readAtMs: nowMs }],
  ])
}

describe('a chain', () => {
  const keeps = (first: ChainReading, second: ChainReading) => {
    const before = evaluated(first)
    return evaluated(second, before).chains.get('base')?.state === before.chains.get('base')?.state
  }
  const refusedWith = (cost: string, reason: NetworkFeeRefusal['reason'] = 'gas_above_ceiling') => {
    const fees: NetworkFeeRefusal =
      reason === 'gas_disputed' ? { reason } : { reason, charge: 'Gas', cost, ceiling: '3 wei' }
    return { ...usual, fees: { fees, shown: undefined } }
  }

  test('keeps its state when a reading repeats it', () => {
    expect(keeps(usual, baseReading({ nowMs }))).toBe(true)
    expect(keeps(refusedWith('costs 5 wei'), refusedWith('costs 5 wei'))).toBe(true)
  })

  test.each<[string, ChainReading]>([
    ['block', { ...usual, head: { ...usual.head, number: 101n } }],
    ['block at the same height', { ...usual, head: { ...usual.head, hash: blockHash(7) } }],
    ['time', { ...usual, head: { ...usual.head, timestampSeconds: usual.head.timestampSeconds - 1 } }],
    ['balance', { ...usual, inventory: new Map([...usual.inventory].map(([key]) => [key, 1n])) }],
    ['currency', { ...usual, inventory: new Map([...usual.inventory, ['8453:0xab', 0n]]) }],
    ['pool beside the first', { ...usual, pools: [...usual.pools, secondPool] }],
    ['pool in place of the first', { ...usual, pools: [secondPool] }],
    ['block of a pool', { ...usual, pools: [poolAt(2_000, blockHash(99))] }],
    ['lack of pools', { ...usual, pools: [] }],
    ['refusal', refusedWith('costs 5 wei')],
  ])('gets a new state with another %s, and with the first again', (_name, other) => {
    expect([keeps(usual, other), keeps(other, usual)]).toEqual([false, false])
  })

  test('tells the present cost of a fee above its ceiling, not the first one', () => {
    expect(keeps(refusedWith('costs 5 wei'), refusedWith('costs 9 wei'))).toBe(false)
    expect(keeps(refusedWith('costs 5 wei'), refusedWith('', 'gas_disputed'))).toBe(false)
  })
})

describe('a price', () => {
  const at = (options: Partial<ReadingOptions>) => baseReading({ nowMs, ...options })
  type Moment = readonly [ChainReading, ReadonlyMap<string, HttpFacts>?]
  const keeps = (key: string, [first, firstHttp]: Moment, [second, secondHttp]: Moment) => {
    const before = evaluated(first, undefined, firstHttp)
    return evaluated(second, before, secondHttp).prices.get(key)?.price === before.prices.get(key)?.price
  }

  test('keeps its object when it is made again, or refused again for the same reason', () => {
    expect(keeps('ETH/USD', [usual], [at({ block: 101 })])).toBe(true)
    expect(keeps('ETH/USD', [at({ feedAgeSeconds: 9_000 })], [at({ feedAgeSeconds: 9_001 })])).toBe(true)
  })

  test.each<[string, Moment, Moment]>([
    ['value', [usual], [at({ ethAnswer: 200_000_000_001n })]],
    ['spread', [usual, served(200_000n)], [usual, served(200_100n)]],
    ['time', [usual, served(200_000n)], [usual, served(200_000n, nowMs - 1)]],
    ['refusal', [at({ feedAgeSeconds: 9_000 })], [at({ ethAnswer: undefined })]],
    ['refusal in its place', [usual], [at({ ethAnswer: undefined })]],
  ])('gets a new object with another %s', (_name, first, second) => {
    expect([keeps('ETH/USD', first, second), keeps('ETH/USD', second, first)]).toEqual([false, false])
  })
})
