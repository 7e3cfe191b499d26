import { describe, expect, it } from 'vitest'
import { missedBlocks, missedBlocksMax } from './poolMirror.ts'

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
