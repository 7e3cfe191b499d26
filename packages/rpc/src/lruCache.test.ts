import { expect, test } from 'vitest'
import { createLruCache } from './lruCache.ts'

test('F-96: holds no more than its size, whatever one value weighs', () => {
  const cache = createLruCache<string>(10, ({ length }) => length)
  const kept = () => [...cache.keys()].sort().join('')
  cache.set('a', 'aaaa')
  cache.set('b', 'bbbb')
  cache.set('a', 'a')
  cache.set('c', 'ccccc')
  expect(kept()).toBe('abc')
  cache.set('d', 'dddddd')
  expect(kept()).toBe('d')
  cache.set('d', 'd'.repeat(11))
  expect(cache.size).toBe(0)
})

test('counts each entry as one where nobody says its size, and drops what was used least recently', () => {
  const cache = createLruCache<number>(2)
  cache.set('a', 1)
  cache.set('b', 2)
  cache.get('a')
  cache.set('c', 3)
  expect([...cache.keys()]).toEqual(['c', 'a'])
})
