import { describe, expect, test } from 'vitest'
import { namedOrder } from './namedOrders.ts'

const [first, second] = ['ab', 'cd'].map((byte) => `0x${byte.repeat(32)}`)

describe('texts name', () => {
  test('the one order whose id they hold, however often and in whatever case', () => {
    expect(namedOrder([`order ${first}; thanks`])).toBe(first)
    expect(namedOrder([`${first}`, `0x${'AB'.repeat(32)}`, 'hello'])).toBe(first)
  })

  test.each([
    ['none of two', [`${first}`, `${second}`]],
    ['none of two in one text', [`${first}${second}`]],
    ['none of two that share a digit', [`0x${'ab'.repeat(31)}a${second}`]],
    ['none without an id', [`${first?.slice(2)}`, `${first?.slice(0, -1)}`, '']],
  ])('%s', (_name, texts) => {
    expect(namedOrder(texts)).toBeUndefined()
  })
})
