// Goal: what a wallet signs on Hyperliquid is what the exchange takes and the oracles read, and its nonce is mapped to the very
// order. Who gains by breaking it: whoever has somebody's transfer counted for another order; a user whose dollars have no
// order at all. Method: the published vector of the transfer, viem as the judge of typed data.

import { hyperliquidCodec } from '@causeway/core/encodings'
import { hashTypedData } from 'viem'
import { describe, expect, test } from 'vitest'
import type { OriginRoute } from '../../../rules/originRoute.ts'
import {
  depositNonce,
  hyperliquidAmount,
  hyperliquidAsset,
  hyperliquidQuoting,
  hyperliquidStepData,
} from './hyperliquidQuoting.ts'

const order = '0x3066f8a2439e215c99a81077465f375dd7cbf90eb2d7c24b91e2bf1be7b595a4' as const
const user = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
const depository = '0x865eb9baa5492cef598adf7afb1038654fcb7081'
const native = hyperliquidCodec.nativeCurrency
const usdcToken = '0x6d1e7cde53ba9467b783cb7c530ce054'
const settings = { chainId: 1337, chainKey: 'hyperliquid', codec: hyperliquidCodec, depository }
const quoting = hyperliquidQuoting.bind(settings)
const deadlineSeconds = 1_761_563_890
const identity = {
  requestId: `0x${'11'.repeat(32)}` as const,
  orderId: order,
  deadlineSeconds,
  depositAddress: undefined,
}

function routeOf(currency: string = native, change: Partial<OriginRoute> = {}): OriginRoute {
  const currencyIn = {
    address: currency,
    isNative: currency === native,
    resetsAllowance: false,
    symbol: 'USDC',
    decimals: 8,
  }
  return {
    user,
    recipient: user,
    by: 'deposit',
    currencyIn,
    currencyOut: currencyIn,
    amountIn: 1_000_000_000n,
    amountInMax: 1_000_000_000n,
    amountOut: 1n,
    amountOutMin: 1n,
    swap: undefined,
    deposited: undefined,
    ...change,
  }
}

const fees = {
  costOf: () => 0n,
  gasOf: () => undefined,
  rentOf: () => 0n,
  leastPayment: () => 0n,
  equals: () => true,
}

function stepOf(route: OriginRoute) {
  const [planned, ...more] = quoting.plan(route, { allowance: undefined })
  if (planned === undefined || more.length > 0) throw new Error('a deposit is one transfer')
  return {
    data: hyperliquidStepData.parse(quoting.encode(planned, route, { identity, fees }).data),
    authorization: quoting.authorization?.(planned, route, identity),
  }
}

describe('a deposit', () => {
  test('is a transfer of dollars between perps accounts, whose digest is the published one', () => {
    const { data } = stepOf(routeOf())
    const { parameters } = data.action
    expect(parameters).toEqual({
      hyperliquidChain: 'Mainnet',
      destination: depository,
      sourceDex: '',
      destinationDex: '',
      token: `USDC:${usdcToken}`,
      amount: '10.000000',
      fromSubAccount: '',
      nonce: depositNonce(order, deadlineSeconds),
    })
    const types = { [data.eip712PrimaryType]: data.eip712Types[data.eip712PrimaryType] ?? [] }
    const domain = {
      name: 'HyperliquidSignTransaction',
      version: '1',
      chainId: 1,
      verifyingContract: `0x${'0'.repeat(40)}` as const,
    }
    const message = { ...parameters, nonce: 1_761_563_890_702n }
    expect(hashTypedData({ domain, types, primaryType: data.eip712PrimaryType, message })).toBe(
      '0x9f2435f61d6ad9dd5cd01a2562ce4f821af2fbbf44ca0f060eac50bdc71547aa',
    )
  })

  test('of other dollars is of their own part of an account', () => {
    expect(stepOf(routeOf(usdcToken)).data.action.parameters).toMatchObject({
      sourceDex: 'spot',
      destinationDex: 'spot',
      token: `USDC:${usdcToken}`,
      amount: '10.00000000',
    })
    expect(stepOf(routeOf(`${usdcToken}78797a`)).data.action.parameters).toMatchObject({
      sourceDex: 'xyz',
      destinationDex: 'xyz',
      token: `USDC:${usdcToken}`,
    })
  })

  test('comes behind a signature that maps its nonce to the order', () => {
    const { authorization, data } = stepOf(routeOf())
    const wallet = user.toLowerCase()
    const mapping = { wallet, depositor: wallet, nonce: data.nonce, id: order }
    expect(authorization).toMatchObject({
      sign: {
        signatureKind: 'eip712',
        domain: { name: 'RelayNonceMapping', version: '2', chainId: 1 },
        primaryType: 'NonceMapping',
        value: { chainId: 'hyperliquid', ...mapping },
      },
      post: {
        endpoint: '/authorize',
        method: 'POST',
        body: { type: 'nonce-mapping', walletChainId: 1337, ...mapping, signatureChainId: 1 },
      },
    })
  })

  test('F-156: has a nonce of milliseconds that follows from its order', () => {
    const nonce = depositNonce(order, deadlineSeconds)
    expect(nonce - deadlineSeconds * 1_000).toBe(Number(BigInt(order) % 1_000n))
    expect(depositNonce(`0x${'22'.repeat(32)}`, deadlineSeconds)).not.toBe(nonce)
  })
})

