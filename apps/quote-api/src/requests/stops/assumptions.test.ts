// Goal: what a network is not like any more is named, and what it is like is not. Attack: a network that makes blocks
// faster than the file says, so that a depth in blocks is over before it is worth anything; false alarms, which teach
// operators to look away: rounded seconds, missed slots, blocks that come by work, and heads of a few seconds.
import type { QuoteChain } from '@causeway/core/config'
import { describe, expect, test } from 'vitest'
import { judgeBlockTime, judgeFinality, judgeGas, judgeGuardians } from './assumptions.ts'

const dated = { on: '2026-11-27', source: 'the reference' }
const chains = {
  ethereum: { blockTimeMs: 12_000, seen: { ...dated, finalitySeconds: 1_140 } },
  base: { blockTimeMs: 200, seen: { ...dated, finalitySeconds: 1_800 } },
  optimism: { blockTimeMs: 2_000, seen: { ...dated, finalitySeconds: 1_800 } },
  polygon: { blockTimeMs: 2_000, seen: { ...dated, finalitySeconds: 120 } },
  solana: { blockTimeMs: 200, seen: dated },
} as const

const chain = (key: keyof typeof chains, changes: object = {}) => ({
  chainId: 1,
  config: { ...chains[key], ...changes },
})

const gasChain = (feeModel: object) => {
  const { chainId, config } = chain('ethereum')
  // CAST: what is judged reads no other member of a fee model.
  return { chainId, config: { ...config, feeModel: feeModel as QuoteChain['feeModel'] } }
}

const span = (blocks: number, seconds: number) => ({
  from: { number: 1_000n, timestampSeconds: 1_795_000_000 },
  to: { number: 1_000n + BigInt(blocks), timestampSeconds: 1_795_000_000 + seconds },
})

describe('F-108: the pace of a chain', () => {
  test.each<[keyof typeof chains, number, number]>([
    ['base', 300, 60],
    // Seconds are whole, so an end may be a second early.
    ['base', 150, 31],
    ['ethereum', 5, 60],
    // Two of five slots were missed.
    ['ethereum', 3, 60],
    ['polygon', 30, 60],
  ])('of %s is as the file says: %i blocks in %i s', (key, blocks, seconds) => {
    expect(judgeBlockTime(chain(key), span(blocks, seconds))).toEqual([])
  })

  test.each<[keyof typeof chains, object, number, number]>([
    // As Base was when files still said 2 s.
    ['base', { blockTimeMs: 2_000 }, 300, 60],
    ['ethereum', {}, 8, 60],
    ['optimism', {}, 300, 60],
  ])('that is faster stops it: %s', (key, changes, blocks, seconds) => {
    const [broken, ...others] = judgeBlockTime(chain(key, changes), span(blocks, seconds))
    expect([broken, others]).toMatchObject([{ what: 'block-time', isStopping: true }, []])
    expect(broken?.text).toContain(`${(seconds * 1_000) / blocks} ms`)
  })

  test('that is slower is told, and stops nothing: depths are worth more then', () => {
    expect(judgeBlockTime(chain('base'), span(30, 60))).toMatchObject([{ isStopping: false }])
  })

  test('is not told by heads of a few seconds, by one head, by blocks that come by work, or where no facts are dated', () => {
    expect(judgeBlockTime(chain('optimism'), span(290, 29))).toEqual([])
    expect(judgeBlockTime(chain('optimism'), span(0, 60))).toEqual([])
    expect(judgeBlockTime(chain('ethereum', { blockTimeMs: 600_000 }), span(1, 31))).toEqual([])
    expect(judgeBlockTime(chain('optimism', { seen: undefined }), span(300, 60))).toEqual([])
  })
})

describe('F-109: the newest final block', () => {
  const at = (lagSeconds: number) => ({
    head: { number: 1_000n, timestampSeconds: 1_795_000_000 },
    final: { number: 900n, timestampSeconds: 1_795_000_000 - lagSeconds },
  })

  test('may trail as the file says, and twice as far: 95 slots of Ethereum, and an epoch that was missed', () => {
    for (const slots of [64, 95, 127]) expect(judgeFinality(chain('ethereum'), at(slots * 12))).toEqual([])
  })

  test('that trails further stops its chain: milestones of Polygon that stand, which no count of blocks sees', () => {
    expect(judgeFinality(chain('polygon'), at(241))).toMatchObject([
      { what: 'finality-lag', isStopping: true, text: expect.stringContaining('241 s') },
    ])
  })

  test('that nobody tells, or of which the file says nothing, is not judged', () => {
    expect(judgeFinality(chain('polygon'), { ...at(10_000), final: undefined })).toEqual([])
    expect(judgeFinality(chain('solana'), at(10_000))).toEqual([])
  })
})

test('F-110: gas that prices may not follow stops its chain, named with both figures and what to write', () => {
  const judged = (units: bigint, gasModel: object = {}) => {
    const feeModel = { kind: 'eip1559', ...gasModel }
    const shapes = [{ shape: 'approve', countedUnits: 65_000n, units }]
    return judgeGas(gasChain(feeModel), { shapes })
  }
  // Up to ten times prices follow: a new slot under EIP-8037 takes 97,920.
  for (const units of [65_000n, 122_020n, 650_000n]) expect(judged(units)).toEqual([])
  expect(judged(6_500_000n, { unitsTimesMax: 100 })).toEqual([])
  for (const [units, gasModel] of [
    [6_500_000n, {}],
    [122_020n, { unitsTimesMax: 1 }],
  ] as const)
    expect(judged(units, gasModel)).toMatchObject([
      {
        what: 'gas',
        isStopping: true,
        text: expect.stringMatching(new RegExp(`approve takes ${units} of 65000 .*feeModel.unitsTimesMax`)),
      },
    ])
})

test('F-111: a guardian set that is not listed is told and stops nothing, and other faults are none', () => {
  expect(judgeGuardians([undefined, 'not_signed', 'no_answer'])).toEqual([])
  expect(judgeGuardians([undefined, 'unknown_guardian_set'])).toMatchObject([
    { what: 'guardian-set', chainId: 0, isStopping: false },
  ])
})
