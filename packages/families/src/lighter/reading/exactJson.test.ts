// Goal: integers of any size come out as they were written and nothing else of the JSON changes. Method: known
// values, what is no JSON, and any JSON against `JSON.parse`.

import { MalformedAnswerError } from '@causeway/rpc'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseExactJson } from './answers.ts'

test('an integer above 2^53 is exact, wherever it stands', () => {
  expect(parseExactJson('{"a":[9007199254740993,-1],"b":{"c":0}}', 'x')).toEqual({
    a: [9_007_199_254_740_993n, -1n],
    b: { c: 0n },
  })
})

test.each(['"5"', '"a 5, 6"', '"\\"5\\" 6"', '"\\\\"', '1.5', '1e3', 'true', 'null'])(
  '%s is what JSON says',
  (text) => {
    expect(parseExactJson(text, 'x')).toEqual(JSON.parse(text))
  },
)

describe('is refused', () => {
  test.each(['', '{', '[1 2]', '{5:1}', '01', '+1', "'1'", '1n', '{"a":1}}', '"\\u0000x"'])('%s', (text) => {
    expect(() => parseExactJson(text, 'x')).toThrow(MalformedAnswerError)
  })

  test('more than a mebibyte, however it is made', () => {
    for (const part of [' ', '[', '"\\"', '\\"']) {
      expect(() => parseExactJson(part.repeat(2 ** 20), 'x')).toThrow(MalformedAnswerError)
    }
    expect(() => parseExactJson(`"${'\\"'.repeat(2 ** 18)}`, 'x')).toThrow(MalformedAnswerError)
  })
})

test('any JSON is read as JSON.parse does, with integers as bigints', () => {
  const asNumbers = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value, (_name, part) => (typeof part === 'bigint' ? Number(part) : part)))
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(asNumbers(parseExactJson(text, 'x'))).toEqual(JSON.parse(JSON.stringify(JSON.parse(text))))
    }),
  )
})
