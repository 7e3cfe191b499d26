import { getContractAddress } from 'viem'
import { expect, test } from 'vitest'
import { firstCreatedAddress } from './contractAddress.ts'

test('equals the address that a contract with nonce 1 creates', () => {
  for (const digit of '0123456789abcdef') {
    const creator = `0x${digit.repeat(40)}` as const
    expect(firstCreatedAddress(creator)).toBe(getContractAddress({ from: creator, nonce: 1n }).toLowerCase())
  }
})
