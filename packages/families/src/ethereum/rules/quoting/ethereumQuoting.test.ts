// Goal: what an EVM origin plans, encodes and costs, from facts alone.

import { describe, expect, test } from 'vitest'
import type { NetworkFees } from '../../../rules/networkFees.ts'
import type { OriginRoute } from '../../../rules/originRoute.ts'
import { probeCalldata } from '../../gas/probeTransaction.ts'
import { shapeProbes } from '../../gas/shapeProbes.ts'
import { EthereumFees } from './ethereumFees.ts'
import { ethereumQuoting } from './ethereumQuoting.ts'
import { type GasShape, gasShapes } from './gasUnits.ts'
import {
  tokenDeposit as deposit,
  depository,
  depositRouter,
  token as erc20,
  native,
  settings,
  tokenSwap as swap,
  user,
} from './testSupport/routes.ts'

const orderId = `0x${'ab'.repeat(32)}` as const
const requestId = `0x${'cd'.repeat(32)}` as const
const quoting = ethereumQuoting.bind(settings)
const kindsOf = (route: OriginRoute, allowance?: bigint) =>
  quoting.plan(route, { allowance }).map(({ kind }) => kind)

test.each([
  ['an unknown allowance is approved', deposit, undefined, ['approve', 'deposit']],
  ['what the steps take at most must be allowed', deposit, 109n, ['approve', 'deposit']],
  ['an allowance that suffices is not approved again', deposit, 110n, ['deposit']],
  [
    'a token that asks for it is reset first',
    { ...deposit, currencyIn: { ...erc20, resetsAllowance: true } },
    1n,
    ['reset-approval', 'approve', 'deposit'],
  ],
  [
    'nothing has to be reset where nothing is allowed',
    { ...deposit, currencyIn: { ...erc20, resetsAllowance: true } },
    0n,
    ['approve', 'deposit'],
  ],
  ['a transfer needs no allowance', { ...deposit, by: 'deposit-transfer' }, 0n, ['deposit-transfer']],
  [
    'native coin carries an order id only by a call',
    { ...deposit, by: 'deposit-transfer', currencyIn: native },
    0n,
    ['deposit'],
  ],
  ['a swap stands before the deposit', { ...deposit, swap }, 0n, ['approve', 'swap-deposit']],
  ['a signature is no transaction', { ...deposit, by: 'signature' }, 0n, []],
  [
    'wrapping for another one takes two',
    { ...deposit, by: 'wrap', currencyIn: native, currencyOut: erc20 },
    0n,
    ['wrap', 'send-output'],
  ],
  [
    'wrapping for oneself takes one',
    { ...deposit, by: 'wrap', currencyIn: native, recipient: deposit.user },
    0n,
    ['wrap'],
  ],
] satisfies [string, OriginRoute, bigint | undefined, string[]][])('%s', (_rule, route, allowance, kinds) => {
  expect(kindsOf(route, allowance)).toEqual(kinds)
})

test.each([
  ['deposit', depository],
  ['swap-deposit', depositRouter],
  ['swap', depositRouter],
] as const)('%s is allowed to the contract that takes the token', (kind, spender) => {
  expect(quoting.spenderOf(kind, erc20)).toBe(spender)
  expect(quoting.spenderOf(kind, native)).toBeUndefined()
})

const perShape = (units: (shape: GasShape) => bigint) =>
  // CAST: filled from the closed list of shapes.
  Object.fromEntries(gasShapes.map((shape) => [shape, units(shape)])) as Record<GasShape, bigint>
const gasPrice = { expectedWei: 7n, maxFeePerGasWei: 20n, maxPriorityFeePerGasWei: 2n }
const fees = new EthereumFees({
  gasPrice,
  gasUnits: perShape((shape) => 1_000n * BigInt(gasShapes.indexOf(shape) + 1)),
  l1DataFeeWei: perShape((shape) => BigInt(gasShapes.indexOf(shape) + 1)),
})
const place = (shape: GasShape) => BigInt(gasShapes.indexOf(shape) + 1)

test.each([
  ['reset-approval', false, 'approve'],
  ['deposit', true, 'deposit-native'],
  ['deposit', false, 'deposit-erc20'],
  ['deposit-transfer', false, 'send-erc20'],
  ['pay-address', true, 'send-native'],
  ['fill', true, 'fill-native'],
  ['fill', false, 'fill-erc20'],
  ['fill-swap', false, 'fill-swap'],
  ['refund', true, 'refund-native'],
  ['sweep', false, 'sweep-erc20'],
  ['permit-eip2612', false, 'permit-eip2612'],
] as const)('%s (native: %s) costs the gas and the data of %s', (kind, isNative, shape) => {
  expect(fees.costOf({ kind, isNative })).toBe(1_000n * place(shape) * 7n + place(shape))
})

test('crossed ticks, calls and the clone that runs them are execution on top, and nobody pays rent', () => {
  const plain = fees.costOf({ kind: 'swap', isNative: false })
  expect(fees.costOf({ kind: 'swap', isNative: false, ticksCrossed: 2, callUnits: 5n }) - plain).toBe(
    150_005n * 7n,
  )
  expect([fees.rentOf(), fees.leastPayment()]).toEqual([0n, 0n])
})

