// Goal: a recording differs where an answer differs, and nowhere else. Method: exchanges by hand.
import { describe, expect, test } from 'vitest'
import { layOut } from './support/answerFiles.ts'
import { normalise } from './support/normalise.ts'

const nowMs = Date.parse('2026-01-02T03:04:05.000Z')
const known = `0x${'11'.repeat(20)}`
const plain = { literals: new Set([known]), names: new Map<string, string>(), nowMs }
const id = (byte: string) => `0x${byte.repeat(32)}`

describe('what differs from run to run', () => {
  test('has a placeholder, one for each value, in order of appearance', () => {
    const value = { requestId: id('aa'), orderId: id('bb'), again: id('AA'), by: `0x${'cd'.repeat(65)}` }
    expect(normalise(value, plain)).toEqual({
      requestId: '<id 1>',
      orderId: '<id 2>',
      again: '<id 1>',
      by: '<signature 1>',
    })
  })

  test('is found inside calldata and texts as well', () => {
    const data = `0xe8017952${'0'.repeat(64)}${id('ab').slice(2)}`
    expect(normalise({ orderId: id('ab'), data, path: `/v3?id=${id('ab')}` }, plain)).toEqual({
      orderId: '<id 1>',
      data: `0xe8017952${'0'.repeat(64)}<id 1>`,
      path: '/v3?id=<id 1>',
    })
  })

  test('has the name that the scenario gives it', () => {
    const names = new Map([[id('ee'), 'request of a fill']])
    expect(normalise([id('ee')], { ...plain, names })).toEqual(['<request of a fill>'])
  })

  test.each<[string, object, object]>([
    ['a moment', { createdAt: '2026-01-02T03:04:04.123Z' }, { createdAt: '<now>' }],
    ['a minute from now', { expiresAt: nowMs / 1_000 + 59 }, { expiresAt: '<in 60 s>' }],
    ['an hour from now, in milliseconds', { deadline: nowMs + 3_600_000 }, { deadline: '<in 3600 s>' }],
    ['a moment in a text', { message: 'At 2026-01-02T03:04:05.000Z.' }, { message: 'At <now>.' }],
    ['the endpoint of a node', { from: '127.0.0.1:4567#1' }, { from: '<endpoint>#1' }],
    ['a block', { block: '77', blockNumber: '78' }, { block: '<block>', blockNumber: '<block>' }],
  ])('%s', (_name, value, shown) => {
    expect(normalise(value, plain)).toEqual(shown)
  })

  test('a moment in calldata, at any offset', () => {
    const seconds = (nowMs / 1_000 + 60).toString(16).padStart(64, '0')
    const data = `0xe801795212345678${'1'.repeat(128)}${seconds}ff`
    expect(normalise({ data }, plain)).toEqual({
      data: `0xe801795212345678${'1'.repeat(128)}${'0'.repeat(56)}<in 60 s>ff`,
    })
  })
})

describe('what is the same in every run is kept', () => {
  test.each<[string, object]>([
    ['a known address', { to: known }],
    ['nothing at all', { to: `0x${'0'.repeat(64)}` }],
    ['an amount, whatever it looks like', { amount: String(nowMs / 1_000), minimumAmount: '1767323045' }],
    ['a number', { gas: 21_000, share: 0.5, none: null, isNative: true }],
    ['a time of another year', { deadline: 1_700_000_000 }],
  ])('%s', (_name, value) => {
    expect(normalise(value, plain)).toEqual(value)
  })

  test('and everything is, where answers are exact', () => {
    const value = { onchainId: id('aa'), signature: `0x${'cd'.repeat(65)}` }
    expect(normalise(value, { ...plain, isExact: true })).toEqual(value)
  })

  test('members keep their order', () => {
    expect(Object.keys(Object(normalise({ b: 1, a: 2 }, plain)))).toEqual(['b', 'a'])
  })
})

test('an entry is laid out so that one member is one line', () => {
  const short = { a: 1, b: ['x'] }
  expect(layOut(short)).toBe('{"a":1,"b":["x"]}')
  const long = { name: 'x'.repeat(60), other: 'y'.repeat(60), list: [1, 2] }
  expect(layOut(long)).toBe(
    `{\n  "name": "${'x'.repeat(60)}",\n  "other": "${'y'.repeat(60)}",\n  "list": [1,2]\n}`,
  )
})
