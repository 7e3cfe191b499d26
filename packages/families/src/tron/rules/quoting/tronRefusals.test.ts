// Goal: a step that a wallet's limit would fail is refused before anybody signs it, with the figures, and so is one that
// was planned from something else.

import { createTronCodec } from '@causeway/core/encodings'
import { describe, expect, test } from 'vitest'
import type { StepIdentity } from '../../../rules/encodedStep.ts'
import type { OriginRoute } from '../../../rules/originRoute.ts'
import type { PlannedTransaction } from '../../../rules/plannedTransaction.ts'
import { TronFees } from './tronFees.ts'
import { tronQuoting } from './tronQuoting.ts'

const depository = 'TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN'
const codec = createTronCodec()
const quoting = tronQuoting.bind({ chainId: 728_126_428, codec, depository })
const usdt = {
  address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  isNative: false,
  resetsAllowance: false,
}
const route: OriginRoute = {
  user: 'TCLBgkbfVkJroVBJVqBEsxtPNQEQMTQCLQ',
  recipient: '0x',
  by: 'deposit',
  currencyIn: usdt,
  currencyOut: usdt,
  swap: undefined,
  amountIn: 100n,
  amountInMax: 100n,
  amountOut: 1n,
  amountOutMin: 1n,
  deposited: undefined,
}
const orderId = `0x${'3f'.repeat(32)}` as const
const identity = { requestId: orderId, orderId, deadlineSeconds: 0, depositAddress: undefined }
const feesOf = (approve: bigint) =>
  new TronFees({
    sunPerEnergy: 100n,
    sunPerByte: 1n,
    tokenEnergy: { toHolder: 0n, toNewHolder: 0n, approve },
  })

describe('F-129: energy for 30 TRX', () => {
  const planned = (approve: bigint) => () => quoting.plan(route, { allowance: 0n, fees: feesOf(approve) })

  test('is what wallets allow, and not one unit more', () => {
    expect(planned(300_000n)().map(({ kind }) => kind)).toEqual(['approve', 'deposit'])
    expect(planned(300_001n)).toThrow(
      expect.objectContaining({
        code: 'GAS_PRICE_TOO_HIGH',
        kind: 'upstream_unavailable',
        retryAfterSeconds: 60,
        data: { neededSun: '30000100', limitSun: '30000000' },
      }),
    )
  })

  test('is not asked for where there are no fees yet', () => {
    expect(quoting.plan(route, { allowance: 0n })).toHaveLength(2)
  })
})

test('F-98: who has too little is told so in sun', () => {
  const state = { allowance: 100n, fees: feesOf(0n), feeFunds: { coin: 1n, units: 0n } }
  const [deposit] = quoting.plan(route, state)
  expect(deposit?.refusal?.message).toContain('user has 1 sun')
  expect(deposit?.refusal?.message).toContain('takes 2000000 sun')
})

test.each<[string, PlannedTransaction, Partial<StepIdentity>, string]>([
  ['a deposit without an order', { kind: 'deposit', isNative: true }, { orderId: undefined }, 'no deposit'],
  ['an approval of no amount', { kind: 'approve', isNative: false, spender: depository }, {}, 'no approve'],
  ['an approval of nobody', { kind: 'approve', isNative: false, allowed: 1n }, {}, 'no approve'],
  ['what another family planned', { kind: 'wrap', isNative: true }, {}, 'no wrap'],
])('%s is not encoded', (_what, planned, change, problem) => {
  const encode = () =>
    quoting.encode(planned, route, { identity: { ...identity, ...change }, fees: feesOf(0n) })
  expect(encode).toThrow(problem)
})
