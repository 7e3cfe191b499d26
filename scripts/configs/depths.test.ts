// Goal: what the shipped files say of blocks and depth is what the networks of today do: a deposit of a size is as deep as it
// should be in time, an estimate is right in seconds, and no chain with fast blocks is asked ten times as often.
import { join } from 'node:path'
import { ConfigurationError, type DepthRule, deepestRule, depthMs, depthRuleFor } from '@causeway/core'
import { blocksAtPace, paceMs, type QuoteChain } from '@causeway/core/config'
import { pollIntervalMs } from '@causeway/market'
import { describe, expect, test } from 'vitest'
import { timeEstimateSeconds } from '../../apps/quote-api/src/pricing/timeEstimate.ts'
import { finalitySecondsOf } from '../../apps/quote-api/src/requests/settlement/chain/depth.ts'
import { parseConfigSet, readRawConfigSet } from './configFiles.ts'
import { root } from './writeJson.ts'

const shipped = ['mainnets.prod', 'testnets.prod'].flatMap((environment) =>
  Object.entries(
    parseConfigSet(environment, readRawConfigSet(join(root, 'configs'), environment)).quote.chains,
  ),
)

function shippedChain(key: string): { readonly config: QuoteChain } {
  const [, config] = shipped.find(([name]) => name === key) ?? []
  if (config === undefined) throw new Error(`no file lists ${key}`)
  return { config }
}

const usd = (value: number) => BigInt(value) * 1_000_000n

const rule = (change: Partial<DepthRule>): DepthRule => ({
  blocks: 0,
  seconds: 0,
  isFinalized: false,
  ...change,
})
const rollup = [
  [1_000, rule({ seconds: 2 })],
  [1_001, rule({ seconds: 20 })],
  [50_000, rule({ seconds: 20 })],
  [50_001, rule({ seconds: 1_800, isFinalized: true })],
] as const
const ethereum = [
  [1_000, rule({ blocks: 1, seconds: 12 })],
  [50_000, rule({ blocks: 9, seconds: 108 })],
  [50_001, rule({ seconds: 960, isFinalized: true })],
] as const

test.each<[string, number, readonly (readonly [number, DepthRule])[]]>([
  ['base', 200, rollup],
  ['base-sepolia', 200, rollup],
  ['optimism', 2_000, rollup],
  ['arbitrum', 250, rollup],
  ['ethereum', 12_000, ethereum],
  ['sepolia', 12_000, ethereum],
  [
    'polygon',
    2_000,
    [
      [1_000, rule({ blocks: 63, isFinalized: true })],
      [1_001, rule({ blocks: 127, isFinalized: true })],
      [10_000, rule({ blocks: 127, isFinalized: true })],
      [10_001, rule({ blocks: 255, isFinalized: true })],
    ],
  ],
  ['solana', 200, [[10 ** 6, rule({ isFinalized: true })]]],
])('F-40: %s has a block every %i ms, and its deposits are this deep by size', (key, blockTimeMs, tiers) => {
  const { config } = shippedChain(key)
  expect(config.blockTimeMs).toBe(blockTimeMs)
  expect(tiers.map(([value]) => [value, depthRuleFor(config.pinPolicy, usd(value))])).toEqual(tiers)
})

test.each(shipped)('F-102: no size on %s is guarded by blocks alone', (_key, { pinPolicy }) => {
  for (const row of pinPolicy) {
    const { seconds, isFinalized } = depthRuleFor([{ ...row, upToMicroUsd: undefined }], 0n)
    expect(seconds > 0 || isFinalized).toBe(true)
  }
  // The largest value waits for the word of its chain.
  expect(depthRuleFor(pinPolicy, 2n ** 200n).isFinalized).toBe(true)
})

