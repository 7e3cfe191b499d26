import { MalformedAnswerError } from '@causeway/rpc'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ChainHead, parseHead } from './head.ts'
import { type HeadChain, type HeadChange, observeHead } from './headChain.ts'

/** Block `number` of a branch; branches share what is below `forkAt`. */
function block(number: number, branch = 'a', parentBranch = branch): ChainHead {
  const hash = (height: number, name: string) => `0x${name.charCodeAt(0).toString(16)}${height}` as const
  return {
    number: BigInt(number),
    hash: hash(number, branch),
    parentHash: hash(number - 1, parentBranch),
    timestampSeconds: number * 2,
    baseFeePerGasWei: 1n,
  }
}

function follow(observations: readonly (readonly [ChainHead, (`0x${string}` | undefined)?])[]) {
  let chain: HeadChain | undefined
  const changes: HeadChange[] = []
  for (const [head, hashAtKnown] of observations) {
    const observed = observeHead(chain, head, hashAtKnown)
    chain = observed.chain
    changes.push(observed.change)
  }
  return { changes, head: chain?.head }
}

describe('observeHead', () => {
  test('follows a chain that grows', () => {
    const { changes, head } = follow([[block(1)], [block(1)], [block(2)], [block(5)]])
    expect(changes).toEqual(['first', 'same', 'extended', 'extended'])
    expect(head).toEqual(block(5))
  })

  test('keeps its head when an endpoint shows an older block of the same chain', () => {
    const { changes, head } = follow([[block(1)], [block(2)], [block(3)], [block(2)], [block(3)]])
    expect(changes.slice(3)).toEqual(['behind', 'same'])
    expect(head).toEqual(block(3))
  })

  test.each([
    ['another block at the same height', block(3, 'b'), undefined],
    ['another block at a lower height', block(2, 'b'), undefined],
    ['a next block with another parent', block(4, 'b'), undefined],
    ['a far block, above a height that now has another hash', block(9, 'b'), block(3, 'b').hash],
  ])('notices %s as a reorg', (_name, head, hashAtKnown) => {
    const followed = follow([[block(1)], [block(2)], [block(3)], [head, hashAtKnown]])
    expect(followed.changes.at(-1)).toBe('reorganised')
    expect(followed.head).toEqual(head)
  })

  test('does not take a far block for a reorg when the known height still has its hash', () => {
    expect(follow([[block(3)], [block(9), block(3).hash]]).changes.at(-1)).toBe('extended')
  })

  test('forgets the replaced branch: showing it again is another reorg, not a lag', () => {
    const { changes } = follow([[block(2)], [block(3)], [block(3, 'b', 'a')], [block(4, 'b')], [block(3)]])
    expect(changes).toEqual(['first', 'extended', 'reorganised', 'extended', 'reorganised'])
  })

  test('adopts every observation but those that are behind', () => {
    const observed = fc.tuple(fc.integer({ min: 1, max: 20 }), fc.constantFrom('a', 'b'))
    fc.assert(
      fc.property(fc.array(observed), (observations) => {
        let chain: HeadChain | undefined
        for (const [number, branch] of observations) {
          const head = block(number, branch)
          const before = chain?.head
          const next = observeHead(chain, head)
          chain = next.chain
          expect(chain.head).toEqual(next.change === 'behind' ? before : head)
          expect(chain.hashByHeight.get(chain.head.number)).toBe(chain.head.hash)
        }
      }),
    )
  })
})

describe('parseHead', () => {
  const good = {
    number: '0x10',
    hash: `0x${'AB'.repeat(32)}`,
    parentHash: `0x${'00'.repeat(32)}`,
    timestamp: '0x64',
    baseFeePerGas: '0x7',
  }

  test('reads a block, its hashes in lower case', () => {
    expect(parseHead(good)).toEqual({
      number: 16n,
      hash: `0x${'ab'.repeat(32)}`,
      parentHash: `0x${'00'.repeat(32)}`,
      timestampSeconds: 100,
      baseFeePerGasWei: 7n,
    })
  })

  test('knows chains without a base fee', () => {
    const { baseFeePerGas: _, ...old } = good
    expect(parseHead(old).baseFeePerGasWei).toBeUndefined()
  })

  test.each([
    ['null', null],
    ['a number', { ...good, number: 16 }],
    ['a short hash', { ...good, hash: '0xab' }],
    ['a time beyond all time', { ...good, timestamp: `0x${'f'.repeat(60)}` }],
    ['a missing parent', { ...good, parentHash: undefined }],
  ])('refuses %s', (_name, result) => {
    expect(() => parseHead(result)).toThrow(MalformedAnswerError)
  })
})
