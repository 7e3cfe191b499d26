import type { Hex } from '@causeway/core'
import { describe, expect, it } from 'vitest'
import { anchorHash, type BlockLink, missedBlocks, missedBlocksMax } from './poolMirror.ts'

const hash = (name: string): Hex => `0x${name.padStart(64, '0')}`
const block = (number: bigint, name: string, parent: string): BlockLink => ({
  number,
  hash: hash(name),
  parentHash: hash(parent),
})

describe('missedBlocks', () => {
  it('are none before the next block, one that replaces the last, and an older one', () => {
    for (const head of [11n, 10n, 3n]) expect(missedBlocks(10n, head)).toBeUndefined()
  })

  it('are all up to the head, up to the limit, and nothing beyond it', () => {
    expect(missedBlocks(10n, 12n)).toEqual({ from: 11n, to: 12n })
    expect(missedBlocks(10n, 11n + missedBlocksMax)).toEqual({ from: 11n, to: 11n + missedBlocksMax })
    expect(missedBlocks(10n, 12n + missedBlocksMax)).toBeUndefined()
  })
})

describe('anchorHash', () => {
  const below = block(10n, 'a', '9')

  it('is the block below the missed ones while the head is the last of them', () => {
    expect(anchorHash(block(13n, 'd', 'c'), [below, block(13n, 'd', 'c')])).toBe(hash('a'))
  })

  it('is undefined once another block is the last of them', () => {
    expect(anchorHash(block(13n, 'd', 'c'), [below, block(13n, 'x', 'c')])).toBeUndefined()
  })
})
