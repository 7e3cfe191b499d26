// Goal: each family says of itself what it can do, and pricing believes it: a call that no fill can run, or a payment to
// code that loses it, would cost the user or the solver the amount.

import { codecOf, tronAddress, type VmType, vmTypes } from '@causeway/core/encodings'
import { describe, expect, test } from 'vitest'
import { BitcoinFees } from '../bitcoin/rules/quoting/bitcoinFees.ts'
import { EthereumFees } from '../ethereum/rules/quoting/ethereumFees.ts'
import { type GasShape, gasShapes } from '../ethereum/rules/quoting/gasUnits.ts'
import { FlatFees } from '../rules/flatFees.ts'
import type { NetworkFees } from '../rules/networkFees.ts'
import type { ChainQuoting, ChainSettings } from '../rules/quotingFamily.ts'
import { SolanaFees } from '../solana/rules/quoting/solanaFees.ts'
import { TronFees, usualTokenEnergy } from '../tron/rules/quoting/tronFees.ts'
import { families } from './families.ts'

const accounts: Readonly<Record<VmType, string>> = {
  'ethereum-vm': `0x${'1'.repeat(40)}`,
  'solana-vm': 'AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9',
  'bitcoin-vm': 'bc1qzmtn0q92ayejt2hpffvlktcpmyy7vvsd06sefu',
  'tron-vm': 'TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN',
  'lighter-vm': '12',
  'hyperliquid-vm': `0x${'1'.repeat(40)}`,
}
const currencies: Partial<Record<VmType, string>> = {
  'solana-vm': 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  'tron-vm': 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
}

function quotingOf(vmType: VmType): ChainQuoting {
  const { quoting } = families[vmType]
  if (quoting === undefined) throw new Error('every family is quoted')
  const settings: ChainSettings = {
    chainId: 1,
    chainKey: 'chain',
    codec: codecOf({ vmType, network: undefined }),
    depository: accounts[vmType],
    depositRouter: accounts[vmType],
  }
  return quoting.bind(settings)
}

const routeOf = (vmType: VmType) => {
  const { nativeCurrency } = codecOf({ vmType, network: undefined })
  const currency = {
    address: currencies[vmType] ?? nativeCurrency,
    isNative: currencies[vmType] === undefined,
    resetsAllowance: false,
  }
  return {
    user: accounts[vmType],
    recipient: accounts[vmType],
    by: 'deposit',
    currencyIn: currency,
    currencyOut: currency,
    amountIn: 100n,
    amountInMax: 100n,
    amountOut: 1n,
    amountOutMin: 1n,
    swap: undefined,
    deposited: { currency, amount: 100n },
  } as const
}

const those = (has: (quoting: ChainQuoting, vmType: VmType) => boolean) =>
  vmTypes.filter((vmType) => has(quotingOf(vmType), vmType)).toSorted()

describe('the families', () => {
  test.each<[string, (quoting: ChainQuoting, vmType: VmType) => boolean, readonly VmType[]]>([
    ['whose fills run calls', ({ runsCalls }) => runsCalls, ['ethereum-vm']],
    ['that pay no tokens to accounts with code', ({ paysTokensToCode }) => !paysTokensToCode, ['solana-vm']],
    ['whose users may execute alone', ({ tellsCallsApart }) => tellsCallsApart, ['ethereum-vm']],
    ['under whose chains an order names its solver', ({ namesSolvers }) => namesSolvers, ['ethereum-vm']],
    ['whose accounts have two sides', ({ keepsSides }) => keepsSides === true, ['hyperliquid-vm']],
    [
      'whose deposits are stated by a signature',
      ({ authorization }) => authorization !== undefined,
      ['hyperliquid-vm'],
    ],
    [
      'whose amounts of coin have a step',
      ({ granularity }) =>
        granularity?.({ isNative: true }) === 100n && granularity({ isNative: false }) === 1n,
      ['hyperliquid-vm'],
    ],
    [
      'whose transfers have a nonce, of the deadline and the order',
      ({ transferNonce }) => transferNonce?.({ orderId: '0x03e9', deadlineSeconds: 2 }) === 2_001,
      ['hyperliquid-vm'],
    ],
    [
      'whose accounts are 20 bytes',
      ({ hexAddress }, vmType) => {
        try {
          return /^0x[0-9a-f]{40}$/.test(hexAddress(accounts[vmType]))
        } catch {
          return false
        }
      },
      ['ethereum-vm', 'hyperliquid-vm', 'tron-vm'],
    ],
    [
      'whose price depends on balances',
      ({ touched }, vmType) => touched({ ...routeOf(vmType), by: 'swap', deposited: [] }).length > 0,
      ['ethereum-vm'],
    ],
  ])('%s', (_what, has, expected) => {
    expect(those(has)).toEqual(expected)
  })

  test('that have no swap at a deposit address refuse one, and say so', () => {
    const refusing = those(({ encodeAddressSwap, addressSwap }, vmType) => {
      if (addressSwap(routeOf(vmType)) !== undefined) return false
      const swap = { tokenIn: '0x', amountIn: 1n, tokenOut: '0x', amountOutMin: 1n, hops: [] } as const
      try {
        encodeAddressSwap(swap, { amountIn: 1n, deadlineSeconds: 1 })
        return false
      } catch (error) {
        return error instanceof Error && error.message.includes('this family')
      }
    })
    expect(refusing).toEqual(['bitcoin-vm', 'hyperliquid-vm', 'lighter-vm', 'solana-vm', 'tron-vm'])
  })
})

