// Goal: whoever learnt from this service what is in a block is quoted at that block or at a newer one.
// Attackers: a block that left its chain, which must not keep anybody's accounts from being read.
import { expect, test } from 'vitest'
import { createNewestHeads, type Head } from './newestHeads.ts'

const base = { key: 'base', chainId: 8_453 }
const head = (number: bigint): Head => ({ number, hash: `0x${number.toString(16).padStart(64, '0')}` })

function setUp(options: { published?: Head | undefined; agreed?: Head } = {}) {
  let nowMs = 1_000_000
  const published = 'published' in options ? options.published : head(100n)
  const heads = createNewestHeads(
    {
      snapshot: () => ({
        chain: () =>
          published === undefined ? { reason: 'no_data' } : { head: { ...published, timestampSeconds: 1 } },
      }),
      agreedHead: () => options.agreed,
    },
    () => nowMs,
  )
  return {
    heads,
    pass(ms: number) {
      nowMs += ms
    },
  }
}

test('Q-182: the block of the market, until a newer one is known', () => {
  const { heads } = setUp()
  expect(heads.of(base)).toEqual(head(100n))
  heads.note(8_453, head(99n))
  expect(heads.of(base)).toEqual(head(100n))
  heads.note(8_453, head(101n))
  expect(heads.of(base)).toEqual(head(101n))
  expect(heads.of({ key: 'optimism', chainId: 10 })).toEqual(head(100n))
})

test('the block that the market is still reading', () => {
  expect(setUp({ agreed: head(102n) }).heads.of(base)).toEqual(head(102n))
})

test('the market’s own of two blocks at one height, as it follows the chain', () => {
  const { heads } = setUp({ agreed: head(101n) })
  heads.note(8_453, { number: 101n, hash: `0x${'ee'.repeat(32)}` })
  expect(heads.of(base)).toEqual(head(101n))
})

test('a block that the market does not reach is let go of', () => {
  const { heads, pass } = setUp()
  heads.note(8_453, head(101n))
  pass(10_000)
  expect(heads.of(base)).toEqual(head(101n))
  pass(1)
  expect(heads.of(base)).toEqual(head(100n))
})

test.each([
  ['a chain that is not priced', { published: undefined }],
  ['a chain that is not priced, though its head is agreed', { published: undefined, agreed: head(5n) }],
])('no block of %s', (_what, options) => {
  const { heads } = setUp(options)
  heads.note(8_453, head(101n))
  expect(heads.of(base)).toBeUndefined()
})

test('a mark that is no hash of an EVM chain is not read at', () => {
  const { heads } = setUp()
  heads.note(8_453, { number: 200n, hash: '4sGjMW1sUnHzSxGspuhpqLDx6wiyjNtZ' })
  expect(heads.of(base)).toEqual(head(100n))
})
