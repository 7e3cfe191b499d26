import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  type ApiKeyLookup,
  createApiKeys,
  formatApiKey,
  hashApiKey,
  parseApiKey,
  type StoredApiKey,
} from './apiKeyFormat.ts'

const random = Buffer.from(Array.from({ length: 42 }, (_, index) => index))
const key = formatApiKey({ environment: 'test', random })
const pepper = Buffer.alloc(32, 7)

test('a key is written with id, secret and checksum, and read back', () => {
  expect(key).toMatch(/^causeway_test_abcdefghij_CgsMDQ4PEBESExQVFhcYGRobHB0eHyAhIiMkJSYnKCk_[0-9A-Za-z]{6}$/)
  expect(parseApiKey(key)).toEqual({ environment: 'test', keyId: 'abcdefghij' })
  expect(key.length).toBeLessThan(128)
  for (let count = 0; count < 200; count += 1) {
    const fresh = formatApiKey({ environment: 'live', random: randomBytes(42) })
    expect(parseApiKey(fresh)?.environment).toBe('live')
  }
  expect(() => formatApiKey({ environment: 'test', random: Buffer.alloc(41) })).toThrow(RangeError)
})

test('changing any one character makes it no key', () => {
  for (let index = 0; index < key.length; index += 1) {
    const changed = key[index] === 'b' ? 'c' : 'b'
    expect(parseApiKey(key.slice(0, index) + changed + key.slice(index + 1))).toBeUndefined()
  }
  for (const other of ['', key.slice(1), `${key} `, `${key}, ${key}`, 'x'.repeat(10_000)]) {
    expect(parseApiKey(other)).toBeUndefined()
  }
})

const record = { keyId: 'abcdefghij', label: 'mine', scopes: new Set(['quote']) }

function lookupOf(stored: Partial<StoredApiKey> = {}): ApiKeyLookup & { asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    async findByKeyId(keyId) {
      asked.push(keyId)
      return keyId === 'abcdefghij'
        ? { record, hash: hashApiKey(key, pepper), pepperId: 'p1', ...stored }
        : undefined
    },
  }
}

test('finds exactly the stored key', async () => {
  const lookup = lookupOf()
  const keys = createApiKeys({ lookup, peppers: new Map([['p1', pepper]]) })
  expect(await keys.find(key)).toBe(record)
  const sameId = formatApiKey({
    environment: 'test',
    random: Buffer.concat([random.subarray(0, 10), Buffer.alloc(32)]),
  })
  expect(parseApiKey(sameId)?.keyId).toBe('abcdefghij')
  expect(await keys.find(sameId)).toBeUndefined()
  expect(await keys.find(formatApiKey({ environment: 'test', random: randomBytes(42) }))).toBeUndefined()
  expect(lookup.asked).toHaveLength(3)
})

test('Q-140: a secret that differs from the stored one in any byte, as in its last one, is unknown', async () => {
  const keys = createApiKeys({ lookup: lookupOf(), peppers: new Map([['p1', pepper]]) })
  for (let index = 10; index < random.length; index += 1) {
    const other = Buffer.from(random)
    other[index] = 255
    expect(
      await keys.find(formatApiKey({ environment: 'test', random: other })),
      `byte ${index}`,
    ).toBeUndefined()
  }
})

test('what is not a key is never looked up', async () => {
  const lookup = lookupOf()
  const keys = createApiKeys({ lookup, peppers: new Map([['p1', pepper]]) })
  for (const name of [...Object.getOwnPropertyNames(Object.prototype), '', `${key}x`]) {
    expect(await keys.find(name)).toBeUndefined()
  }
  expect(lookup.asked).toEqual([])
})

test('a row under another or unknown pepper does not match', async () => {
  const peppers = new Map([['p1', pepper]])
  const other = createApiKeys({ lookup: lookupOf({ hash: hashApiKey(key, Buffer.alloc(32, 8)) }), peppers })
  expect(await other.find(key)).toBeUndefined()
  const unknown = createApiKeys({ lookup: lookupOf({ pepperId: 'gone' }), peppers })
  expect(await unknown.find(key)).toBeUndefined()
  expect(() => createApiKeys({ lookup: lookupOf(), peppers: new Map() })).toThrow(RangeError)
})
