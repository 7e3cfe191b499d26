import { expect, test } from 'vitest'
import { LruCache } from './lruCache.ts'

test('drops what was used least recently, and never holds more than its number', () => {
  const cache = new LruCache<number>(2)
  cache.set('a', 1)
  cache.set('b', 2)
  expect(cache.get('a')).toBe(1)
  cache.set('c', 3)
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3])
  expect(cache.size).toBe(2)
})

test('keeps one entry per key, with the newest value', () => {
  const cache = new LruCache<number>(2)
  for (let value = 0; value < 5; value += 1) cache.set('a', value)
  expect([cache.get('a'), cache.size]).toEqual([4, 1])
})

test('F-96: holds no more than its weight, whatever one value weighs', () => {
  const cache = new LruCache<string>(10, ({ length }) => length)
  cache.set('a', 'aaaa')
  cache.set('b', 'bbbb')
  cache.set('a', 'a')
  cache.set('c', 'ccccc')
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual(['a', 'bbbb', 'ccccc'])
  cache.set('d', 'dddddd')
  expect([cache.get('a'), cache.get('b'), cache.get('c'), cache.get('d')]).toEqual([
    ...[undefined, undefined, undefined, 'dddddd'],
  ])
  cache.set('e', 'e'.repeat(11))
  expect(cache.size).toBe(0)
})
