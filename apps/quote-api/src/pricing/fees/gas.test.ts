// Goal: calls of an account may cost the solver what was charged for them, also where state became dearer. Attack: a
// surcharge that is counted twice, so that the solver pays more than was charged, or left out, so that it gives up what
// was paid for. Method: the sum that the solver makes of the work, over fees of the same network. Of each way in which the
// solver makes a deposit, and of sweeps and refunds, the transaction that is charged.
import { EthereumFees, type GasShape, gasShapes, gasUnits } from '@causeway/families/rules'
import { expect, test } from 'vitest'
import {
  chainA,
  native,
  testChainMarket,
  testConfig,
  testRegistry,
  testSnapshot,
  tide,
  usdc,
  weth,
} from '../../../test/fixtures/market.ts'
import { executionUnits, isExecuted, refundCost, relayedDeposit, solverGasLimit, sweepCostIn } from './gas.ts'

const originGasOverhead = 50_000n
const asset = (id: string) => {
  const found = testConfig().assets.find((one) => one.id === id)
  if (found === undefined) throw new Error(`no asset ${id}`)
  return found
}

test.each([
  ['a deposit', 'usdc', 'execute'],
  ['a swap before it', 'tide', 'execute-swap'],
] as const)('F-114: the solver may spend on %s what was charged', (_what, id, kind) => {
  for (const dearer of [
    { slotUnits: 0n, accountUnits: 0n },
    { slotUnits: 75_820n, accountUnits: 183_600n },
  ]) {
    const fees = new EthereumFees({
      gasPrice: { expectedWei: 1n, maxFeePerGasWei: 2n, maxPriorityFeePerGasWei: 1n },
      gasUnits,
      dearer,
      // CAST: filled from the closed list of shapes.
      l1DataFeeWei: Object.fromEntries(gasShapes.map((shape) => [shape, 0n])) as Record<GasShape, bigint>,
    })
    const charged = fees.costOf({ kind, isNative: false, overheadUnits: originGasOverhead })
    const gasMax = executionUnits({ asset: asset(id) }, { originGasOverhead }, dearer)
    // As `apps/solver/src/work/relays.ts` reads it.
    const overheadUnits = solverGasLimit(gasMax, dearer) - gasUnits.execute
    expect(gasMax).toBe(charged)
    expect(fees.costOf({ kind: 'execute', isNative: false, overheadUnits })).toBe(charged)
  }
})

const [plain] = testRegistry().chains
if (plain === undefined) throw new Error('the test configuration has no chain')
const withPermit2 = { ...plain, config: { ...plain.config, permit2Router: `0x${'9'.repeat(40)}` as const } }
const currencyOf = (address: string) => {
  const currency = plain.currencies.get(address)
  if (currency === undefined) throw new Error(`no currency ${address}`)
  return currency
}
const byUser = { usePermit: false, useDepositAddress: false }

test.each([
  ['that the user sends', byUser, usdc, undefined],
  ['that the user sends without more gas', { ...byUser, originGasOverhead: 0n }, usdc, undefined],
  ['of a swept token', { ...byUser, useDepositAddress: true }, usdc, { kind: 'sweep', isNative: false }],
  ['of swept coin', { ...byUser, useDepositAddress: true }, native, { kind: 'sweep', isNative: true }],
  [
    'of a swept token after a swap',
    { ...byUser, useDepositAddress: true, originGasOverhead: 9n },
    tide,
    { kind: 'sweep-swap', isNative: false },
  ],
  [
    'of submitted calls',
    { ...byUser, originGasOverhead: 9n },
    usdc,
    { kind: 'execute', isNative: false, overheadUnits: 9n },
  ],
  [
    'of submitted calls with a swap',
    { ...byUser, originGasOverhead: 9n },
    tide,
    { kind: 'execute-swap', isNative: false, overheadUnits: 9n },
  ],
  [
    "by a token's own permit",
    { ...byUser, usePermit: true, originGasOverhead: 9n },
    usdc,
    { kind: 'permit-eip3009', isNative: false },
  ],
  ['by Permit2', { ...byUser, usePermit: true }, weth, { kind: 'permit-permit2', isNative: false }],
  [
    'by Permit2 with a swap',
    { ...byUser, usePermit: true },
    tide,
    { kind: 'permit-permit2-swap', isNative: false },
  ],
] as const)('a deposit %s has its own transaction', (_what, request, address, transaction) => {
  const route = { origin: withPermit2, currencyIn: currencyOf(address) }
  expect(relayedDeposit(request, route)).toEqual(transaction)
  const isSubmitted = transaction?.kind === 'execute' || transaction?.kind === 'execute-swap'
  expect(isExecuted(request)).toBe(isSubmitted)
})

test('a permit of a currency without one is a bug', () => {
  const route = { origin: plain, currencyIn: currencyOf(tide) }
  expect(() => relayedDeposit({ ...byUser, usePermit: true }, route)).toThrow('without permits')
})

test('Q-153: sweeps and refunds cost their gas in the currency that they move', () => {
  const gasUnits = {
    'sweep-native': 20_000n,
    'sweep-erc20': 40_000n,
    'refund-native': 60_000n,
    'refund-erc20': 80_000n,
  }
  const snapshot = testSnapshot({
    chains: [testChainMarket(chainA, { gasUnits })],
  })
  const [token, coin] = [currencyOf(usdc), currencyOf(native)]
  // Four units of gas cost a micro-dollar.
  expect([token, coin].map((currency) => sweepCostIn(snapshot, plain, currency))).toEqual([
    10_000n,
    2_000_000_000_000n,
  ])
  expect(refundCost(snapshot, plain, token)).toBe(20_000n)
  expect(refundCost(snapshot, plain, coin, 5_000n)).toBe(6_500_000_000_000n)
})