describe('F-103: a pin policy that cannot be meant is refused by name', () => {
  const raw = readRawConfigSet(join(root, 'configs'), 'mainnets.prod')
  const problemOf = (row: object, feeModel?: object): string => {
    const quote = Object(raw.quote)
    const base = { ...quote.chains.base, pinPolicy: [row], ...(feeModel !== undefined && { feeModel }) }
    try {
      parseConfigSet('mainnets.prod', { ...raw, quote: { ...quote, chains: { ...quote.chains, base } } })
      return ''
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigurationError)
      return String(error)
    }
  }

  test('in the form of before, which counted blocks, with what to write instead', () => {
    const problem = problemOf({ upToMicroUsd: '1000000000', confirmations: 10 })
    expect(problem).toContain('chains.base.pinPolicy[0]: `confirmations` is no longer read here')
    expect(problem).toContain('`"blocks": 9`')
    expect(problem).toContain('`"seconds"`')
    expect(problem).toContain('`"finalized": true`')
  })

  test('where a row asks for nothing', () => {
    expect(problemOf({})).toContain('chains.base.pinPolicy[0]: write `blocks`, `seconds` or `finalized`')
    expect(problemOf({ seconds: 2 })).toBe('')
  })

  test('where work is counted: it has no seconds', () => {
    const feerate = { kind: 'feerate' }
    expect(problemOf({ confirmations: 2 }, feerate)).toBe('')
    const refused = 'chains.base.pinPolicy[0]: write `confirmations` here, and nothing else'
    for (const row of [{ seconds: 600 }, { blocks: 1 }, { confirmations: 2, finalized: true }])
      expect(problemOf(row, feerate)).toContain(refused)
  })
})

test.each<[string, string, number, number]>([
  // One block and ten more of 0.2 s, a second for the solver, a block of 2 s.
  ['base', 'optimism', 1_000, 6],
  ['optimism', 'base', 1_000, 6],
  ['base', 'optimism', 50_000, 24],
  ['base', 'optimism', 50_001, 1_804],
  ['ethereum', 'base', 50_001, 974],
  ['polygon', 'base', 1_000, 132],
  ['solana', 'base', 1_000, 2],
])('F-40: from %s to %s %i USD take %i s', (origin, destination, value, seconds) => {
  const estimate = timeEstimateSeconds({
    origin: shippedChain(origin),
    destination: shippedChain(destination),
    selfExecuted: false,
    valueMicroUsd: usd(value),
    reactionMs: undefined,
    isSwept: false,
  })
  expect(estimate).toBe(seconds)
})

describe('F-41: a chain whose blocks come fast', () => {
  const usual = { blockTimeMs: 2_000 }

  test.each([1, 200, 250, 400, 1_999])(
    'of %i ms is looked at as one with blocks of two seconds',
    (blockTimeMs) => {
      expect(paceMs({ blockTimeMs })).toBe(paceMs(usual))
      expect(pollIntervalMs({ blockTimeMs })).toBe(pollIntervalMs(usual))
    },
  )

  test('is read back as far in time', () => {
    expect(blocksAtPace({ blockTimeMs: 200 }, 512n)).toBe(5_120n)
    expect(blocksAtPace({ blockTimeMs: 300 }, 512n) * 300n).toBeGreaterThanOrEqual(512n * 2_000n)
    expect(blocksAtPace({ blockTimeMs: 12_000 }, 512n)).toBe(512n)
  })
})

describe('F-42: a settlement may take as long as its deposit needs to be deep', () => {
  test.each(shipped)('on %s', (_key, config) => {
    const rule = deepestRule(config.pinPolicy)
    const deepestMs = depthMs(rule, config) * (rule.isFinalized ? 2 : 1)
    expect(finalitySecondsOf({ config }) * 1_000).toBeGreaterThanOrEqual(deepestMs)
  })

  test('where an operator asks for more than shipped files do', () => {
    const { config } = shippedChain('base')
    const deep = { ...config, pinPolicy: [{ blocks: 999_999 }, { seconds: 7 }] }
    expect(finalitySecondsOf({ config: deep })).toBe(200_000)
  })
})
