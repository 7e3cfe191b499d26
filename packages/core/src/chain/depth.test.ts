// Goal: no block is deep enough before its money is safe, however fast blocks come and whatever their timestamps say.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DepthFacts, type DepthRule, depthBlocks, depthMs, depthRuleFor, missingDepth } from './depth.ts'

const rule = (change: Partial<DepthRule>): DepthRule => ({
  blocks: 0,
  seconds: 0,
  isFinalized: false,
  ...change,
})
const nothing: DepthFacts = { blocksOnTop: 0, headerSeconds: 0, seenSeconds: 0, isFinalized: false }
const facts = (change: Partial<DepthFacts>): DepthFacts => ({ ...nothing, ...change })
const finalized = { finalized: true } as const

describe('F-100: the rule for a size', () => {
  const policy = [
    { upToMicroUsd: 1_000n, blocks: 1, seconds: 12 },
    { upToMicroUsd: 50_000n, blocks: 9, seconds: 108 },
    { seconds: 960, ...finalized },
  ]

  test('is that of the first row that reaches it', () => {
    expect([0n, 1_000n].map((value) => depthRuleFor(policy, value))).toEqual(
      Array(2).fill(rule({ blocks: 1, seconds: 12 })),
    )
    expect(depthRuleFor(policy, 1_001n)).toEqual(rule({ blocks: 9, seconds: 108 }))
    expect(depthRuleFor(policy, 10n ** 30n)).toEqual(rule({ seconds: 960, isFinalized: true }))
  })

  test('is the strictest of all where no row reaches it', () => {
    const open = [
      { upToMicroUsd: 5n, ...finalized },
      { upToMicroUsd: 9n, blocks: 3, seconds: 7 },
    ]
    expect(depthRuleFor(open, 10n)).toEqual(rule({ blocks: 3, seconds: 7, isFinalized: true }))
    expect(depthRuleFor([], 10n)).toEqual(rule({}))
  })

  test('counts the block of the transaction among confirmations, and not among blocks', () => {
    expect([0, 1, 2, 6].map((confirmations) => depthRuleFor([{ confirmations }], 1n).blocks)).toEqual([
      0, 0, 1, 5,
    ])
  })
})

describe('F-101: a block is not deep enough', () => {
  const twelve = rule({ blocks: 12 })
  const seconds = rule({ seconds: 20 })

  test('by a block that lacks, or by seconds, or by finality alone', () => {
    expect(missingDepth(twelve, facts({ blocksOnTop: 11 }))).toEqual(rule({ blocks: 1 }))
    expect(missingDepth(rule({ seconds: 1 }), nothing)).toEqual(rule({ seconds: 1 }))
    expect(missingDepth(rule({ isFinalized: true }), nothing)).toEqual(rule({ isFinalized: true }))
    expect(missingDepth(rule({}), nothing)).toBeUndefined()
  })

  test('by blocks that come five a second: twelve of them are over in 2.4 seconds', () => {
    const fast = facts({ blocksOnTop: 12, headerSeconds: 2, seenSeconds: 2.4 })
    expect(missingDepth(twelve, fast)).toBeUndefined()
    expect(missingDepth({ ...twelve, seconds: 20 }, fast)).toEqual(rule({ seconds: 18 }))
  })

  test('by timestamps, where a sequencer that stood catches up faster than they say', () => {
    const burst = facts({ blocksOnTop: 9_000, headerSeconds: 1_800, seenSeconds: 1.5 })
    expect(missingDepth(seconds, burst)).toEqual(rule({ seconds: 18.5 }))
  })

  test('by a head that jumps, in height or in time', () => {
    const jumped = facts({ blocksOnTop: 10 ** 6, headerSeconds: 10 ** 9 })
    expect(missingDepth(seconds, jumped)).toEqual(rule({ seconds: 20 }))
  })

  test('by the time since it was seen, where the chain stands or its clock is behind', () => {
    const stood = facts({ seenSeconds: 10 ** 6 })
    expect(missingDepth(seconds, stood)).toEqual(rule({ seconds: 20 }))
    expect(missingDepth(seconds, { ...stood, blocksOnTop: 3, headerSeconds: -3_600 })).toMatchObject({
      seconds: 3_620,
    })
  })

  test('by anything else, where its chain is to call it final', () => {
    const top = rule({ seconds: 960, isFinalized: true })
    const most = { blocksOnTop: 10 ** 6, headerSeconds: 10 ** 6, seenSeconds: 10 ** 6 }
    expect(missingDepth(top, facts(most))).toEqual(rule({ isFinalized: true }))
    expect(missingDepth(top, facts({ isFinalized: true }))).toEqual(rule({ seconds: 960 }))
    // No burst makes a block that its chain calls final: there timestamps are enough.
    expect(missingDepth(top, facts({ headerSeconds: 960, isFinalized: true }))).toBeUndefined()
  })

  test('in its own second, by a rule of seconds: a block of another timestamp is on top of it', () => {
    expect(missingDepth(rule({ seconds: 1 }), facts({ seenSeconds: 900 }))).toEqual(rule({ seconds: 1 }))
  })
})

