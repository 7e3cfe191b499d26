import type { Hex } from '@causeway/core'
import { checksumAddress } from '@causeway/core/encodings'

/**
 * Encoder and decoder of a Solidity type whose ABI form is one word of 32 bytes, given as 64 hex digits without `0x`.
 * Values are those of viem. A word with wrong padding or a value out of range is refused, as Solidity does; viem
 * accepts some of those.
 */
export type WordType = {
  /** @throws RangeError for what does not fit */
  readonly write: (value: unknown) => string
  /** @throws RangeError for what is no value of the type */
  readonly read: (word: string) => unknown
}

const wordDigits = 64
/** Integers of up to so many bits are numbers, larger ones bigints, as in viem. */
const numberBitsMax = 48
const wordLimit = 2n ** 256n
const hexPattern = /^0x[0-9a-fA-F]*$/

/** @returns undefined for a type that takes more than one word: lists, tuples, `string` and `bytes` */
export function wordTypeOf(type: string): WordType | undefined {
  if (type === 'address') return address
  if (type === 'bool') return bool
  const [, kind, size = ''] = /^(uint|int|bytes)(\d+)$/.exec(type) ?? []
  if (kind === undefined) return undefined
  return kind === 'bytes' ? bytesOf(Number(size)) : integerOf(Number(size), kind === 'int')
}

const address: WordType = {
  write: (value) => digitsOf(value, 20).padStart(wordDigits, '0'),
  read: (word) => checksumAddress(`0x${unpadded(word.slice(-40), word.slice(0, -40))}`),
}

const bool: WordType = {
  write(value) {
    if (typeof value !== 'boolean') throw new RangeError('a bool must be true or false')
    return (value ? '1' : '0').padStart(wordDigits, '0')
  },
  read(word) {
    const value = BigInt(`0x${word}`)
    if (value > 1n) throw new RangeError('a bool must be 0 or 1')
    return value === 1n
  },
}

function bytesOf(size: number): WordType {
  return {
    write: (value) => digitsOf(value, size).padEnd(wordDigits, '0'),
    read: (word) => `0x${unpadded(word.slice(0, 2 * size), word.slice(2 * size))}`,
  }
}

function integerOf(bits: number, isSigned: boolean): WordType {
  const end = 2n ** BigInt(isSigned ? bits - 1 : bits)
  const least = isSigned ? -end : 0n
  return {
    write(value) {
      if (typeof value !== 'bigint' && typeof value !== 'number')
        throw new RangeError('an integer is missing')
      // Throws RangeError for a fraction.
      const integer = BigInt(value)
      if (integer < least || integer >= end) throw new RangeError(`the integer has more than ${bits} bits`)
      return (integer < 0n ? integer + wordLimit : integer).toString(16).padStart(wordDigits, '0')
    },
    read(word) {
      const unsigned = BigInt(`0x${word}`)
      const integer = isSigned ? BigInt.asIntN(256, unsigned) : unsigned
      if (integer < least || integer >= end) throw new RangeError(`the integer has more than ${bits} bits`)
      return bits > numberBitsMax ? integer : Number(integer)
    },
  }
}

const zeros = /^0*$/

function unpadded(digits: string, padding: string): string {
  if (!zeros.test(padding)) throw new RangeError('a word is not padded with zeros')
  return digits.toLowerCase()
}

/** Hex digits of exactly `size` bytes, lower case. */
function digitsOf(value: unknown, size: number): string {
  if (typeof value !== 'string' || value.length !== 2 + 2 * size || !hexPattern.test(value))
    throw new RangeError(`an argument must be 0x and ${size} bytes of hex`)
  return value.slice(2).toLowerCase()
}

/** Encodes one value for each type, without `0x`. @throws RangeError for a wrong number of values or a value out of range */
export function writeWords(types: readonly WordType[], values: readonly unknown[]): string {
  if (values.length !== types.length) throw new RangeError(`${types.length} arguments, not ${values.length}`)
  return types.map((type, index) => type.write(values[index])).join('')
}

/** Decodes the words and ignores data after the last one. @throws RangeError where words are missing */
export function readWords(types: readonly WordType[], data: Hex): readonly unknown[] {
  const end = 2 + types.length * wordDigits
  if (data.length < end) throw new RangeError(`${types.length} words, not ${data.length - 2} digits`)
  if (!hexPattern.test(data.slice(0, end))) throw new RangeError('what was returned is no hex')
  return types.map((type, index) =>
    type.read(data.slice(2 + index * wordDigits, 2 + (index + 1) * wordDigits)),
  )
}
