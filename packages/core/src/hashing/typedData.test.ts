import { hashMessage } from 'viem'
import { expect, test } from 'vitest'
import { AbiReader } from './abiReader.ts'
import { bytesToHex, hexToBytes } from './hexBytes.ts'
import { personalMessageDigest } from './typedData.ts'
import { viemLibrary } from './viemLibrary.ts'

const hash = hexToBytes(`0x${'12'.repeat(32)}`)

test('the digest of a personal message equals viem’s, for 32 bytes alone', () => {
  expect(bytesToHex(personalMessageDigest(hash))).toBe(hashMessage({ raw: hash }))
  for (const length of [31, 0])
    expect(() => personalMessageDigest(hash.subarray(0, length))).toThrow(RangeError)
})

test('viem is loaded once', () => {
  expect(viemLibrary()).toBe(viemLibrary())
  expect(viemLibrary().keccak256).toBeTypeOf('function')
})

test('an encoding is read in its order, and nothing is beyond its end', () => {
  const word = (digits: string) => digits.padStart(64, '0')
  const text = Buffer.from('ä').toString('hex')
  const reader = new AbiReader(
    hexToBytes(`0x${word('ff')}${word('')}${word('5')}${word('2')}${text.padEnd(64, '0')}${word('7')}`),
  )
  expect(reader.word()).toBe(`0x${word('ff')}`)
  expect(reader.skipWords(1).uint()).toBe(5n)
  expect(reader.text()).toBe('ä')
  expect(reader.isDone).toBe(false)
  expect(reader.address()).toBe(`0x${'7'.padStart(40, '0')}`)
  expect(reader.isDone).toBe(true)
  expect(reader.uint()).toBe(0n)
  expect(reader.isDone).toBe(false)
})
