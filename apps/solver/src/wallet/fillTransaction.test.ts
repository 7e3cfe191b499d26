import { fillContractAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { orderCloneAddress } from '@causeway/families/rules'
import { decodeFunctionData, size, sliceHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { readItem } from '../work/workItems.ts'
import { fillTransaction, nativeCurrency, needsOf } from './fillTransaction.ts'

const orderId = `0x${'0D'.repeat(32)}`
const orderIdLower: Hex = `0x${'0d'.repeat(32)}`
const usdc: Hex = `0x${'aa'.repeat(20)}`
const recipient: Hex = `0x${'bb'.repeat(20)}`
const fillContract: Hex = `0x${'cc'.repeat(20)}`
const filler: Hex = `0x${'ee'.repeat(20)}`
const salt: Hex = `0x${'5a'.repeat(32)}`
const call = { to: usdc, data: '0x1234', value: 3n } as const
const clone = orderCloneAddress({ fillContract, filler, recipient, orderSalt: salt, calls: [call] })
const shared = { orderId, chainId: 10, fillContract, deadline: 2_000 }
const order = {
  version: 'v1',
  solverChainId: 'base',
  solver: recipient,
  salt,
  fees: [],
  inputs: [{ payment: { chainId: 'base', currency: usdc, amount: '1', weight: '1' }, refunds: [] }],
  output: { chainId: 'optimism', payments: [], calls: [], deadline: 2_000, extraData: '0x' },
}
const fill = {
  ...shared,
  payments: [
    { recipient: clone, currency: usdc, amount: '100' },
    { recipient: clone, currency: nativeCurrency, amount: '7' },
    { recipient, currency: usdc, amount: '1' },
  ],
  calls: [{ ...call, value: '3' }],
  recipient,
  order,
  orderSignature: '0x',
  deposits: [],
}
const recorded = { id: orderIdLower, filler } as const
const withoutId = (data: Hex) => sliceHex(data, 0, size(data) - 32)
const read = (kind: string, payload: unknown) => readItem({ id: '1', kind, payload })

function orderOf(kind: string, payload: unknown) {
  const reading = read(kind, payload)
  if (reading.kind !== 'order') throw new Error(`read as ${reading.kind}`)
  return reading.order
}

describe('work items', () => {
  test('a fill becomes one call of the fill contract with the order id after it', () => {
    const { to, data, valueWei } = fillTransaction(orderOf('fill', fill), recorded)
    expect(to).toBe(fillContract)
    // The value that the call sends is part of the payment to its clone.
    expect(valueWei).toBe(7n)
    expect(sliceHex(data, size(data) - 32)).toBe(orderId.toLowerCase())
    const { functionName, args } = decodeFunctionData({ abi: fillContractAbi, data: withoutId(data) })
    if (functionName !== 'fill') throw new Error('an order with calls is filled')
    const [id, deadline, natives, tokens, orderCalls] = args
    expect([id, deadline]).toEqual([recorded.id, 2_000n])
    expect(natives.map(({ to: payee, amount }) => [payee.toLowerCase(), amount])).toEqual([[clone, 7n]])
    expect(tokens).toMatchObject([{ amount: 100n }, { amount: 1n }])
    expect(orderCalls.calls).toMatchObject([{ data: '0x1234', value: 3n }])
    // The order's own salt and recipient: what it runs at is what it pays.
    expect(orderCalls.orderSalt).toBe(salt)
    expect([orderCalls.recipient, ...orderCalls.sweptTokens].map((one) => one.toLowerCase())).toEqual([
      ...[recipient, usdc],
    ])
  })

  test('calls without their order, or without whom their rest goes to, are never sent', () => {
    for (const change of [
      { order: undefined },
      { recipient: undefined },
      { order: { ...order, salt: '1' } },
    ]) {
      const asked = orderOf('fill', { ...fill, ...change })
      expect(() => fillTransaction(asked, recorded)).toThrow('without the terms of their clone')
    }
  })

  test('what a fill needs is summed per currency, and the value of calls is within', () => {
    expect([...needsOf(orderOf('fill', fill))]).toEqual([
      [usdc, 101n],
      [nativeCurrency, 7n],
    ])
  })

  test('a claim is one payment with its own id after the call', () => {
    const { orderId: claimId, ...place } = shared
    const order = orderOf('claim', { ...place, claimId, recipient, currency: usdc, amount: '8' })
    expect(order).toMatchObject({ kind: 'claim', orderId: orderId.toLowerCase(), calls: [] })
    expect(order.payments).toEqual([{ recipient, currency: usdc, amount: 8n }])
    const { data } = fillTransaction(order, recorded)
    expect(decodeFunctionData({ abi: fillContractAbi, data: withoutId(data) }).functionName).toBe('pay')
    expect(sliceHex(data, size(data) - 32)).toBe(orderId.toLowerCase())
    expect(read('claim', { ...shared, recipient, currency: usdc, amount: '8' })).toMatchObject({
      kind: 'broken',
    })
  })

  test('a refund is one payment of its order', () => {
    const refund = { ...shared, recipient, currency: usdc, amount: '55', replaces: orderId }
    expect(orderOf('refund', refund)).toMatchObject({
      kind: 'refund',
      payments: [{ recipient, currency: usdc, amount: 55n }],
      calls: [],
    })
  })

  test('other kinds of work are left to others', () => {
    expect(read('unheard-of', {})).toEqual({ kind: 'other' })
  })

  test.each([
    ['an amount below zero', { ...fill, payments: [{ recipient, currency: usdc, amount: '-1' }] }],
    ['an amount with a fraction', { ...fill, payments: [{ recipient, currency: usdc, amount: '1.5' }] }],
    ['a short address', { ...fill, fillContract: '0x12' }],
    ['no deadline', { ...fill, deadline: undefined }],
    ['half a byte of calldata', { ...fill, calls: [{ to: usdc, data: '0x1', value: '0' }] }],
  ])('%s is told and never paid', (_what, payload) => {
    expect(read('fill', payload)).toMatchObject({ kind: 'broken' })
  })
})
