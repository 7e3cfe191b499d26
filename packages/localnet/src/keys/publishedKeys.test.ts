import { describe, expect, it } from 'vitest'
import { generateLocalKeys, localAccount } from './generateKeys.ts'
import { keyRoles, rolesWithPublishedKeys } from './publishedKeys.ts'
import { countingKeys } from './testKeys.ts'

describe('published keys', () => {
  it('are found under whatever role they stand', () => {
    const published = localAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
    const keys = generateLocalKeys(countingKeys())
    expect(rolesWithPublishedKeys(keys)).toEqual([])
    const [first, ...users] = keys.users
    if (first === undefined) throw new Error('no user')
    expect(
      rolesWithPublishedKeys({ ...keys, sponsor: published, users: [first, published, ...users] }),
    ).toEqual(['sponsor', 'user 2'])
  })
})

describe('generated keys', () => {
  it('are a different one for every role, at least six users among them', () => {
    const keys = generateLocalKeys(countingKeys())
    const addresses = keyRoles(keys).map(({ account }) => account.address)
    expect(addresses).toHaveLength(16)
    expect(new Set(addresses).size).toBe(16)
    expect(keys.users.length).toBeGreaterThanOrEqual(6)
  })
})
