// Goal: what differs has another text. Adversary: an endpoint whose other balances would count as the same answer.
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from './canonicalJson.ts'

test('what is signed is what RFC 8785 says, byte for byte', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 }), (value) => {
      expect(canonicalJson(value)).toBe(canonicalize(value))
    }),
  )
})

test('what RFC 8785 has no text for has one here: whoever sends it is outvoted', () => {
  for (const value of [{ text: '\ud800' }, JSON.parse('[1e999]')]) {
    expect(() => canonicalize(value)).toThrow()
    expect(() => canonicalJson(value)).not.toThrow()
  }
})

test('members come sorted, and those without a value are left out', () => {
  expect(canonicalJson({ b: [1, null], a: 'x', c: undefined })).toBe('{"a":"x","b":[1,null]}')
})

test('maps and sets differ by what they hold, and by nothing else', () => {
  const held = (amount: string, ...more: [string, string][]) => ({
    held: new Map([['usdc', amount], ...more]),
  })
  expect(canonicalJson(held('1'))).not.toBe(canonicalJson(held('1000000')))
  expect(canonicalJson(held('1'))).not.toBe(canonicalJson({ held: new Map() }))
  expect(canonicalJson(held('1'))).not.toBe(canonicalJson(held('1', ['tide', '2'])))
  expect(canonicalJson(new Set(['a']))).not.toBe(canonicalJson(new Set(['b'])))
  const [one, other] = [
    new Map([
      ['a', 1],
      ['b', 2],
    ]),
    new Map([
      ['b', 2],
      ['a', 1],
    ]),
  ]
  expect(canonicalJson(one)).toBe(canonicalJson(other))
})

test('a set is the array of its sorted texts, and nothing in an array is null', () => {
  expect(canonicalJson(new Set([23, 1]))).toBe('[1,23]')
  expect(canonicalJson([undefined])).toBe('[null]')
})
