import { describe, expect, test } from 'vitest'
import { addressesOf, localAddressesOf } from './localAddresses.ts'

const depository = `0x${'d1'.repeat(20)}`
const multicall3 = '0xca11bde05977b3631167028862be2a173976ca11'

describe('addresses of the local network', () => {
  test('are found anywhere in the files, whatever their case', () => {
    const local = localAddressesOf({
      chains: { chains: [{ depository }] },
      hub: { hubAddress: `0x${'EE'.repeat(20)}` },
      quote: { chains: { base: { wrappedNative: `0x${'c0'.repeat(20)}` } } },
    })
    expect([...local]).toEqual([depository, `0x${'ee'.repeat(20)}`, `0x${'c0'.repeat(20)}`])
  })

  test('leave out what every chain has at the same address', () => {
    expect(
      localAddressesOf({ chains: { multicall3 }, hub: {}, quote: { native: `0x${'0'.repeat(40)}` } }).size,
    ).toBe(0)
  })

  test('are not mistaken for parts of longer values', () => {
    expect(addressesOf({ id: `0x${'ab'.repeat(32)}` })).toEqual([])
  })
})