test.each<VmType>(['solana-vm', 'bitcoin-vm', 'lighter-vm'])(
  'accounts of %s have no 20 bytes, and it says so',
  (vmType) => {
    expect(() => quotingOf(vmType).hexAddress(accounts[vmType])).toThrow('no 20 bytes')
  },
)

describe('an allowance', () => {
  const needing = (kind: 'deposit' | 'swap-deposit' | 'swap' | 'permit2', isNative: boolean) =>
    those(
      ({ spenderOf }) => spenderOf(kind, { address: '0x', isNative, resetsAllowance: false }) !== undefined,
    )

  test.each([
    ['deposit', ['ethereum-vm', 'tron-vm']],
    ['swap-deposit', ['ethereum-vm']],
    ['swap', ['ethereum-vm']],
    ['permit2', ['ethereum-vm']],
  ] as const)(
    'for a %s of a token is needed where contracts take it, and never for coin',
    (kind, expected) => {
      expect(needing(kind, false)).toEqual(expected)
      expect(needing(kind, true)).toEqual([])
    },
  )

  test('for Permit2 is that of its own contract', () => {
    const token = { address: '0x', isNative: false, resetsAllowance: false }
    expect(quotingOf('ethereum-vm').spenderOf('permit2', token)).toBe(
      '0x000000000022d473030f116ddee9f6b43ac78ba3',
    )
  })
})

describe('the largest amount that a transaction carries', () => {
  test.each<[VmType, bigint, bigint]>([
    ['ethereum-vm', 2n ** 256n - 1n, 2n ** 256n - 1n],
    ['solana-vm', 2n ** 64n - 1n, 2n ** 64n - 1n],
    ['bitcoin-vm', 2_100_000_000_000_000n, 2_100_000_000_000_000n],
    ['tron-vm', 2n ** 53n - 1n, 2n ** 256n - 1n],
    ['lighter-vm', 2n ** 53n - 1n, 2n ** 53n - 1n],
    ['hyperliquid-vm', 2n ** 64n - 1n, 2n ** 64n - 1n],
  ])('on %s', (vmType, coin, token) => {
    const { amountMax } = quotingOf(vmType)
    expect([amountMax({ isNative: true }), amountMax({ isNative: false })]).toEqual([coin, token])
  })
})

describe('accounts that nobody may pay', () => {
  test.each<[VmType, string, string]>([
    ['solana-vm', 'SysvarC1ock11111111111111111111111111111111', 'a sysvar of the cluster'],
    ['solana-vm', 'Stake11111111111111111111111111111111111111', 'a program of the cluster'],
    ['tron-vm', 'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy', 'an account whose coin is burnt'],
    ['tron-vm', tronAddress(`0x${'0'.repeat(33)}1ffffff`), 'a precompile'],
    ['hyperliquid-vm', `0x20${'00'.repeat(15)}0000abcd`, 'a system address of the exchange'],
    ['hyperliquid-vm', `0x${'22'.repeat(20)}`, 'a system address of the exchange'],
    ['hyperliquid-vm', `0x${'0'.repeat(39)}1`, 'a precompile, or a contract of the network itself'],
  ])('of %s: %s', (vmType, account, description) => {
    expect(families[vmType].quoting?.reserved(account)).toBe(description)
  })

  test.each<[VmType, string]>([
    ...vmTypes.map((vmType): [VmType, string] => [vmType, accounts[vmType]]),
    ['solana-vm', 'SysvarC1ock1111111111'],
    ['tron-vm', 'no address'],
    ['tron-vm', tronAddress(`0x${'0'.repeat(33)}2000000`)],
    ['hyperliquid-vm', `0x20${'00'.repeat(14)}010000abcd`],
    ['hyperliquid-vm', `0x20${'00'.repeat(15)}0000abcd0`],
    ['hyperliquid-vm', `0x${'22'.repeat(20)}22`],
    ['hyperliquid-vm', `10x${'22'.repeat(20)}`],
  ])('but not of %s: %s', (vmType, account) => {
    expect(families[vmType].quoting?.reserved(account)).toBeUndefined()
  })
})

