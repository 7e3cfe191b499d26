// Goal: feed answers are decoded, and those that are stale, unusable or of a later time are faults.
// Method: bytes encoded by viem, an independent implementation.
import fc from 'fast-check'
import { encodeAbiParameters } from 'viem'
import { describe, expect, test } from 'vitest'
import { decodeText } from '../returnData.ts'
import { decodeDecimals, decodeRound, feedValue } from './feedRound.ts'

const roundTypes = ['uint80', 'int256', 'uint256', 'uint256', 'uint80'].map((type) => ({ type }))

describe('decoding', () => {
  test('reads the answer and the time of any round, signs included', () => {
    fc.assert(
      fc.property(
        fc.bigInt(-(2n ** 255n), 2n ** 255n - 1n),
        fc.bigInt(0n, 2n ** 256n - 1n),
        (answer, updatedAt) => {
          const bytes = encodeAbiParameters(roundTypes, [7n, answer, 1n, updatedAt, 7n])
          expect(decodeRound(bytes)).toEqual({ answer, updatedAtSeconds: updatedAt })
        },
      ),
    )
  })

  test('reads decimals and description', () => {
    for (const decimals of [0, 8, 255])
      expect(decodeDecimals(encodeAbiParameters([{ type: 'uint8' }], [decimals]))).toBe(decimals)
    for (const text of ['', 'ETH / USD', 'x'.repeat(100), 'ü']) {
      expect(decodeText(encodeAbiParameters([{ type: 'string' }], [text]))).toBe(text)
    }
  })

  test('answers undefined for bytes of another shape', () => {
    expect(decodeRound('0x')).toBeUndefined()
    expect(decodeRound(`0x${'00'.repeat(159)}`)).toBeUndefined()
    expect(decodeDecimals('0x')).toBeUndefined()
    expect(decodeDecimals(encodeAbiParameters([{ type: 'uint256' }], [256n]))).toBeUndefined()
    expect(decodeDecimals(`0x${'ff'.repeat(32)}`)).toBeUndefined()
    expect(decodeText('0x')).toBeUndefined()
    expect(decodeText(`0x${'00'.repeat(64)}`)).toBeUndefined()
    const text = encodeAbiParameters([{ type: 'string' }], ['ETH / USD'])
    // CAST: a slice of hex digits that keeps its prefix is still hex.
    expect(decodeText(text.slice(0, 132) as `0x${string}`)).toBeUndefined()
    expect(decodeText(encodeAbiParameters([{ type: 'string' }], ['x'.repeat(257)]))).toBeUndefined()
  })
})

describe('feedValue', () => {
  const blockTimestampSeconds = 1_800_000_000
  const rules = { decimals: 8, heartbeatSeconds: 3_600, blockTimestampSeconds }
  const round = { answer: 203_142_170_000n, updatedAtSeconds: 1_799_999_000n }

  test('is a price with 18 fraction digits that is fresh for a heartbeat and a minute', () => {
    expect(feedValue({ ...rules, round })).toEqual({
      usdX18: 2_031_421_700_000_000_000_000n,
      updatedAtMs: 1_799_999_000_000,
      freshUntilMs: 1_799_999_000_000 + 3_660_000,
    })
    expect(feedValue({ ...rules, decimals: 20, round })).toMatchObject({ usdX18: 2_031_421_700n })
  })

  test.each([
    ['not_positive', { answer: 0n, updatedAtSeconds: 1_799_999_000n }],
    ['not_positive', { answer: -1n, updatedAtSeconds: 1_799_999_000n }],
    ['no_timestamp', { answer: 1n, updatedAtSeconds: 0n }],
    ['from_the_future', { answer: 1n, updatedAtSeconds: 1_800_000_001n }],
  ])('is faulty: %s', (fault, bad) => {
    expect(feedValue({ ...rules, round: bad })).toEqual({ fault })
  })

  test('an answer of the very block it is read at is from no future', () => {
    const atBlock = { answer: 1n, updatedAtSeconds: 1_800_000_000n }
    expect(feedValue({ ...rules, round: atBlock })).toMatchObject({ updatedAtMs: 1_800_000_000_000 })
  })

  test('a price that vanishes in 18 digits is no price', () => {
    const dust = { answer: 1n, updatedAtSeconds: 1_799_999_000n }
    expect(feedValue({ ...rules, decimals: 19, round: dust })).toEqual({ fault: 'not_positive' })
  })
})
