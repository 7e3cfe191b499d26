import { describe, expect, test } from 'vitest'
import { RequestFailure } from './failure.ts'
import { parseJsonBody } from './json.ts'

function failureOf(text: string): RequestFailure {
  try {
    parseJsonBody(text)
  } catch (error) {
    if (error instanceof RequestFailure) return error
    throw error
  }
  throw new Error(`accepted: ${text}`)
}

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

test('returns what JSON.parse returns', () => {
  const texts = [
    '{}',
    '[]',
    'null',
    '"a:b"',
    '{"a":1,"b":{"a":[{"a":2}]},"c":"x\\"y:z","d\\\\":"\\\\"}',
    '{"a":"\\\\\\"","b":"ü:€😀","c":"\\ud83d\\ude00","":0}',
    nested(20),
  ]
  for (const text of texts) expect(parseJsonBody(text)).toEqual(JSON.parse(text))
})

test('an empty body and broken JSON are named', () => {
  expect(failureOf('').failure).toBe('empty_body')
  for (const text of ['{', '{"a":1,}', 'nul', '{"a":1}x', "{'a':1}", '\ufeff{}']) {
    expect(failureOf(text).failure).toBe('invalid_json')
  }
})

describe('refused although JSON.parse takes it', () => {
  test.each([
    ['a repeated key', '{"amount":"1","amount":"2"}'],
    ['a repeated key with equal values', '{"a":1,"a":1}'],
    ['a repeated key in an array', '[{"a":{"b":1,"b":2}}]'],
    ['a repeated key spelled with an escape', '{"a":1,"\\u0061":2}'],
    ['__proto__', '{"__proto__":{"admin":true}}'],
    ['__proto__ below', '{"a":[{"__proto__":1}]}'],
    ['__proto__ by escape', '{"__pro\\u0074o__":1}'],
    ['constructor', '{"constructor":{"prototype":{"a":1}}}'],
    ['prototype', '{"a":{"prototype":1}}'],
    ['21 levels', nested(21)],
    ['a deep bomb', nested(30_000)],
    ['a number beyond range', '{"a":1e400}'],
    ['NUL', '{"a":"\\u0000"}'],
    ['half a surrogate pair', '{"a":"\\ud83d"}'],
    ['half a surrogate pair in a key', '{"\\ude00":1}'],
  ])('%s', (_name, text) => {
    expect(failureOf(text).failure).toBe('invalid_request')
    expect(({} as { admin?: boolean }).admin).toBeUndefined()
  })
})