test('an amount is written in places that the exchange moves, exactly', () => {
  const dollars = { address: native, isNative: true, resetsAllowance: false }
  expect(hyperliquidAmount(dollars, 123_456_789_000n)).toBe('1234.567890')
  expect(() => hyperliquidAmount(dollars, 1_050n)).toThrow(RangeError)
  expect(hyperliquidAmount({ ...dollars, isNative: false, decimals: 2 }, 1_050n)).toBe('10.50')
  expect(quoting.granularity?.({ isNative: true })).toBe(100n)
  expect(quoting.granularity?.({ isNative: false })).toBe(1n)
})

test('a token without a name is not sent', () => {
  const nameless = { address: usdcToken, isNative: false, resetsAllowance: false }
  expect(() => hyperliquidAsset(nameless)).toThrow('no symbol')
})

test('what users would do alone is planned, for its price, and not encoded', () => {
  const route = routeOf(native, { by: 'send' })
  const [planned] = quoting.plan(route, { allowance: undefined })
  if (planned === undefined) throw new Error('it is planned')
  expect(planned.kind).toBe('send-input')
  expect(() => quoting.encode(planned, route, { identity, fees })).toThrow('send-input')
  expect(quoting.authorization?.(planned, route, identity)).toBeUndefined()
  expect(() => quoting.plan(routeOf(native, { by: 'permit2' }), { allowance: undefined })).toThrow('permit2')
})

describe('a way in', () => {
  const kindsOf = (change: Partial<OriginRoute>, currency?: string) =>
    quoting.plan(routeOf(currency, change), { allowance: undefined })

  test.each(['deposit', 'deposit-transfer'] as const)(
    '%s is one transfer, of dollars or of a token',
    (by) => {
      expect(kindsOf({ by })).toEqual([{ kind: 'deposit', isNative: true }])
      expect(kindsOf({ by }, usdcToken)).toEqual([{ kind: 'deposit', isNative: false }])
    },
  )

  test.each(['deposit', 'deposit-transfer'] as const)('%s has no swap before it', (by) => {
    const { currencyIn } = routeOf()
    const swap = { trade: 'exactInput', from: currencyIn, hops: [], ticksCrossed: 0 } as const
    expect(() => kindsOf({ by, swap })).toThrow(`by ${by}`)
  })

  test('without an order is neither stated nor sent', () => {
    const planned = { kind: 'deposit', isNative: true } as const
    const nameless = { ...identity, orderId: undefined }
    expect(() => quoting.encode(planned, routeOf(), { identity: nameless, fees })).toThrow('no deposit')
    expect(quoting.authorization?.(planned, routeOf(), nameless)).toBeUndefined()
  })

  test('is stated for a chain that has a name', () => {
    const { chainKey: _chainKey, ...unnamed } = settings
    const { authorization } = hyperliquidQuoting.bind(unnamed)
    const planned = { kind: 'deposit', isNative: true } as const
    expect(() => authorization?.(planned, routeOf(), identity)).toThrow('the chain has no name')
  })

  test('has the nonce that its transfer must have', () => {
    const nonce = depositNonce(order, deadlineSeconds)
    expect(quoting.transferNonce?.({ orderId: order, deadlineSeconds })).toBe(nonce)
  })
})

test('nobody is zero or dead, in any spelling, and everybody else can sign', () => {
  const nobodies = [`0x${'0'.repeat(40)}`, `0x${'0'.repeat(36)}dEaD`, user]
  expect(nobodies.map(quoting.isNobody)).toEqual([true, true, false])
  expect(quoting.canSign(user)).toBe(true)
  expect(quoting.hexAddress(user)).toBe(user.toLowerCase())
})