const anyRule = fc.record({
  blocks: fc.nat(200),
  seconds: fc.nat(2_000),
  isFinalized: fc.boolean(),
})
const anyFacts = fc.record({
  blocksOnTop: fc.nat(300),
  headerSeconds: fc.integer({ min: -10, max: 3_000 }),
  seenSeconds: fc.integer({ min: 0, max: 3_000 }),
  isFinalized: fc.boolean(),
})

test('F-101: more of any fact never makes a block less deep, and a stricter rule never makes it deeper', () => {
  fc.assert(
    fc.property(anyRule, anyFacts, anyFacts, (asked, some, more) => {
      const most: DepthFacts = {
        blocksOnTop: Math.max(some.blocksOnTop, more.blocksOnTop),
        headerSeconds: Math.max(some.headerSeconds, more.headerSeconds),
        seenSeconds: Math.max(some.seenSeconds, more.seenSeconds),
        isFinalized: some.isFinalized || more.isFinalized,
      }
      if (missingDepth(asked, some) === undefined) expect(missingDepth(asked, most)).toBeUndefined()
      const missing = missingDepth(asked, some)
      const stricter = { ...asked, blocks: asked.blocks + 1, seconds: asked.seconds + 1 }
      if (missing !== undefined) expect(missingDepth(stricter, some)).toBeDefined()
    }),
  )
})

test('F-101: what is missing is what has to come', () => {
  fc.assert(
    fc.property(anyRule, anyFacts, (asked, known) => {
      const missing = missingDepth(asked, known)
      if (missing === undefined) return
      const then = {
        blocksOnTop: known.blocksOnTop + missing.blocks,
        headerSeconds: known.headerSeconds + missing.seconds,
        seenSeconds: known.seenSeconds + missing.seconds,
        isFinalized: known.isFinalized || missing.isFinalized,
      }
      expect(missingDepth(asked, then)).toBeUndefined()
    }),
  )
})

test('F-40: an estimate is the longer of what blocks and seconds take', () => {
  expect(depthMs(rule({ blocks: 1, seconds: 12 }), { blockTimeMs: 12_000 })).toBe(24_000)
  expect(depthMs(rule({ seconds: 20 }), { blockTimeMs: 200 })).toBe(20_000)
})

test('F-101: seconds in blocks are as many as last so long on top of the own one', () => {
  expect(depthBlocks(rule({ seconds: 20 }), { blockTimeMs: 200 })).toBe(100n)
  expect(depthBlocks(rule({ blocks: 2, seconds: 13 }), { blockTimeMs: 12_000 })).toBe(2n)
  expect(depthBlocks(rule({ blocks: 9 }), { blockTimeMs: 12_000 })).toBe(9n)
  expect(depthBlocks(rule({ isFinalized: true }), { blockTimeMs: 400 })).toBe(0n)
})
