import type { Hex } from '@causeway/core'
import { describe, expect, it } from 'vitest'
import { anchorHash, type BlockLink, heightsBetween, missedBlocksMax } from './poolMirror.ts'

const hash = (name: string): Hex => `0x${name.padStart(64, '0')}`
const block = (number: bigint, name: string, parent: string): BlockLink => ({
  number,
  hash: hash(name),
  parentHash: hash(parent),
})

describe('heightsBetween', () => {
  it('is empty for the next block, for one that replaces the last, and for an older one', () => {
    for (const head of [11n, 10n, 3n]) expect(heightsBetween(10n, head)).toEqual([])
  })

  it('names every missed block up to the limit, and nothing beyond it', () => {
    expect(heightsBetween(10n, 14n)).toEqual([11n, 12n, 13n])
    expect(heightsBetween(10n, 11n + missedBlocksMax)).toHaveLength(Number(missedBlocksMax))
    expect(heightsBetween(10n, 12n + missedBlocksMax)).toBeUndefined()
  })
})

describe('anchorHash', () => {
  it('is the parent of the head when nothing was missed', () => {
    expect(anchorHash(block(11n, 'c', 'b'), [])).toBe(hash('b'))
  })

  it('is the parent of the oldest missed block when all link up', () => {
    const between = [block(11n, 'b', 'a'), block(12n, 'c', 'b')]
    expect(anchorHash(block(13n, 'd', 'c'), between)).toBe(hash('a'))
  })

  it.each([
    ['the newest', [block(11n, 'b', 'a'), block(12n, 'x', 'b')]],
    ['an older one', [block(11n, 'x', 'a'), block(12n, 'c', 'b')]],
  ])('is undefined when %s of the missed blocks belongs to another chain', (_, between) => {
    expect(anchorHash(block(13n, 'd', 'c'), between)).toBeUndefined()
  })
})
