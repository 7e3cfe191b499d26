import { checksumAddress } from '@causeway/core/encodings'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseAddressList, parseCasedAddress } from './parseCasedAddress.ts'

const anyAddress = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}` as const)
const vitalik = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
const one = `0x${'1'.repeat(40)}`
const two = `0x${'2'.repeat(40)}`

describe('O-1: an address that a person typed', () => {
  test('is taken in one case, or with the right checksum', () => {
    fc.assert(
      fc.property(anyAddress, (address) => {
        const upper = `0x${address.slice(2).toUpperCase()}`
        for (const spelling of [address, upper, checksumAddress(address)])
          expect(parseCasedAddress(spelling)).toBe(address)
      }),
    )
  })

  test.each([
    ['a letter in the other case', vitalik.replace('dA', 'da')],
    ['a digit too few', one.slice(0, -1)],
    ['a digit too many', `${one}1`],
    ['something before it', ` ${one}`],
    ['no 0x', one.slice(2)],
    ['a letter that is no digit', `0x${'g'.repeat(40)}`],
  ])('is none with %s', (_what, text) => {
    expect(parseCasedAddress(text)).toBeUndefined()
  })

  test('is known by its published checksum', () => {
    expect(parseCasedAddress(vitalik)).toBe(vitalik.toLowerCase())
  })
})

describe('a setting that lists addresses', () => {
  test('names each once, in lower case', () => {
    const accounts = parseAddressList('PAYERS', `${one};${vitalik};${vitalik.toLowerCase()}`)
    expect([...accounts]).toEqual([one, vitalik.toLowerCase()])
    expect(parseAddressList('PAYERS', undefined).size).toBe(0)
  })

  test.each([
    ['no address', 'abc', 'PAYERS', 'is no address'],
    ['the zero address', `0x${'0'.repeat(40)}`, 'PAYERS', 'is the zero address'],
  ])('with %s is refused, and the entry is named', (_what, entry, setting, problem) => {
    expect(() => parseAddressList(setting, `${two};${entry}`)).toThrow(problem)
    expect(() => parseAddressList(setting, `${two};${entry}`)).toThrow(setting)
  })
})
