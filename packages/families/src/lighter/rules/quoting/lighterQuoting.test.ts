// Goal: what a wallet is handed is the transfer that the exchange and the oracles expect, and nothing that a number cannot
// hold exactly. Who gains by breaking it: a user who is credited for less than he is quoted; whoever has a deposit read as
// another asset's. Method: vectors by hand, and currencies there and back.

import {
  isLighterPayment,
  lighterAsset,
  lighterCodec,
  lighterCurrency,
  mainNetwork,
} from '@causeway/core/encodings'
import { expect, test } from 'vitest'
import { FlatFees } from '../../../rules/flatFees.ts'
import type { OriginRoute } from '../../../rules/originRoute.ts'
import { SolanaFees } from '../../../solana/rules/quoting/solanaFees.ts'
import { lighterAmountMax, lighterQuoting, lighterStepData } from './lighterQuoting.ts'

const { vmType } = mainNetwork('lighter-vm')
const orderId = `0x${'3f'.repeat(32)}` as const
const fees = new FlatFees({ transferFee: 3_000_000n })
const quoting = lighterQuoting.bind({ chainId: 3_586_256, codec: lighterCodec, depository: '723071' })

function routeOf(change: Partial<OriginRoute> & { readonly currency?: string } = {}): OriginRoute {
  const { currency = '0', ...more } = change
  const currencyIn = { address: currency, isNative: currency === '0', resetsAllowance: false }
  return {
    user: '70123',
    recipient: '70124',
    by: 'deposit',
    currencyIn,
    currencyOut: currencyIn,
    amountIn: 5_000_000n,
    amountInMax: 5_000_000n,
    amountOut: 1n,
    amountOutMin: 1n,
    swap: undefined,
    deposited: undefined,
    ...more,
  }
}

const identity = {
  requestId: `0x${'11'.repeat(32)}` as const,
  orderId,
  deadlineSeconds: 1,
  depositAddress: undefined,
}

function stepOf(route: OriginRoute) {
  const [planned, ...more] = quoting.plan(route, { allowance: undefined })
  if (planned === undefined || more.length > 0) throw new Error('a deposit is one transfer')
  return lighterStepData.parse(quoting.encode(planned, route, { identity, fees }).data).action.parameters
}

test('a deposit is one transfer that names the order, its asset and the fee', () => {
  expect(vmType).toBe('lighter-vm')
  expect(stepOf(routeOf())).toEqual({
    toAccountIndex: 723_071,
    assetIndex: 3,
    fromRouteType: 0,
    toRouteType: 0,
    amount: 5_000_000,
    usdcFee: 3_000_000,
    memo: orderId,
  })
  expect(stepOf(routeOf({ currency: '3' }))).toMatchObject({
    assetIndex: 3,
    fromRouteType: 1,
    toRouteType: 1,
  })
  expect(stepOf(routeOf({ currency: '1' }))).toMatchObject({
    assetIndex: 1,
    fromRouteType: 1,
    toRouteType: 1,
  })
})

test('the fee comes beside the amount, and is the same for whatever is moved', () => {
  for (const isNative of [true, false])
    for (const kind of ['deposit', 'fill', 'refund', 'send-input'] as const)
      expect(fees.costOf({ kind, isNative })).toBe(3_000_000n)
  expect(() => fees.costOf({ kind: 'approve', isNative: false })).toThrow('approve')
  expect(fees.rentOf({})).toBe(0n)
  expect(fees.rentOf({ accountFee: 5n })).toBe(5n)
  expect(fees.equals(new FlatFees({ transferFee: 3_000_000n }))).toBe(true)
  expect(fees.equals(new FlatFees({ transferFee: 1n }))).toBe(false)
})

test('what a number cannot hold is not encoded', () => {
  expect(quoting.amountMax({ isNative: true })).toBe(lighterAmountMax)
  expect(stepOf(routeOf({ amountIn: lighterAmountMax })).amount).toBe(Number.MAX_SAFE_INTEGER)
  expect(() => stepOf(routeOf({ amountIn: lighterAmountMax + 1n }))).toThrow(RangeError)
})

test('what users would do alone is planned, for its price, and not encoded', () => {
  const route = routeOf({ by: 'send' })
  const [planned] = quoting.plan(route, { allowance: undefined })
  if (planned === undefined) throw new Error('it is planned')
  expect(planned.kind).toBe('send-input')
  expect(() => quoting.encode(planned, route, { identity, fees })).toThrow('send-input')
  expect(() => quoting.plan(routeOf({ by: 'permit2' }), { allowance: undefined })).toThrow('permit2')
})

test('a currency is its asset on its side, there and back', () => {
  for (const currency of ['0', '1', '3', '17']) {
    const { assetIndex, routeType } = lighterAsset(currency)
    expect(lighterCurrency(assetIndex, routeType)).toBe(currency)
  }
  expect(['0', '1', '2', '3', '17'].filter(isLighterPayment)).toEqual(['0', '1', '3'])
})

test('the account that stands for nobody is that of the public client alone', () => {
  expect(quoting.isNobody('0x000000000000000000000000000000000000dEaD')).toBe(true)
  expect(quoting.isNobody('0')).toBe(false)
})

test.each(['deposit', 'deposit-transfer'] as const)(
  'a %s is one transfer, and has no swap before it',
  (by) => {
    const plan = (change: Parameters<typeof routeOf>[0]) =>
      quoting.plan(routeOf({ by, ...change }), { allowance: undefined })
    for (const [currency, isNative] of [
      ['0', true],
      ['3', false],
    ] as const)
      expect(plan({ currency })).toEqual([{ kind: 'deposit', isNative }])
    const swap = { trade: 'exactInput', from: routeOf().currencyIn, hops: [], ticksCrossed: 0 } as const
    expect(() => plan({ swap })).toThrow(`by ${by}`)
  },
)

test('a deposit without an order is not encoded, and none is paid by fees of another family', () => {
  const planned = { kind: 'deposit', isNative: true } as const
  const nameless = { ...identity, orderId: undefined }
  expect(() => quoting.encode(planned, routeOf(), { identity: nameless, fees })).toThrow('no deposit')
  const other = new SolanaFees({
    lamportsPerSignature: 1n,
    microLamportsPerUnit: 1n,
    rentLamportsPerByte: 1n,
  })
  expect(() => quoting.encode(planned, routeOf(), { identity, fees: other })).toThrow('own family')
  expect(quoting.canSign('5')).toBe(true)
})
