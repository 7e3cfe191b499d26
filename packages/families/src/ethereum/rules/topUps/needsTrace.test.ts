import type { Hex } from '@causeway/core'
import { hexToBytes } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { classifyTopUps, needsTrace } from './classifyTopUps.ts'
import {
  account,
  amount,
  custody,
  directCall,
  logOf,
  marker,
  named,
  sender,
  target,
  token,
  transferCall,
  transferFromCall,
  word,
} from './testSupport/calls.ts'
import { isTransferTo } from './tokenCall.ts'
import type { TopUpFacts } from './topUp.ts'

const direct = directCall(transferCall(named(account('33'))))
const elsewhere = { ...direct, to: account('77') }
const nothing = logOf({ value: 0n })

describe('a trace is asked for', () => {
  test.each<[string, TopUpFacts, boolean]>([
    ['where another contract was called', elsewhere, true],
    ['where a contract was made', { ...direct, to: undefined }, true],
    ['where one call made two transfers', { ...direct, logs: [logOf({}), logOf({ ordinal: 1 })] }, true],
    [
      'where one of two transfers moves money',
      { ...elsewhere, logs: [nothing, logOf({ ordinal: 1 })] },
      true,
    ],
    ['not for one transfer by a call of the token', direct, false],
    ['not for a failed transaction', { ...elsewhere, succeeded: false }, false],
    ['not where nothing was moved', { ...elsewhere, logs: [nothing] }, false],
    ['not for what custody moves itself', { ...elsewhere, logs: [logOf({ from: custody })] }, false],
    ['not without transfers', { ...elsewhere, logs: [] }, false],
  ])('%s', (_what, facts, isNeeded) => {
    expect(needsTrace(facts, target)).toBe(isNeeded)
  })
})

describe('a call of the token moves it to custody', () => {
  const other = account('99')
  const cut = (input: Hex): Hex => `0x${input.slice(2, -2)}`
  const pulled = (to: Hex) => `0x23b872dd${word(sender)}${word(to)}${word(amount)}` as const
  test.each<[string, Hex, boolean]>([
    ['by transfer, whatever the amount', transferCall('', { value: 0n }), true],
    ['by transfer with a tail', transferCall(named(sender)), true],
    ['by transferFrom', transferFromCall(sender, ''), true],
    ['by transferFrom with a tail', transferFromCall(sender, named(sender)), true],
    ['not by a transfer to another', transferCall('', { to: other }), false],
    ['not by a transferFrom to another', pulled(other), false],
    ['not by one from custody to another', `0x23b872dd${word(custody)}${word(other)}${word(amount)}`, false],
    ['not by a transfer without an amount', `0xa9059cbb${word(custody)}`, false],
    ['not by a transfer that lacks a byte', cut(transferCall('')), false],
    ['not by a transferFrom that lacks a byte', cut(pulled(custody)), false],
    ['not by another function', `0x095ea7b3${word(custody)}${word(amount)}`, false],
    [
      'not by another function of three words',
      `0xdeadbeef${word(sender)}${word(custody)}${word(amount)}`,
      false,
    ],
    ['not by no call', '0x', false],
  ])('%s', (_what, input, moves) => {
    expect(isTransferTo(hexToBytes(input), custody)).toBe(moves)
  })
})

describe('with its verdict a transfer has', () => {
  const first = (input: Hex) => classifyTopUps(directCall(input), target)[0]

  test('the 32 bytes at the place of a tail, whatever they are', () => {
    expect(first(transferCall(`${named(account('33'))}ff`))?.tail).toBe(`0x${named(account('33'))}`)
    expect(first(transferCall('5a'.repeat(32)))).toMatchObject({
      tail: `0x${'5a'.repeat(32)}`,
      verdict: { kind: 'suspense', parse: 'no_tail' },
    })
  })

  test('none where there are fewer', () => {
    expect(first(transferCall(marker))).toEqual({
      log: logOf({}),
      tail: undefined,
      verdict: { kind: 'suspense', parse: 'bad_tail' },
    })
  })
})

test('L-56: a sponsor whom an account of the operator names is credited', () => {
  const treasury = account('77')
  const facts = {
    ...directCall(transferCall(named(account('33')))),
    from: treasury,
    logs: [logOf({ from: treasury })],
  }
  const [transfer] = classifyTopUps(facts, { token, custody, allowTrailing: true, ownAccounts: [treasury] })
  expect(transfer?.verdict).toEqual({ kind: 'credit', parse: 'ok', owner: account('33') })
})