describe('whoever is asked for', () => {
  test.each<[VmType, string]>([
    ['ethereum-vm', `0x${'0'.repeat(40)}`],
    ['solana-vm', '11111111111111111111111111111111'],
    ['bitcoin-vm', '34xp4vRoCGJym3xR7yCVPFHoCNxv4Twseo'],
    ['tron-vm', 'THa7BwoPfacfiELa63pbmm3g5PGKYmtJyt'],
    ['lighter-vm', `0x${'0'.repeat(36)}dEaD`],
    ['hyperliquid-vm', `0x${'0'.repeat(36)}dEaD`],
  ])('on %s, %s is nobody, and a wallet is somebody who can sign', (vmType, nobody) => {
    const { isNobody, canSign } = quotingOf(vmType)
    expect([nobody, accounts[vmType]].map(isNobody)).toEqual([true, false])
    expect(canSign(accounts[vmType])).toBe(true)
  })

  test('is no program of Solana, which has no key', () => {
    expect(quotingOf('solana-vm').canSign('7uTT8Xi5RWXzy7h9XL244GRgEycDYDhLjr3ZyNdXi8pZ')).toBe(false)
  })
})

describe('a deposit names its order in what the user signs, or in a signature before it', () => {
  const zero = Object.fromEntries(gasShapes.map((shape) => [shape, 0n]))
  const perShape = zero as Record<GasShape, bigint> // CAST: filled from the closed list of shapes.
  const fees: Readonly<Record<VmType, NetworkFees>> = {
    'ethereum-vm': new EthereumFees({
      gasPrice: { expectedWei: 1n, maxFeePerGasWei: 2n, maxPriorityFeePerGasWei: 1n },
      gasUnits: perShape,
      l1DataFeeWei: perShape,
    }),
    'solana-vm': new SolanaFees({
      lamportsPerSignature: 1n,
      microLamportsPerUnit: 1n,
      rentLamportsPerByte: 1n,
    }),
    'bitcoin-vm': new BitcoinFees({ satPerKvb: 0n }),
    'tron-vm': new TronFees({ sunPerEnergy: 1n, sunPerByte: 1n, tokenEnergy: usualTokenEnergy }),
    'lighter-vm': new FlatFees({ transferFee: 1n }),
    'hyperliquid-vm': new FlatFees({ transferFee: 1n }),
  }
  const orderId = `0x${'3f'.repeat(32)}` as const
  const identity = { requestId: orderId, orderId, deadlineSeconds: 1_000, depositAddress: undefined }
  const spendable = [
    { txid: 'aa'.repeat(32), vout: 0, value: 1_000n, script: '0x', transaction: '0x' },
  ] as const

  test.each(vmTypes)('on %s', (vmType) => {
    const quoting = quotingOf(vmType)
    const route = { ...routeOf(vmType), amountIn: 100n }
    const planned = quoting.plan(route, { allowance: 100n, spendable, fees: fees[vmType] })
    expect(planned.map(({ kind }) => kind)).toEqual(['deposit'])
    const [deposit] = planned
    if (deposit === undefined) throw new Error('one is planned')
    const { data } = quoting.encode(deposit, route, { identity, fees: fees[vmType] })
    const stated = quoting.authorization?.(deposit, route, identity)
    // Bitcoin's outputs have the id as text.
    const named = [orderId.slice(2), Buffer.from(orderId).toString('hex')]
    const written = JSON.stringify([data, stated ?? {}])
    expect(named.some((text) => written.includes(text))).toBe(true)
  })
})

test('the files name accounts of 20 bytes by their hex, in the families that have them', () => {
  const spelled = vmTypes.map((vmType) => [vmType, families[vmType].hexAddress?.(accounts[vmType])])
  expect(Object.fromEntries(spelled)).toEqual({
    'ethereum-vm': `0x${'1'.repeat(40)}`,
    'tron-vm': '0xf0623e1012177482912fb057e44e1a9769b1f588',
  })
})
