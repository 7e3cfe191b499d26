// Goal: a payment is made for a signed order alone, and exactly as it says. Attack: one lie at a time, each of which must be
// refused for its own reason, so that no check stands on another one.
import { encodeFillExtraData, encodeOrderCall, type Hex, type Order, orderId } from '@causeway/core'
import { InvalidAddressError } from '@causeway/core/encodings'
import { orderCloneAddress } from '@causeway/families/rules'
import { describe, expect, test } from 'vitest'
import { cloneOf, isSameSpelling, type OrderRules, refuseOrder, refuseTerms } from './signedOrder.ts'

const usdc = `0x${'aa'.repeat(20)}` as const
const recipient = `0x${'bb'.repeat(20)}` as const
const fillContract = `0x${'cc'.repeat(20)}` as const
const filler = `0x${'ee'.repeat(20)}` as const
const salt = `0x${'5a'.repeat(32)}` as const
const call = { to: usdc, data: '0x12' as const, value: 3n }
const other = { to: recipient, data: '0x34' as const, value: 0n }

const payTo = (address: string, currency: string = usdc) => ({
  recipient: address,
  currency,
  minimumAmount: '90',
  expectedAmount: '99',
})

function orderOf(output: Partial<Order['output']> = {}): Order {
  return {
    version: 'v1',
    solverChainId: 'base',
    solver: recipient,
    salt,
    fees: [],
    inputs: [{ payment: { chainId: 'base', currency: usdc, amount: '100', weight: '1' }, refunds: [] }],
    output: {
      chainId: 'optimism',
      payments: [payTo(usdc), payTo(recipient)],
      calls: [],
      deadline: 9,
      extraData: '0x',
      ...output,
    },
  }
}

const plain = {
  orderId: `0x${'0d'.repeat(32)}`,
  chainKey: 'optimism',
  deadline: 9,
  payments: [
    { recipient: usdc, currency: usdc, amount: 99n },
    { recipient, currency: usdc, amount: 90n },
  ],
  calls: [],
  filler,
} as const
const [first, second] = plain.payments
const clone = orderCloneAddress({ fillContract, filler, orderSalt: salt, recipient, calls: [call, other] })
const calling = {
  ...plain,
  fillContract,
  payments: [{ recipient: clone, currency: usdc, amount: 99n }],
  calls: [call, other],
  recipient,
}
const callingOrder = orderOf({
  payments: [payTo(clone)],
  calls: [encodeOrderCall(call), encodeOrderCall(other)],
  extraData: encodeFillExtraData(fillContract),
})

describe('terms', () => {
  test('are those of the order, on a chain without calls and with them', () => {
    expect(refuseTerms(plain, orderOf())).toBeUndefined()
    expect(refuseTerms(calling, callingOrder)).toBeUndefined()
  })

  test.each([
    ['a first recipient of another', { payments: [{ ...first, recipient: filler }, second] }],
    ['a second recipient of another', { payments: [first, { ...second, recipient: filler }] }],
    ['another currency', { payments: [first, { ...second, currency: filler }] }],
    ['a unit less', { payments: [first, { ...second, amount: 89n }] }],
    ['a unit more', { payments: [{ ...first, amount: 100n }, second] }],
    ['a payment more', { payments: [first, second, second] }],
  ])('with %s are not the payments of the order', (_what, change) => {
    expect(refuseTerms({ ...plain, ...change }, orderOf())).toContain('payments')
  })

  test.each([
    ['a call less', [call]],
    ['a call more', [call, other, other]],
    ['another order of calls', [other, call]],
    ['another target', [call, { ...other, to: filler }]],
    ['other bytes', [call, { ...other, data: '0x35' as const }]],
    ['other coin', [{ ...call, value: 4n }, other]],
  ])('with %s are not the calls of the order', (_what, calls) => {
    expect(refuseTerms({ ...calling, calls }, callingOrder)).toContain('the calls are not')
  })

  test('with calls in another case of hex are the same', () => {
    const calls = [{ ...call, to: `0x${'AA'.repeat(20)}` as const }, other]
    expect(refuseTerms({ ...calling, calls }, callingOrder)).toBeUndefined()
  })

  test('of an order whose calls cannot be read are refused, and what is no refusal is told as it is', () => {
    const unreadable = {
      ...callingOrder,
      output: { ...callingOrder.output, calls: ['0x12', '0x12'] as const },
    }
    expect(refuseTerms(calling, unreadable)).toContain('the calls are not')
    const broken: typeof calling.calls = JSON.parse(`[{ "to": "${usdc}" }, {}]`)
    expect(() => refuseTerms({ ...calling, calls: broken }, callingOrder)).toThrow(TypeError)
  })

  test('on a chain without a fill contract run no calls, whoever names them', () => {
    const calls = [encodeOrderCall(call)]
    for (const [asked, ordered] of [
      [[call], calls],
      [[call], []],
      [[], calls],
    ] as const)
      expect(refuseTerms({ ...plain, calls: asked }, orderOf({ calls: [...ordered] }))).toContain('not run')
  })

  test('name the fill contract of the order', () => {
    expect(refuseTerms(plain, orderOf({ extraData: encodeFillExtraData(fillContract) }))).toContain(
      'another fill contract',
    )
    expect(refuseTerms({ ...calling, fillContract: usdc }, callingOrder)).toContain('another fill contract')
    expect(refuseTerms({ ...plain, fillContract }, orderOf())).toContain('another fill contract')
  })

  test('L-35: with calls pay the clone that runs them', () => {
    for (const change of [{ filler: usdc }, { recipient: usdc }, { recipient: undefined }])
      expect(refuseTerms({ ...calling, ...change }, callingOrder)).toContain('elsewhere')
    const unpaid = { ...callingOrder, output: { ...callingOrder.output, payments: [] } }
    expect(refuseTerms({ ...calling, payments: [] }, unpaid)).toContain('elsewhere')
  })
})

