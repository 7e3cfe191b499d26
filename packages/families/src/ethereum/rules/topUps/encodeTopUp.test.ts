import { describe, expect, test } from 'vitest'
import { encodeTopUp } from './encodeTopUp.ts'
import { account, custody, token } from './testSupport/calls.ts'

describe('the top-up builder', () => {
  const base = { token, custody, amountMicroUsd: 1n }

  test('marks the sender by the all-zero address when no owner is named', () => {
    const { to, data } = encodeTopUp(base)
    expect(to).toBe(token)
    expect(data).toHaveLength(2 + 2 * 100)
    expect(data.endsWith(`012345abcdef${'0'.repeat(40)}012345abcdef`)).toBe(true)
  })

  test.each([
    [
      'an owner with a wrong checksum',
      { owner: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD'.replace('aA', 'AA') },
    ],
    ['an owner that is no address', { owner: '0x1234' }],
    ['an owner that is a precompile', { owner: account('05', 1) }],
    ['custody as the owner', { owner: custody }],
    ['the token as the owner', { owner: token }],
    ['a token that is no address', { token: 'USDC' }],
    ['a custody that is no address', { custody: '' }],
    ['an amount of nothing', { amountMicroUsd: 0n }],
    ['a negative amount', { amountMicroUsd: -1n }],
    ['an amount that is no uint256', { amountMicroUsd: 2n ** 256n }],
  ])('refuses %s', (_what, change) => {
    expect(() => encodeTopUp({ ...base, ...change })).toThrow(RangeError)
  })

  test.each(['token', 'custody', 'owner'])('names the %s that is no address', (name) => {
    expect(() => encodeTopUp({ ...base, [name]: '0x12' })).toThrow(`the ${name} must be`)
  })
})
