// Goal: a step's transaction does what its route says, and nothing else: contract, calldata and value of each kind.
// Attacks: a transaction that was planned from another route; fees of another family.

import { encodeFunctionData, erc20Abi, type Hex, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import type { StepIdentity } from '../../../rules/encodedStep.ts'
import type { OriginRoute } from '../../../rules/originRoute.ts'
import type { PlannedTransaction } from '../../../rules/plannedTransaction.ts'
import type { ChainSettings } from '../../../rules/quotingFamily.ts'
import { encodeTransaction } from './encodeTransaction.ts'
import { EthereumFees } from './ethereumFees.ts'
import { ethereumQuoting } from './ethereumQuoting.ts'
import { type GasShape, gasShapes, gasUnits } from './gasUnits.ts'
import { encodeSwap, encodeSwapAndDeposit, encodeSwapAndPay } from './swapCalls.ts'
import {
  depository,
  depositRouter,
  native,
  otherToken,
  recipient,
  settings,
  token,
  tokenDeposit,
  tokenSwap,
  user,
  wrappedNative,
} from './testSupport/routes.ts'

const orderId: Hex = `0x${'ab'.repeat(32)}`
const requestId: Hex = `0x${'cd'.repeat(32)}`
const payAddress: Hex = `0x${'9'.repeat(40)}`
const identity = { requestId, orderId, deadlineSeconds: 1_800_000_000, depositAddress: payAddress }
const fees = new EthereumFees({
  gasPrice: { expectedWei: 7n, maxFeePerGasWei: 20n, maxPriorityFeePerGasWei: 2n },
  gasUnits,
  // CAST: filled from the closed list of shapes.
  l1DataFeeWei: Object.fromEntries(gasShapes.map((shape) => [shape, 0n])) as Record<GasShape, bigint>,
})
const depositoryAbi = parseAbi([
  'function depositNative(address depositor, bytes32 id) payable',
  'function depositErc20(address depositor, address token, uint256 amount, bytes32 id)',
])
const wethAbi = parseAbi(['function deposit() payable', 'function withdraw(uint256 amount)'])

type Asked = { readonly identity?: Partial<StepIdentity>; readonly settings?: Partial<ChainSettings> }
const callOf = (planned: PlannedTransaction, route: OriginRoute, asked: Asked = {}) =>
  encodeTransaction({ ...settings, ...asked.settings }, planned, route, {
    identity: { ...identity, ...asked.identity },
    fees,
  }).call

const transferTo = (to: Hex, amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] })
const fromNative = { ...tokenDeposit, currencyIn: native }
const intoToken = { ...tokenDeposit, currencyOut: otherToken }
const hex = (text: string): Hex => `0x${text.slice(2)}`

describe('a call of each kind', () => {
  test.each<[string, PlannedTransaction, OriginRoute, string, Hex, bigint]>([
    [
      'allows the spender what was planned',
      { kind: 'approve', isNative: false, spender: depository, allowed: 170n },
      tokenDeposit,
      token.address,
      encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [depository, 170n] }),
      0n,
    ],
    [
      'takes an allowance back',
      { kind: 'reset-approval', isNative: false, spender: depository, allowed: 0n },
      tokenDeposit,
      token.address,
      encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [depository, 0n] }),
      0n,
    ],
    [
      'deposits a token for the order',
      { kind: 'deposit', isNative: false },
      tokenDeposit,
      depository,
      encodeFunctionData({
        abi: depositoryAbi,
        functionName: 'depositErc20',
        args: [user, hex(token.address), 100n, orderId],
      }),
      0n,
    ],
    [
      'deposits native coin for the order',
      { kind: 'deposit', isNative: true },
      fromNative,
      depository,
      encodeFunctionData({ abi: depositoryAbi, functionName: 'depositNative', args: [user, orderId] }),
      100n,
    ],
    [
      'transfers a token with the order behind it',
      { kind: 'deposit-transfer', isNative: false },
      tokenDeposit,
      token.address,
      `${transferTo(depository, 100n)}${orderId.slice(2)}`,
      0n,
    ],
    [
      'pays a deposit address in a token',
      { kind: 'pay-address', isNative: false },
      tokenDeposit,
      token.address,
      transferTo(payAddress, 100n),
      0n,
    ],
    ['pays one in native coin', { kind: 'pay-address', isNative: true }, fromNative, payAddress, '0x', 100n],
    [
      'wraps',
      { kind: 'wrap', isNative: true },
      fromNative,
      wrappedNative,
      encodeFunctionData({ abi: wethAbi, functionName: 'deposit' }),
      100n,
    ],
    [
      'unwraps',
      { kind: 'unwrap', isNative: false },
      tokenDeposit,
      wrappedNative,
      encodeFunctionData({ abi: wethAbi, functionName: 'withdraw', args: [100n] }),
      0n,
    ],
    [
      'sends the input',
      { kind: 'send-input', isNative: false },
      tokenDeposit,
      token.address,
      transferTo(recipient, 100n),
      0n,
    ],
    ['sends native input', { kind: 'send-input', isNative: true }, fromNative, recipient, '0x', 100n],
    [
      'sends the output on',
      { kind: 'send-output', isNative: false },
      intoToken,
      otherToken.address,
      transferTo(recipient, 90n),
      0n,
    ],
    ['sends native output on', { kind: 'send-output', isNative: true }, tokenDeposit, recipient, '0x', 90n],
  ])('%s', (_what, planned, route, to, data, value) => {
    expect(callOf(planned, route)).toEqual({ to, data, value })
  })
})

