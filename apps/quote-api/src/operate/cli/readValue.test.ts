import { describe, expect, test } from 'vitest'
import { CommandError } from './commandError.ts'
import { readDuration, readUsd, readWallet } from './readValue.ts'

describe('a value', () => {
  test.each([
    ['25', 25_000_000n],
    ['0.05', 50_000n],
    ['0.000001', 1n],
    ['999999999999999.999999', 999_999_999_999_999_999_999n],
  ])('of %s USD is exact', (text, microUsd) => {
    expect(readUsd(text, '--usd')).toBe(microUsd)
  })

  test.each(['', '-1', '1e3', '0.0000001', '1,5', '.5', '5.', ' 5', '1'.repeat(16)])(
    'of %j USD is refused',
    (text) => {
      expect(() => readUsd(text, '--usd')).toThrow(CommandError)
    },
  )

  test.each([
    ['0', 0],
    ['90s', 90],
    ['30m', 1_800],
    ['12h', 43_200],
    ['7d', 604_800],
  ])('of %s is a time', (text, seconds) => {
    expect(readDuration(text, '--overlap')).toBe(seconds)
  })

  test.each(['', '7', '7w', '-1d', '1.5h', 'd'])('of %j is no time', (text) => {
    expect(() => readDuration(text, '--overlap')).toThrow(CommandError)
  })

  test('that is an address with a wrong checksum is refused', () => {
    const wallet = '0x2e988a386a799f506693793c6a5af6b54dfaabfb'
    expect(readWallet(wallet, '<wallet>')).toBe(wallet)
    expect(() => readWallet(wallet.replace('aabfb', 'aaBfb'), '<wallet>')).toThrow(CommandError)
  })
})
