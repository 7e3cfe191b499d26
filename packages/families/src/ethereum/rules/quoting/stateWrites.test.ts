// Goal: the gas that a user is told is that of the state which his transactions find. Attacks: a balance that is unknown
// and is taken for one that exists, so that the estimate is too low.

import { describe, expect, test } from 'vitest'
import type { OriginRoute } from '../../../rules/originRoute.ts'
import type { Holding, KnownState } from '../../../rules/plannedTransaction.ts'
import { planTransactions } from './planTransactions.ts'
import { touchedHoldings } from './stateWrites.ts'
import {
  depository,
  native,
  otherToken,
  recipient,
  settings,
  token,
  tokenDeposit,
  tokenSwap,
  user,
} from './testSupport/routes.ts'

const none = { created: 0, cleared: 0, accounts: 0, paysNative: false }
const allowed = 1_000n

/** Writes of the last planned transaction: an approval stands before it. */
const lastWrites = (route: OriginRoute, state: Partial<KnownState> = {}) =>
  planTransactions(settings, route, { allowance: allowed, ...state }).at(-1)?.writes
const firstWrites = (route: OriginRoute, state: Partial<KnownState>) =>
  planTransactions(settings, route, { allowance: allowed, ...state })[0]?.writes

/** State in which these balances are more than zero, and no others. */
const held = (
  ...holdings: readonly (readonly [account: string, currency: { readonly address: string }])[]
) => ({
  heldBy: ({ account, currency }: Holding) =>
    holdings.some(([holder, { address }]) => holder === account && address === currency) ? 5n : 0n,
})
const exactly = { ...tokenDeposit, amountInMax: tokenDeposit.amountIn }
const nativeDeposit = { ...tokenDeposit, currencyIn: native }
const toOther = { currency: otherToken, amount: 95n }
const swapDeposit = { ...tokenDeposit, swap: tokenSwap, deposited: toOther }
const swap = { ...tokenDeposit, by: 'swap', swap: tokenSwap } as const
const wrap = { ...tokenDeposit, by: 'wrap', currencyIn: native, currencyOut: token } as const
const unwrap = { ...tokenDeposit, by: 'unwrap' } as const
const send = { ...tokenDeposit, by: 'send' } as const
const payAddress = { ...tokenDeposit, by: 'pay-address' } as const
const transfer = { ...tokenDeposit, by: 'deposit-transfer' } as const

describe('a balance of the payee is created', () => {
  test.each<[string, OriginRoute, Partial<KnownState>, number]>([
    ['of a depository that holds none of the token', tokenDeposit, held(), 1],
    ['of a depository whose balance is unknown', tokenDeposit, {}, 1],
    ['of a depository whose balance was not read in time', tokenDeposit, { heldBy: () => undefined }, 1],
    ['but not of one that holds some', tokenDeposit, held([depository, token]), 0],
    ['nor of one that is paid native coin', nativeDeposit, held(), 0],
    ['of the depository by a plain transfer', transfer, held(), 1],
    ['but not twice', transfer, held([depository, token]), 0],
    ['in what a swap deposits', swapDeposit, held([depository, token]), 1],
    ['but not where the depository holds that', swapDeposit, held([depository, otherToken]), 0],
    [
      'nor where a swap deposits native coin',
      { ...swapDeposit, deposited: { currency: native, amount: 9n } },
      held(),
      0,
    ],
    [
      'in the input where a swap says nothing of a deposit',
      { ...swapDeposit, deposited: undefined },
      held(),
      1,
    ],
    ['in the output of a swap', { ...swap, currencyOut: otherToken }, held(), 1],
    [
      'but not of one who holds that output',
      { ...swap, currencyOut: otherToken },
      held([recipient, otherToken]),
      0,
    ],
    ['by wrapping for the first time', { ...wrap, recipient: user }, held(), 1],
    ['but not for the second', { ...wrap, recipient: user }, held([user, token]), 0],
    ['by sending wrapped coin on', wrap, held([user, token]), 1],
    ['but not to one who holds some', wrap, held([recipient, token]), 0],
    ['by unwrapping for nobody', { ...unwrap, recipient: user }, held(), 0],
    ['nor by sending unwrapped coin on', unwrap, held(), 0],
    ['of a deposit address, which is empty', payAddress, held(), 1],
    ['of one, whatever the recipient of the order holds', payAddress, held([recipient, token]), 1],
    ['but not in native coin', { ...payAddress, currencyIn: native }, held(), 0],
    ['by sending the token', send, held(), 1],
    ['but not to one who holds some', send, held([recipient, token]), 0],
    ['nor by sending native coin', { ...send, currencyIn: native }, held(), 0],
  ])('%s', (_what, route, state, created) => {
    expect(lastWrites(route, state)?.created).toBe(created)
  })
})

