// Goal: depth is asked of a chain only where the rule needs it, and never told deeper than all that is known.
import type { DepthRule } from '@causeway/core'
import { expect, test } from 'vitest'
import { createBlockSights, openChainEnd, readMissingDepth, type SeenBlock } from './depth.ts'

const rule = (change: Partial<DepthRule>): DepthRule => ({
  blocks: 0,
  seconds: 0,
  isFinalized: false,
  ...change,
})
const block: SeenBlock = { number: 100n, seconds: 1_000, onTop: 5, seenSeconds: 30 }

/** The end of a chain whose newest block is of second 1,030 and whose tag is at block 99, and what it was asked. */
function chainEnd(change: { headSeconds?: number; tagged?: bigint } = {}) {
  const { headSeconds = 1_030, tagged = 99n } = change
  const asked: string[] = []
  const told = <Value>(what: string, value: Value) => {
    asked.push(what)
    return Promise.resolve(value)
  }
  const chain = {
    headSeconds: () => told('head', headSeconds),
    finalSeconds: () => told('final seconds', 0),
    taggedHeight: () => told('tag', tagged),
    finalHeight: () => told('final height', 0n),
  }
  return { asked, end: openChainEnd(chain, new AbortController().signal) }
}

test('F-101: a rule of blocks asks the chain for nothing, nor does what is missing in any case', async () => {
  const { asked, end } = chainEnd()
  expect(await readMissingDepth(rule({ blocks: 5 }), block, end)).toBeUndefined()
  expect(await readMissingDepth(rule({ blocks: 7, isFinalized: true }), block, end)).toEqual(
    rule({ blocks: 2 }),
  )
  expect(await readMissingDepth(rule({ seconds: 31 }), block, end)).toEqual(rule({ seconds: 1 }))
  expect(asked).toEqual([])
})

test('F-101: the newest header and the tag are asked for once, however many deposits wait', async () => {
  const { asked, end } = chainEnd()
  const top = rule({ seconds: 30, isFinalized: true })
  for (let count = 0; count < 3; count += 1)
    expect(await readMissingDepth(top, block, end)).toEqual(rule({ isFinalized: true }))
  expect(await readMissingDepth(top, { ...block, number: 99n }, end)).toBeUndefined()
  expect(asked.toSorted()).toEqual(['head', 'tag'])
})

test('F-101: a newest header that is younger or ahead makes nothing old', async () => {
  const seconds = rule({ seconds: 20 })
  expect(await readMissingDepth(seconds, block, chainEnd({ headSeconds: 1_012 }).end)).toEqual(
    rule({ seconds: 8 }),
  )
  const ahead = chainEnd({ headSeconds: 9_999_999 }).end
  expect(await readMissingDepth(seconds, { ...block, seenSeconds: 4.5 }, ahead)).toEqual(
    rule({ seconds: 15.5 }),
  )
})

test('F-101: where a family has no tag and no newer header, what it calls final counts', async () => {
  const chain = { finalSeconds: async () => 1_020, finalHeight: async () => 100n }
  const end = openChainEnd(chain, new AbortController().signal)
  expect(await readMissingDepth(rule({ seconds: 20, isFinalized: true }), block, end)).toBeUndefined()
  expect(await readMissingDepth(rule({ seconds: 21 }), block, end)).toEqual(rule({ seconds: 1 }))
})

test('F-101: a block is as old as the first look at it, by its height and hash', () => {
  let nowMs = 0
  const sights = createBlockSights(() => nowMs)
  const one = { number: 1n, hash: '0xaa' }
  expect(sights.seenSeconds(one)).toBe(0)
  nowMs = 2_500
  expect(sights.seenSeconds(one)).toBe(2.5)
  expect(sights.seenSeconds({ ...one, hash: '0xbb' })).toBe(0)
  expect(sights.seenSeconds({ ...one, number: 2n })).toBe(0)
})
