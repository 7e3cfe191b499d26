// Goal: the user sends what his way in takes, in order, and allows no more than that: but for Permit2, which moves nothing
// without a signature. Attacks: an allowance that outlives the quote; a missing one, so that the deposit fails.

import { ethereumCodec } from '@causeway/core/encodings'
import { describe, expect, test } from 'vitest'
import type { OriginRoute } from '../../../rules/originRoute.ts'
import type { KnownState } from '../../../rules/plannedTransaction.ts'
import { orderedTransactions, permit2Address, planTransactions } from './planTransactions.ts'
import {
  depository,
  depositRouter,
  native,
  otherToken,
  settings,
  token,
  tokenDeposit,
  tokenSwap,
  user,
} from './testSupport/routes.ts'

const enough: KnownState = { allowance: 1_000n }
const ordered = (route: Partial<OriginRoute>, state = enough) =>
  orderedTransactions(settings, { ...tokenDeposit, ...route }, state)

describe('what a user sends', () => {
  const twoPools = { ...tokenSwap, hops: [{ to: otherToken, feePips: 100 }, ...tokenSwap.hops] }

  test.each<[string, Partial<OriginRoute>, readonly object[]]>([
    ['a deposit', {}, [{ kind: 'deposit', isNative: false }]],
    ['a deposit of coin', { currencyIn: native }, [{ kind: 'deposit', isNative: true }]],
    ['a transfer', { by: 'deposit-transfer' }, [{ kind: 'deposit-transfer', isNative: false }]],
    [
      'a swap and a deposit',
      { swap: tokenSwap },
      [{ kind: 'swap-deposit', isNative: false, ticksCrossed: 3 }],
    ],
    [
      'the same instead of a transfer',
      { by: 'deposit-transfer', swap: tokenSwap },
      [{ kind: 'swap-deposit', isNative: false, ticksCrossed: 3 }],
    ],
    ['a swap', { by: 'swap', swap: tokenSwap }, [{ kind: 'swap', isNative: false, ticksCrossed: 3 }]],
    [
      'a swap over two pools',
      { by: 'swap', swap: twoPools },
      [{ kind: 'swap', isNative: false, ticksCrossed: 3, hops: 2 }],
    ],
    ['a swap whose pools nobody knows', { by: 'swap' }, [{ kind: 'swap', isNative: false, ticksCrossed: 0 }]],
    ['a payment to an address', { by: 'pay-address' }, [{ kind: 'pay-address', isNative: false }]],
    [
      'a payment of coin to one',
      { by: 'pay-address', currencyIn: native },
      [{ kind: 'pay-address', isNative: true }],
    ],
    ['what he sends alone', { by: 'send' }, [{ kind: 'send-input', isNative: false }]],
    [
      'wrapping for himself',
      { by: 'wrap', currencyIn: native, recipient: user },
      [{ kind: 'wrap', isNative: true }],
    ],
    [
      'unwrapping for another',
      { by: 'unwrap' },
      [
        { kind: 'unwrap', isNative: false },
        { kind: 'send-output', isNative: true },
      ],
    ],
    ['nothing for a signature', { by: 'signature' }, []],
    ['nothing for Permit2 that may take the token', { by: 'permit2' }, []],
  ])('is %s', (_what, route, planned) => {
    expect(ordered(route)).toEqual(planned)
  })

  test('is the same however his own address is spelled', () => {
    const mixed = `0x${'aB'.repeat(20)}`
    const route = { by: 'wrap', currencyIn: native, user: mixed, recipient: mixed.toLowerCase() } as const
    expect(ordered(route)).toHaveLength(1)
    expect(ethereumCodec.canonicalAddress(mixed)).toBe(mixed.toLowerCase())
  })
})

describe('an approval', () => {
  const nothing = { allowance: 0n }

  test.each<[string, Partial<OriginRoute>, string, bigint]>([
    ['of a deposit allows the depository its most', {}, depository, 110n],
    ['of a swap before one allows the router', { swap: tokenSwap }, depositRouter, 110n],
    ['of a swap allows the router', { by: 'swap', swap: tokenSwap }, depositRouter, 110n],
    ['of Permit2 is for ever', { by: 'permit2' }, permit2Address, 2n ** 256n - 1n],
  ])('%s', (_what, route, spender, allowed) => {
    expect(ordered(route, nothing)[0]).toEqual({ kind: 'approve', isNative: false, spender, allowed })
  })

  test.each<[string, Partial<OriginRoute>]>([
    ['coin', { currencyIn: native }],
    ['coin that is swapped', { currencyIn: native, swap: tokenSwap }],
    ['a transfer', { by: 'deposit-transfer' }],
    ['a payment to an address', { by: 'pay-address' }],
    ['what is sent', { by: 'send' }],
    ['unwrapping', { by: 'unwrap', recipient: user }],
    ['a signature', { by: 'signature' }],
  ])('is not needed for %s', (_what, route) => {
    expect(ordered(route, nothing).map(({ kind }) => kind)).not.toContain('approve')
  })

  test('names no spender on a chain without a router', () => {
    const [approval] = orderedTransactions(
      { ...settings, depositRouter: undefined },
      { ...tokenDeposit, swap: tokenSwap },
      nothing,
    )
    expect(approval).toStrictEqual({ kind: 'approve', isNative: false, allowed: 110n })
  })

  test('of a token that asks for it takes the old one back first, also where it is unknown', () => {
    const currencyIn = { ...token, resetsAllowance: true }
    for (const allowance of [1n, undefined])
      expect(ordered({ currencyIn }, { allowance })[0]).toEqual({
        kind: 'reset-approval',
        isNative: false,
        spender: depository,
        allowed: 0n,
      })
    expect(ordered({ currencyIn }, nothing)[0]?.kind).toBe('approve')
  })
})

test('plans say what each transaction writes, beside what it is', () => {
  const planned = planTransactions(settings, tokenDeposit, { allowance: 0n })
  expect(planned.map(({ kind, writes }) => [kind, writes?.created])).toEqual([
    ['approve', 1],
    ['deposit', 1],
  ])
})