describe('a swap', () => {
  const routed = {
    trade: 'exactInput',
    tokenIn: hex(token.address),
    hops: [{ tokenOut: wrappedNative, feePips: 500 }],
    recipient: depositRouter,
    deadlineSeconds: 1_800_000_000,
    amountIn: 110n,
  } as const
  const toOther = { currency: otherToken, amount: 95n }
  const beforeDeposit = { ...tokenDeposit, swap: tokenSwap, deposited: toOther }
  const alone = { ...tokenDeposit, by: 'swap', swap: tokenSwap } as const
  const nativeSwap = { ...tokenSwap, from: native, hops: [{ to: otherToken, feePips: 500 }] }

  test('before a deposit takes the most of the input, and deposits at least what was promised', () => {
    const expected = encodeSwapAndDeposit({
      tokenIn: hex(token.address),
      amountIn: 110n,
      tokenOut: hex(otherToken.address),
      amountOutMin: 95n,
      depositor: user,
      orderId,
      swapData: encodeSwap({ ...routed, amountOut: 95n }),
    })
    const call = callOf({ kind: 'swap-deposit', isNative: false }, beforeDeposit)
    expect(call).toEqual({ to: depositRouter, data: expected, value: 0n })
  })

  test('of the user alone pays the recipient at least what was promised', () => {
    const expected = encodeSwapAndPay({
      tokenIn: hex(token.address),
      amountIn: 110n,
      tokenOut: hex(native.address),
      amountOutMin: 80n,
      recipient,
      requestId,
      swapData: encodeSwap({ ...routed, amountOut: 80n }),
    })
    expect(callOf({ kind: 'swap', isNative: false }, alone)).toEqual({
      to: depositRouter,
      data: expected,
      value: 0n,
    })
  })

  test.each([
    ['swap-deposit', { ...beforeDeposit, currencyIn: native, swap: nativeSwap }],
    ['swap', { ...alone, currencyIn: native, currencyOut: otherToken, swap: nativeSwap }],
  ] as const)('%s of native coin brings it along, and the pools see it wrapped', (kind, route) => {
    const call = callOf({ kind, isNative: true }, route)
    expect(call?.value).toBe(110n)
    expect(call?.data).toContain(native.address.slice(2))
    expect(call?.data).toContain(wrappedNative.slice(2))
  })

  test('at a deposit address takes its least price from the route, and leaves none to the pools', () => {
    const { addressSwap, encodeAddressSwap } = ethereumQuoting.bind(settings)
    const swap = addressSwap(beforeDeposit)
    expect(swap).toEqual({
      tokenIn: token.address,
      amountIn: 100n,
      tokenOut: otherToken.address,
      amountOutMin: 95n,
      hops: routed.hops,
    })
    if (swap === undefined) throw new Error('the route has a swap')
    const spent = { amountIn: 60n, deadlineSeconds: 1_800_000_000 }
    expect(encodeAddressSwap(swap, spent)).toBe(encodeSwap({ ...routed, amountIn: 60n, amountOut: 0n }))
    const fromCoin = encodeSwap({ ...routed, tokenIn: wrappedNative, amountIn: 60n, amountOut: 0n })
    expect(encodeAddressSwap({ ...swap, tokenIn: hex(native.address) }, spent)).toBe(fromCoin)
    expect(addressSwap(tokenDeposit)).toBeUndefined()
  })
})

describe('is refused where it was planned from something else', () => {
  const lacks = 'lacks what it was planned from'
  const swapDeposit = { ...tokenDeposit, swap: tokenSwap }
  test.each<[string, PlannedTransaction, OriginRoute, Asked]>([
    ['an approval of nobody', { kind: 'approve', isNative: false, allowed: 1n }, tokenDeposit, {}],
    ['one of no amount', { kind: 'approve', isNative: false, spender: depository }, tokenDeposit, {}],
    [
      'a deposit without an order',
      { kind: 'deposit', isNative: false },
      tokenDeposit,
      { identity: { orderId: undefined } },
    ],
    [
      'a transfer without one',
      { kind: 'deposit-transfer', isNative: false },
      tokenDeposit,
      { identity: { orderId: undefined } },
    ],
    [
      'a payment to no address',
      { kind: 'pay-address', isNative: false },
      tokenDeposit,
      { identity: { depositAddress: undefined } },
    ],
    ['a swap without pools', { kind: 'swap', isNative: false }, tokenDeposit, {}],
    [
      'a swap without a router',
      { kind: 'swap', isNative: false },
      swapDeposit,
      { settings: { depositRouter: undefined } },
    ],
    [
      'a swap before no deposit',
      { kind: 'swap-deposit', isNative: false },
      { ...swapDeposit, deposited: undefined },
      {},
    ],
    [
      'wrapping without a contract',
      { kind: 'wrap', isNative: true },
      fromNative,
      { settings: { wrappedNative: undefined } },
    ],
    [
      'unwrapping without one',
      { kind: 'unwrap', isNative: false },
      tokenDeposit,
      { settings: { wrappedNative: undefined } },
    ],
  ])('%s', (_what, planned, route, asked) => {
    expect(() => callOf(planned, route, asked)).toThrow(lacks)
  })
})

test('a call is recognised in lower case, and shown as the caller wrote it', () => {
  const mixed = `0x${'aB'.repeat(20)}`
  const { data, call } = encodeTransaction(
    settings,
    { kind: 'send-input', isNative: true },
    { ...fromNative, recipient: mixed },
    { identity, fees },
  )
  expect(data['to']).toBe(mixed)
  expect(call?.to).toBe(mixed.toLowerCase())
  expect(data['gas']).toBe(gasUnits['send-native'].toString())
})
