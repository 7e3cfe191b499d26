// Goal: what follows from a key is found once, and memory stays bounded. Attackers: strangers who choose the keys.
import { expect, test } from 'vitest'
import { getOrCompute } from './remembered.ts'

test('what is known is not found again', () => {
  const known = new Map<string, number>()
  let found = 0
  const find = () => {
    found += 1
    return found
  }
  expect([
    getOrCompute(known, 'a', find),
    getOrCompute(known, 'a', find),
    getOrCompute(known, 'b', find),
  ]).toEqual([1, 1, 2])
})

test.each([
  ['as many as it is told', 100, 100],
  ['twenty thousand by default', undefined, 20_000],
])('no more is kept than %s, whoever asks for what', (_what, max, most) => {
  const known = new Map<string, number>()
  let largest = 0
  for (let key = 0; key < 50_000; key += 1) {
    expect(getOrCompute(known, `${key}`, () => key, max)).toBe(key)
    largest = Math.max(largest, known.size)
  }
  expect(largest).toBe(most)
})

test('what cannot be found is not kept', () => {
  const known = new Map<string, number>()
  const fail = () => {
    throw new RangeError('no such thing')
  }
  expect(() => getOrCompute(known, 'a', fail)).toThrow(RangeError)
  expect(known.size).toBe(0)
})