describe('slots are cleared', () => {
  test.each<[string, OriginRoute, Partial<KnownState>, number]>([
    ['by a deposit of a part of balance and allowance', tokenDeposit, { balance: 101n }, 0],
    ['by a deposit of the whole balance', tokenDeposit, { balance: 100n }, 1],
    ['by a deposit that uses up the allowance', exactly, { allowance: 100n }, 1],
    ['by a deposit that uses up what was approved just before', exactly, { allowance: 0n }, 1],
    ['by a deposit that uses up all', exactly, { allowance: 100n, balance: 100n }, 2],
    ['not by a deposit that takes less than was approved', tokenDeposit, { allowance: 0n }, 0],
    [
      'not by a deposit of native coin',
      { ...exactly, currencyIn: native },
      { allowance: 100n, balance: 100n },
      0,
    ],
    [
      'by a transfer of the whole balance, which uses no allowance',
      { ...transfer, amountInMax: 100n },
      { allowance: 100n, balance: 100n },
      1,
    ],
    [
      'by a swap before a deposit',
      { ...swapDeposit, amountInMax: 100n },
      { allowance: 100n, balance: 100n },
      2,
    ],
    ['not by a swap of native coin', { ...swapDeposit, currencyIn: native }, { balance: 100n }, 0],
    ['by a swap', { ...swap, amountInMax: 100n }, { allowance: 100n, balance: 100n }, 2],
    ['by unwrapping all', { ...unwrap, recipient: user }, { balance: 100n }, 1],
    ['not by unwrapping some', { ...unwrap, recipient: user }, { balance: 101n }, 0],
    ['by paying an address with all', payAddress, { balance: 100n }, 1],
    ['not by paying it with some', payAddress, { balance: 101n }, 0],
    ['by sending all', send, { balance: 100n }, 1],
    ['not by sending native coin', { ...send, currencyIn: native }, { balance: 100n }, 0],
    ['not by paying an address in native coin', { ...payAddress, currencyIn: native }, { balance: 100n }, 0],
    ['by sending on all that was wrapped', wrap, held(), 1],
    ['not by an account that held wrapped coin before', wrap, held([user, token]), 0],
    ['not by an account of which nothing is known', wrap, {}, 0],
    ['not by sending on native coin', unwrap, held(), 0],
  ])('%s', (_what, route, state, cleared) => {
    expect(lastWrites(route, state)?.cleared).toBe(cleared)
  })
})

describe('a contract pays native coin', () => {
  const paid = { ...none, paysNative: true }
  test.each<[string, OriginRoute, Partial<KnownState>, object]>([
    ['by a swap, to an account that has none', swap, held(), { ...paid, accounts: 1 }],
    ['by a swap, to an account that has some', swap, held([recipient, native]), paid],
    [
      'by a swap before a deposit',
      { ...swapDeposit, deposited: { currency: native, amount: 9n } },
      held(),
      paid,
    ],
    ['not by a swap for a token', { ...swap, currencyOut: otherToken }, held(), { ...none, created: 1 }],
    ['not by a deposit', nativeDeposit, held(), none],
  ])('%s', (_what, route, state, writes) => {
    expect(lastWrites(route, state)).toEqual(writes)
  })
})

describe('an approval', () => {
  const reset = { ...tokenDeposit, currencyIn: { ...token, resetsAllowance: true } }

  test.each<[string, bigint | undefined, number]>([
    ['creates a slot where nothing is allowed', 0n, 1],
    ['creates one where nobody knows', undefined, 1],
    ['changes the one that is there', 1n, 0],
  ])('%s', (_what, allowance, created) => {
    expect(firstWrites(tokenDeposit, { allowance })).toEqual({ ...none, created })
  })

  test('that must be reset first clears its slot, and creates it again', () => {
    const [clear, approve] = planTransactions(settings, reset, { allowance: 1n })
    expect(clear?.writes).toEqual({ ...none, cleared: 1 })
    expect(approve?.writes).toEqual({ ...none, created: 1 })
  })
})

describe('balances that are read before a price', () => {
  test.each<[string, Partial<OriginRoute>, readonly Holding[]]>([
    ['those of the depository, for a deposit', {}, [{ account: depository, currency: token.address }]],
    [
      'the same for a transfer',
      { by: 'deposit-transfer' },
      [{ account: depository, currency: token.address }],
    ],
    [
      'that of the payee, for a token that is sent',
      { by: 'send', currencyOut: token },
      [{ account: recipient, currency: token.address }],
    ],
    ['none for native coin that is sent', { by: 'send' }, []],
    [
      'that of the payee, for a swap into native coin too',
      { by: 'swap' },
      [{ account: recipient, currency: native.address }],
    ],
    [
      'those of both, for wrapping',
      { by: 'wrap', currencyOut: token },
      [
        { account: user, currency: token.address },
        { account: recipient, currency: token.address },
      ],
    ],
    ['none for unwrapping', { by: 'unwrap' }, []],
    ['none for a deposit address', { by: 'pay-address', currencyOut: token }, []],
    ['none for a signature', { by: 'signature', currencyOut: token }, []],
    ['none for Permit2', { by: 'permit2', currencyOut: token }, []],
  ])('are %s', (_what, change, holdings) => {
    const route = { ...tokenDeposit, ...change, deposited: [native, token] }
    expect(touchedHoldings(settings, route)).toEqual(holdings)
  })

  test('are named in canonical spelling, however the caller wrote the account', () => {
    const mixed = `0x${'aB'.repeat(20)}`
    const route = { ...tokenDeposit, by: 'swap', recipient: mixed, deposited: [] } as const
    expect(touchedHoldings(settings, route)).toEqual([
      { account: mixed.toLowerCase(), currency: native.address },
    ])
  })
})
