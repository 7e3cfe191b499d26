// Attacker: a denied account that is paid through another member of an item than its first payment.

import { parseDenyList } from '@causeway/chains'
import { codecOf, mainNetwork } from '@causeway/core/encodings'
import { describe, expect, test } from 'vitest'
import { deniedVerdict, isFromDenied, paysDenied } from './denied.ts'
import type { SeenDeposit } from './verdict.ts'

const denied = `0x${'de'.repeat(20)}` as const
const other = `0x${'0a'.repeat(20)}` as const
const list = parseDenyList(JSON.stringify({ version: 1, denied: { 'ethereum-vm': [denied] } }))
const codec = codecOf(mainNetwork('ethereum-vm'))
const payment = (recipient: string) => ({ recipient, currency: other, amount: 1n })
const call = (to: `0x${string}`) => ({ to, data: '0x' as const, value: 0n })
const clean = { payments: [payment(other)], calls: [call(other)], recipient: other }
const deposit: SeenDeposit = {
  chainId: 8_453,
  chainKey: 'base',
  refundChainId: 8_453,
  transactionId: '0x1',
  ordinal: 0,
  orderId: '0x2',
  depositor: denied,
  currency: other,
  amount: 1n,
  inTransaction: 1n,
}

describe('a payment', () => {
  test.each([
    ['its recipient', { ...clean, payments: [payment(denied)] }],
    ['the recipient of a second payment', { ...clean, payments: [payment(other), payment(denied)] }],
    ['a call', { ...clean, calls: [call(other), call(denied)] }],
    ['who gets what calls leave over', { ...clean, recipient: denied }],
    ['a recipient in capitals', { ...clean, payments: [payment(`0x${'DE'.repeat(20)}`)] }],
  ])('O-182: that names a denied account as %s is not made', (_what, asked) => {
    expect(paysDenied(list, asked, codec)).toBe(true)
    expect(paysDenied(undefined, asked, codec)).toBe(false)
  })

  test('of everybody else is', () => {
    expect(paysDenied(list, clean, codec)).toBe(false)
    expect(paysDenied(list, { payments: [payment(other)], calls: [] }, codec)).toBe(false)
  })
})

test('a deposit in the name of a denied account pays for nothing, and is not given back', () => {
  expect(isFromDenied(list, deposit)).toBe(true)
  expect(isFromDenied(list, { ...deposit, depositor: other })).toBe(false)
  expect(isFromDenied(list, undefined)).toBe(false)
  expect(isFromDenied(undefined, deposit)).toBe(false)
})

test('the refusal is the one that stops the service, and names nobody', () => {
  expect(deniedVerdict).toEqual({ kind: 'refuse', reason: expect.stringMatching(/^BLOCKED_WALLET: /) })
  expect(JSON.stringify(deniedVerdict)).not.toContain('0x')
})
