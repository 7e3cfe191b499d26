import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  blocksUntilOldEnough,
  describeFinality,
  finalityRule,
  type Heads,
  isTooYoung,
  pinFinalHeight,
  secondsToFinality,
} from './finality.ts'

const hash = `0x${'aa'.repeat(32)}` as const
function heads(number: bigint, timestampSeconds = number, tagged?: bigint): Heads {
  return {
    latest: { number, hash, timestampSeconds },
    tagged: tagged === undefined ? undefined : { number: tagged, hash, timestampSeconds: 0n },
  }
}

describe('finalityRule', () => {
  test('is ten blocks and sixty seconds where nothing is configured', () => {
    expect(describeFinality(finalityRule({}))).toBe('10 blocks and 60 seconds')
  })

  test('takes the older members, and `finality` before them', () => {
    const additionalData = { finalizationBlocks: 50, finalizationTime: 0 }
    expect(describeFinality(finalityRule({ additionalData }))).toBe('50 blocks and 0 seconds')
    const finality = { mode: 'depth', blocks: 3 } as const
    expect(describeFinality(finalityRule({ additionalData, finality }))).toBe('3 blocks')
    expect(describeFinality(finalityRule({ finality: { mode: 'tag', tag: 'safe' } }))).toBe('tag safe')
    expect(describeFinality(finalityRule({ finality: { mode: 'time', seconds: 9 } }))).toBe('9 seconds')
  })
})

describe('pinFinalHeight', () => {
  const depth = finalityRule({ finality: { mode: 'depth', blocks: 10 } })

  test('is what enough endpoints have reached, less the depth', () => {
    expect(pinFinalHeight(depth, 2, [heads(100n), heads(1_000n), heads(98n)])).toMatchObject({
      height: 90n,
      headNumber: 100n,
    })
  })

  test('by tag counts the tagged blocks', () => {
    const tag = finalityRule({ finality: { mode: 'tag' } })
    expect(pinFinalHeight(tag, 2, [heads(9n, 9n, 5n), heads(9n, 9n, 7n), heads(9n, 9n, 6n)]).height).toBe(6n)
  })

  test('lies between the heads of honest endpoints while they are enough', () => {
    const head = fc.bigInt({ min: 0n, max: 10_000n })
    fc.assert(
      fc.property(fc.tuple(head, head), fc.bigInt({ min: 0n, max: 2n ** 64n }), ([one, other], lie) => {
        const { headNumber, headSeconds } = pinFinalHeight(depth, 2, [heads(lie), heads(one), heads(other)])
        const [low, high] = one < other ? [one, other] : [other, one]
        expect(headNumber >= low && headNumber <= high).toBe(true)
        expect(headSeconds >= low && headSeconds <= high).toBe(true)
      }),
      { endOnFailure: true },
    )
  })
})

test('seconds count only where the mode says so, and the last one is enough', () => {
  const pin = { height: 90n, headNumber: 100n, headSeconds: 1_000n }
  const both = finalityRule({})
  expect(isTooYoung(both, pin, 941n)).toBe(true)
  expect(isTooYoung(both, pin, 940n)).toBe(false)
  expect(isTooYoung(finalityRule({ finality: { mode: 'depth' } }), pin, 1_000n)).toBe(false)
})

test('the hint is whole seconds, from one second to ten minutes', () => {
  const rule = finalityRule({})
  const pin = { height: 90n, headNumber: 100n, headSeconds: 1_000n }
  expect(secondsToFinality(rule, pin, { number: 95n })).toBe(10)
  expect(secondsToFinality(rule, pin, { number: 90n, timestampSeconds: 970n })).toBe(30)
  expect(secondsToFinality(rule, pin, { number: 90n, timestampSeconds: 940n })).toBe(1)
  expect(secondsToFinality(rule, pin, { number: 10n ** 9n })).toBe(600)
})

test.each(['depth', 'tag'] as const)('O-147: the hint of mode %s is of blocks alone', (mode) => {
  const pin = { height: 90n, headNumber: 100n, headSeconds: 1_000n }
  const block = { number: 95n, timestampSeconds: 990n }
  expect(secondsToFinality(finalityRule({ finality: { mode } }), pin, block)).toBe(10)
})

describe('blocksUntilOldEnough', () => {
  const rule = finalityRule({ finality: { mode: 'depth-and-time', blocks: 10, seconds: 60 } })

  test('goes back as far as the pace of the chain says', () => {
    const pin = { height: 990n, headNumber: 1_000n, headSeconds: 2_000n }
    expect(blocksUntilOldEnough(rule, pin, { number: 990n, timestampSeconds: 1_980n })).toBe(20n)
    expect(blocksUntilOldEnough(rule, pin, { number: 970n, timestampSeconds: 1_940n })).toBe(0n)
  })

  test('is nothing where seconds do not count', () => {
    const depth = finalityRule({ finality: { mode: 'depth', blocks: 10 } })
    const pin = { height: 990n, headNumber: 1_000n, headSeconds: 2_000n }
    expect(blocksUntilOldEnough(depth, pin, { number: 990n, timestampSeconds: 2_000n })).toBe(0n)
  })

  test('comes to an old block within few headers, whatever the pace', () => {
    const paces = fc.array(fc.nat({ max: 30 }), { minLength: 200, maxLength: 400 })
    fc.assert(
      fc.property(paces, fc.nat({ max: 10 }), (gaps, depth) => {
        let clock = 0n
        const times = gaps.map((gap) => {
          clock += BigInt(gap)
          return clock
        })
        const headNumber = BigInt(times.length - 1)
        const headSeconds = times.at(-1) ?? 0n
        const pin = { height: headNumber - BigInt(depth), headNumber, headSeconds }
        let number = pin.height
        let headers = 1
        while (number >= 0n) {
          const timestampSeconds = times[Number(number)] ?? 0n
          const back = blocksUntilOldEnough(rule, pin, { number, timestampSeconds })
          if (back === 0n) break
          number -= back
          headers += 1
        }
        if (number >= 0n) expect(headSeconds - (times[Number(number)] ?? 0n)).toBeGreaterThanOrEqual(60n)
        expect(headers).toBeLessThanOrEqual(30)
      }),
    )
  })
})
