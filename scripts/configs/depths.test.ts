// Goal: what the shipped files say of blocks is what the networks of today do: a deposit of a size is as deep as it
// should be in time, an estimate is right in seconds, and no chain with fast blocks is asked ten times as often.
import { join } from 'node:path'
import { blocksAtPace, paceMs, type QuoteChain } from '@causeway/core'
import { pollIntervalMs } from '@causeway/market'
import { describe, expect, test } from 'vitest'
import { pinConfirmations, timeEstimateSeconds } from '../../apps/quote-api/src/pricing/timeEstimate.ts'
import { finalitySecondsOf } from '../../apps/quote-api/src/requests/settlement/settlementContext.ts'
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

test.each<[string, number, readonly (readonly [number, number])[]]>([
  [
    'base',
    200,
    [
      [1_000, 10],
      [1_001, 100],
      [50_000, 100],
      [50_001, 9_000],
    ],
  ],
  [
    'base-sepolia',
    200,
    [
      [1_000, 10],
      [1_001, 100],
      [50_000, 100],
      [50_001, 9_000],
    ],
  ],
  [
    'ethereum',
    12_000,
    [
      [1_000, 2],
      [50_000, 10],
      [50_001, 96],
    ],
  ],
  [
    'sepolia',
    12_000,
    [
      [1_000, 2],
      [50_000, 10],
      [50_001, 96],
    ],
  ],
  [
    'polygon',
    2_000,
    [
      [1_000, 64],
      [1_001, 128],
      [10_000, 128],
      [10_001, 256],
    ],
  ],
])('F-40: %s has a block every %i ms, and its deposits are this deep by size', (key, blockTimeMs, tiers) => {
  const chain = shippedChain(key)
  expect(chain.config.blockTimeMs).toBe(blockTimeMs)
  expect(tiers.map(([value]) => [value, pinConfirmations(chain, usd(value))])).toEqual(tiers)
})

test.each<[string, string, number, number]>([
  // One block and ten more of 0.2 s, a second for the solver, a block of 2 s.
  ['base', 'optimism', 1_000, 6],
  ['optimism', 'base', 1_000, 6],
  ['base', 'optimism', 50_000, 24],
  ['base', 'optimism', 50_001, 1_804],
  ['ethereum', 'base', 50_001, 1_166],
  ['polygon', 'base', 1_000, 132],
])('F-40: from %s to %s %i USD take %i s', (origin, destination, value, seconds) => {
  const estimate = timeEstimateSeconds({
    ...{ origin: shippedChain(origin), destination: shippedChain(destination) },
    ...{ selfExecuted: false, valueMicroUsd: usd(value), reactionMs: undefined, isSwept: false },
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
    const deepest = Math.max(...config.pinPolicy.map(({ confirmations }) => confirmations))
    expect(finalitySecondsOf({ config }) * 1_000).toBeGreaterThanOrEqual(deepest * config.blockTimeMs)
  })

  test('where an operator asks for more than shipped files do', () => {
    const { config } = shippedChain('base')
    const deep = { ...config, pinPolicy: [{ confirmations: 1_000_000 }] }
    expect(finalitySecondsOf({ config: deep })).toBe(200_000)
  })
})