test('calls have a clone only where the contract, the filler, the rest and the salt allow one', () => {
  expect(cloneOf(calling, { salt })).toMatchObject({ address: clone, orderSalt: salt, recipient })
  const upper = `0x${'5A'.repeat(32)}` as const
  expect(cloneOf(calling, { salt: upper })?.address).toBe(clone)
  expect(cloneOf(calling, { salt: '0x12' })).toBeUndefined()
  for (const change of [
    { fillContract: undefined },
    { recipient: undefined },
    { filler: `${filler}00` },
    { filler: `x${filler}` },
  ])
    expect(cloneOf({ ...calling, ...change }, { salt })).toBeUndefined()
})

test('hex has two cases for one address, any other spelling has one', () => {
  for (const [one, another] of [
    ['0xAB', '0xab'],
    ['0xab', '0XAB'],
    ['0XaB', '0xAb'],
    ['So1', 'So1'],
  ] as const)
    expect(isSameSpelling(one, another)).toBe(true)
  for (const [one, another] of [
    ['So1', 'so1'],
    ['a0xAB', 'a0xab'],
    ['0xab', '0xac'],
  ] as const)
    expect(isSameSpelling(one, another)).toBe(false)
})

describe('an order', () => {
  const networkOf: OrderRules['networkOf'] = () => ({ vmType: 'ethereum-vm', network: undefined })
  const rules: OrderRules = {
    networkOf,
    recoverSigner: () => recipient,
    orderSigners: new Set([recipient]),
  }
  const refusal = (order: Order, change: Partial<OrderRules> = {}, id = orderId(order, networkOf)) =>
    refuseOrder(id, { order, orderSignature: '0x', deposits: [] }, { ...rules, ...change })
  const [input] = orderOf().inputs

  test('is paid where a trusted signer signed it', () => {
    expect(refusal(orderOf())).toBeUndefined()
    expect(refusal({ ...orderOf(), solver: `0x${'BB'.repeat(20)}` })).toBeUndefined()
  })

  test.each<[string, Partial<OrderRules>, string]>([
    ['whose signature names nobody', { recoverSigner: () => undefined }, 'not signed'],
    ['that another signed', { recoverSigner: () => usdc }, 'not signed'],
    ['that a stranger signed', { orderSigners: new Set() }, 'somebody else'],
  ])('%s is not', (_what, change, reason) => {
    expect(refusal(orderOf(), change)).toContain(reason)
  })

  test('of two inputs, or of none, is not', () => {
    if (input === undefined) throw new Error('an order has an input')
    for (const inputs of [[], [input, input]])
      expect(refusal({ ...orderOf(), inputs })).toContain('more than one input')
  })

  test('that has no id is not, and what is no refusal is told as it is', () => {
    const failing = (error: Error): OrderRules['networkOf'] => {
      return () => {
        throw error
      }
    }
    const id: Hex = `0x${'0d'.repeat(32)}`
    for (const error of [
      new RangeError('x'),
      new InvalidAddressError({ vmType: 'ethereum-vm', reason: 'short' }),
    ])
      expect(refusal(orderOf(), { networkOf: failing(error) }, id)).toContain('another id')
    expect(() => refusal(orderOf(), { networkOf: failing(new Error('broken')) }, id)).toThrow('broken')
  })
})
