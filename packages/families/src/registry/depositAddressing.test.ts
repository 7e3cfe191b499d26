// Goal: a deposit address is paid and swept on the terms of its chain: how long a sweep may take, whether the price
// holds until then, who is credited. Attacks: an order that is paid although no time is left to sweep it.

import { bitcoinNetworkOf, codecOf, type VmType } from '@causeway/core/encodings'
import { describe, expect, test } from 'vitest'
import { scriptAddress } from '../bitcoin/rules/script.ts'
import type { ChainSettings } from '../rules/quotingFamily.ts'
import { families } from './families.ts'

const sweeper = `0x02${'79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'}` as const
const contract = { contract: `0x${'6'.repeat(40)}`, sweepCodeHash: `0x${'c'.repeat(64)}` } as const
const program = '7uTT8Xi5RWXzy7h9XL244GRgEycDYDhLjr3ZyNdXi8pZ'

function addressingOf(vmType: VmType, change: Partial<ChainSettings>, depository = '') {
  const codec = codecOf({ vmType, network: undefined })
  return families[vmType].quoting?.bind({ chainId: 1, codec, depository, ...change }).depositAddresses
}
const onEthereum = () => addressingOf('ethereum-vm', { depositAddresses: contract })
const onSolana = () =>
  addressingOf(
    'solana-vm',
    { depositAddressProgram: program },
    '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2',
  )
const onBitcoin = () => addressingOf('bitcoin-vm', { depositAddressKey: sweeper })

describe('the terms of an address', () => {
  test.each([
    [
      'Ethereum',
      onEthereum,
      { sweepSeconds: 300, leadSeconds: 120, isKeptWhileSwept: false, creditsDepositor: true },
    ],
    [
      'Solana',
      onSolana,
      { sweepSeconds: 300, leadSeconds: 120, isKeptWhileSwept: false, creditsDepositor: true },
    ],
    // Twelve blocks, and a minute for the fill; the depositor waits a month.
    [
      'Bitcoin',
      onBitcoin,
      { sweepSeconds: 7_200, leadSeconds: 7_260, isKeptWhileSwept: true, creditsDepositor: false },
    ],
  ])('on %s', (_family, addressingOn, terms) => {
    expect(addressingOn()).toMatchObject(terms)
  })

  test.each<VmType>(['ethereum-vm', 'solana-vm', 'bitcoin-vm', 'tron-vm', 'lighter-vm', 'hyperliquid-vm'])(
    'are none on a chain of %s that is not set up for them',
    (vmType) => {
      expect(addressingOf(vmType, {})).toBeUndefined()
    },
  )
})

describe('an address on Bitcoin', () => {
  const parties = {
    orderSigner: `0x${'05'.repeat(20)}`,
    fillWallet: 'ignored: the key of the settings sweeps',
    depositor: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    nonce: `0x${'a1'.repeat(32)}`,
  } as const

  test('is swept by the key of the settings, and named in the salt of its orders', () => {
    const made = onBitcoin()?.make(parties)
    const { fillWallet: _fillWallet, ...terms } = parties
    expect(made?.terms).toEqual({ ...terms, sweeper })
    expect(onBitcoin()?.nameOf(made?.address ?? '')).toMatch(/^0x[0-9a-f]{40}$/)
  })

  test('is paid from any wallet: the step names address, amount, and the way back', () => {
    const codec = codecOf({ vmType: 'bitcoin-vm', network: undefined })
    const depository =
      scriptAddress(Uint8Array.from([0, 20, ...new Uint8Array(20)]), bitcoinNetworkOf(undefined)) ?? ''
    const quoting = families['bitcoin-vm'].quoting?.bind({ chainId: 1, codec, depository })
    const currency = { address: codec.nativeCurrency, isNative: true, resetsAllowance: false }
    const route = {
      user: parties.depositor,
      recipient: parties.depositor,
      by: 'pay-address',
      currencyIn: currency,
      currencyOut: currency,
      amountIn: 70_000n,
      amountInMax: 70_000n,
      amountOut: 1n,
      amountOutMin: 1n,
      swap: undefined,
      deposited: { currency, amount: 70_000n },
    } as const
    const planned = quoting?.plan(route, { allowance: undefined }) ?? []
    expect(planned).toEqual([{ kind: 'pay-address', isNative: true }])
    const encoded = (identity: { depositAddress: string | undefined; depositScript?: `0x${string}` }) =>
      quoting?.encode({ kind: 'pay-address', isNative: true }, route, {
        identity: { requestId: parties.nonce, orderId: parties.nonce, deadlineSeconds: 0, ...identity },
        fees: {
          costOf: () => 0n,
          gasOf: () => undefined,
          rentOf: () => 0n,
          leastPayment: () => 0n,
          equals: () => true,
        },
      })
    const address = onBitcoin()?.make(parties)
    expect(encoded({ depositAddress: address?.address, depositScript: '0x51' })).toEqual({
      data: { to: address?.address, value: '70000', script: '0x51' },
      call: undefined,
    })
    expect(encoded({ depositAddress: address?.address })?.data).toStrictEqual({
      to: address?.address,
      value: '70000',
    })
    expect(() => encoded({ depositAddress: undefined })).toThrow('no address to pay')
  })
})