describe('a chain that takes its data fee as gas', () => {
  const asGas = (dataWei: bigint, expectedWei = 7n) =>
    new EthereumFees({
      gasPrice: { ...gasPrice, expectedWei },
      gasUnits: perShape(() => 1_000n),
      l1DataFeeWei: perShape(() => dataWei),
      isDataFeeGas: true,
    })
  const send = { kind: 'deposit', isNative: true } as const

  test('costs what one costs that takes it beside the gas, to the wei', () => {
    expect(asGas(700n).costOf(send)).toBe(1_000n * 7n + 700n)
    // Twice the price of gas is half the gas for data, and the same fee.
    expect(asGas(700n, 14n).costOf(send)).toBe(1_000n * 14n + 700n)
  })

  test('needs limits that hold the fee, twice over, and rounds up', () => {
    expect(asGas(700n).gasOf(send)).toEqual({ expected: 1_100n, limit: 1_200n })
    expect(asGas(701n).gasOf(send)).toEqual({ expected: 1_101n, limit: 1_201n })
    expect(asGas(700n).unitsOf({ ...send, callUnits: 5n })).toBe(1_200n + 5n + 90_000n)
    expect(asGas(3n, 0n).gasOf(send)).toEqual({ expected: 1_003n, limit: 1_006n })
  })

  test('is told from one that takes it beside the gas', () => {
    const beside = new EthereumFees({
      gasPrice,
      gasUnits: perShape(() => 1_000n),
      l1DataFeeWei: perShape(() => 700n),
    })
    expect([asGas(700n).equals(asGas(700n)), asGas(700n).equals(beside)]).toEqual([true, false])
    expect(beside.gasOf(send)).toEqual({ expected: 1_000n, limit: 1_000n })
  })
})

test('a step names the gas of its shape and the fees of its chain', () => {
  const [approve, main] = quoting.plan(deposit, { allowance: 0n })
  const identity = { requestId, orderId, deadlineSeconds: 1_800_000_000, depositAddress: undefined }
  if (approve === undefined || main === undefined) throw new Error('two transactions were planned')
  const encode = (paying: NetworkFees) => quoting.encode(main, deposit, { identity, fees: paying })
  const { data, call } = encode(fees)
  expect(data).toMatchObject({
    from: user,
    to: depository,
    value: '0',
    chainId: 10,
    gas: (1_000n * place('deposit-erc20')).toString(),
    maxFeePerGas: '20',
    maxPriorityFeePerGas: '2',
  })
  expect(call).toEqual({ to: depository, data: data['data'], value: 0n })
  expect(quoting.encode(approve, deposit, { identity, fees }).data['to']).toBe(erc20.address)
  expect(() =>
    encode({
      costOf: () => 0n,
      gasOf: () => undefined,
      rentOf: () => 0n,
      leastPayment: () => 0n,
      equals: () => true,
    }),
  ).toThrow('fees of its own family')
})

test.each([
  ['deposit-erc20', deposit],
  ['swap-deposit', { ...deposit, swap }],
  ['swap', { ...deposit, by: 'swap', swap }],
] satisfies [GasShape, OriginRoute][])(
  'Q-fees-01: the data of %s is priced for no fewer bytes than its step has',
  (shape, route) => {
    const amounts = {
      amountIn: 10n ** 23n,
      amountInMax: 10n ** 23n,
      amountOut: 10n ** 23n,
      amountOutMin: 10n ** 23n,
    }
    const [step] = quoting.plan({ ...route, ...amounts }, { allowance: 10n ** 23n })
    if (step === undefined) throw new Error('one transaction was planned')
    const identity = { requestId, orderId, deadlineSeconds: 1_800_000_000, depositAddress: undefined }
    const { call } = quoting.encode(step, { ...route, ...amounts }, { identity, fees })
    const sizeOf = (data = '') => Buffer.from(data.slice(2), 'hex').filter((byte) => byte !== 0).length
    expect(sizeOf(probeCalldata(shapeProbes[shape].words))).toBeGreaterThanOrEqual(sizeOf(call?.data))
  },
)

test('contracts are named in lower case, and nobody by the native currency alone', () => {
  const mixed = `0x${'aB'.repeat(20)}`
  expect(quoting.hexAddress(mixed)).toBe(mixed.toLowerCase())
  expect(() => quoting.hexAddress('0x12')).toThrow()
  expect([native.address, user].map(quoting.isNobody)).toEqual([true, false])
})

describe('open quotes of the same allowance', () => {
  const reset = { ...deposit, currencyIn: { ...erc20, resetsAllowance: true } }
  const approvals = (route: OriginRoute, allowance: bigint | undefined, openSpending: bigint) =>
    quoting
      .plan(route, { allowance, openSpending })
      .flatMap(({ kind, allowed }) => (allowed === undefined ? [] : [[kind, allowed]]))

  test.each([
    ['covers both', 170n, 60n, []],
    ['covers this one alone', 169n, 60n, [['approve', 170n]]],
    ['is not known', undefined, 60n, [['approve', 170n]]],
    ['is endless', 2n ** 256n - 1n, 2n ** 256n - 1n, []],
    ['cannot be larger', 0n, 2n ** 256n - 1n, [['approve', 2n ** 256n - 1n]]],
  ])('Q-53: are counted where the allowance %s', (_what, allowance, open, expected) => {
    expect(approvals(deposit, allowance, open)).toEqual(expected)
  })

  const clear = ['reset-approval', 0n]
  test.each([
    ['nothing is allowed', 0n, 0n, [['approve', 110n]]],
    ['something is', 100n, 60n, [clear, ['approve', 170n]]],
    ['all is', 170n, 60n, []],
  ])('Q-53: reset a token that asks for it only where %s', (_what, allowance, open, expected) => {
    expect(approvals(reset, allowance, open)).toEqual(expected)
  })
})
