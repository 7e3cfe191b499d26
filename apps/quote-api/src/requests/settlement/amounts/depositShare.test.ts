// Goal: no deposit is paid more than it is worth, and none books what it did not bring, whatever slippage, app fees and
// subsidy its quote had. Method: random orders, and quotes of random markets. Adversary: whoever quotes much and deposits
// little.
import {
  DomainError,
  minBigint,
  mulDivDown,
  noFees,
  type Order,
  partsBoughtBy,
  sponsoredWords,
} from '@causeway/core'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { testApp } from '../../../../test/fixtures/app.ts'
import {
  chainA,
  chainB,
  native,
  pools,
  testChainMarket,
  testSnapshot,
  tide,
  usdc as usdcAddress,
  user,
} from '../../../../test/fixtures/market.ts'
import { attempt, randomMarket, randomRequest, toRequest } from '../../../../test/fixtures/randomMarkets.ts'
import { toMicroUsdUp } from '../../../pricing/sponsorship/sponsorUnit.ts'
import { shareOf, subsidyRule } from '../../../pricing/sponsorship/subsidyRule.ts'
import { bookedFor, bookedSkew, paidFor } from './depositShare.ts'

const zero = `0x${'0'.repeat(40)}` as const
const payment = (least: bigint, expected: bigint) => ({
  recipient: zero,
  currency: zero,
  minimumAmount: least.toString(),
  expectedAmount: expected.toString(),
})
const orderOf = (input: bigint): Order => ({
  version: 'v1',
  solverChainId: 'base',
  solver: zero,
  salt: '0x01',
  fees: [],
  inputs: [
    { payment: { chainId: 'base', currency: zero, amount: input.toString(), weight: '1' }, refunds: [] },
  ],
  output: { chainId: 'base', payments: [], calls: [], deadline: 1, extraData: '0x' },
})

describe('a deposit', () => {
  test.each([
    ['of the quoted input', 1_000n, 900n],
    ['of more', 5_000n, 900n],
    ['of the least', 500n, 400n],
    ['of half of what lies between', 750n, 650n],
    ['of a unit more than the least, rounded down', 501n, 401n],
  ])('%s: %i is paid %i', (_what, amount, paid) => {
    expect(paidFor(payment(400n, 900n), orderOf(500n), { amount, quotedInput: 1_000n })).toBe(paid)
  })

  test('L-10: never gains by being smaller: the solver keeps no less of it than between least and quoted', () => {
    const amounts = fc.bigInt({ min: 1n, max: 2n ** 128n })
    fc.assert(
      fc.property(
        fc.tuple(amounts, amounts),
        fc.tuple(amounts, amounts),
        amounts,
        (inputs, outputs, noise) => {
          const [least, quoted] = inputs[0] < inputs[1] ? inputs : [inputs[1], inputs[0]]
          const [low, high] = outputs[0] < outputs[1] ? outputs : [outputs[1], outputs[0]]
          const amount = least + (noise % (quoted - least + 1n))
          const paid = paidFor(payment(low, high), orderOf(least), { amount, quotedInput: quoted })
          expect(paid).toBeGreaterThanOrEqual(low)
          expect(paid).toBeLessThanOrEqual(high)
          expect((paid - low) * (quoted - least)).toBeLessThanOrEqual((high - low) * (amount - least))
        },
      ),
      { numRuns: 1_000 },
    )
  })
})

describe('L-10: a deposit books', () => {
  const terms = {
    quoted: {
      appFees: [
        { recipient: '0xAb', feeBps: '9000' },
        { recipient: '0xcd', feeBps: '33' },
      ],
    },
    feeBasis: 5_000n,
    debitMicroUsd: 2_660_001n,
  }
  test.each([
    ['the quoted input', 5_000n, { input: 5_000n, fees: [4_500n, 16n], debitMicroUsd: 2_660_001n }],
    ['more, which goes back', 9_000n, { input: 5_000n, fees: [4_500n, 16n], debitMicroUsd: 2_660_001n }],
    ['a hundredth', 50n, { input: 50n, fees: [45n, 0n], debitMicroUsd: 26_601n }],
    ['a unit', 1n, { input: 1n, fees: [0n, 0n], debitMicroUsd: 533n }],
  ])('its own part: %s', (_what, deposited, { fees, ...booked }) => {
    const recipients = ['0xab', '0xcd']
    const appFees = fees.map((amount, index) => ({ recipient: recipients[index], amount }))
    expect(bookedFor(terms, deposited)).toEqual({ ...booked, appFees })
  })
})

describe('Q-47: a deposit books its own part of the quoted skew', () => {
  const booked = (skew: bigint, deposited: bigint) => {
    const fees = { ...noFees, skew }
    const units = { fee: { decimals: 6, usdX18: 10n ** 18n } }
    return bookedSkew({ quoted: { fees, units }, feeBasis: 5_000n }, deposited)
  }
  test.each([
    ['a cost, rounded down', 1_001n, [1_001n, 1_001n, 10n, 0n]],
    ['a reward, rounded up', -1_001n, [-1_001n, -1_001n, -11n, -1n]],
  ])('%s', (_what, skew, expected) => {
    expect([5_000n, 9_000n, 50n, 1n].map((deposited) => booked(skew, deposited))).toEqual(expected)
  })

  test.each([
    // The way to the targets and beyond costs a little; a tenth of it would earn.
    ['a quote that earns nothing', 2_000n],
    ['a quote that earns', 40_000n],
  ])('and is paid no more than with it: %s', async (_what, awayUsd) => {
    const inventory = (usdcOf: bigint) => ({ [native]: 500n * 10n ** 18n, [usdcAddress]: usdcOf * 10n ** 6n })
    const chains = [
      testChainMarket(chainA, { pools, inventory: inventory(1_000_000n - awayUsd) }),
      testChainMarket(chainB, { pools, inventory: inventory(1_000_000n + awayUsd) }),
    ]
    const market = { current: testSnapshot({ chains }) }
    const app = await testApp({ config: { kappaBps: 20 }, market })
    onTestFinished(() => app.close())
    const payload = {
      user,
      recipient: user,
      originChainId: chainA,
      destinationChainId: chainB,
      tradeType: 'EXACT_INPUT',
      originCurrency: tide,
      destinationCurrency: usdcAddress,
      amount: `${2_500n * 10n ** 18n}`,
      slippageTolerance: '9000',
      overridePriceImpact: true,
    }
    expect((await app.inject({ method: 'POST', url: '/quote', payload })).statusCode).toBe(200)
    const priced = app.stored[0]?.quote.priced
    if (priced?.solver === undefined) throw new Error('a solver fills it')
    const { split, solver, amountOutMin } = priced
    const { gas, flat, platform, skew } = split.parts
    const least = solver.depositAmount
    expect(skew < 0n).toBe(awayUsd > 10_000n)
    expect(least * 5n).toBeLessThan(split.amountIn)
    const shareOfBoth = mulDivDown(platform + skew, least, split.amountIn)
    expect(least - amountOutMin).toBeGreaterThanOrEqual(gas + flat + shareOfBoth - 1n)
  })
})

const usdc = { asset: { id: 'usdc' }, usdX18: 10n ** 18n }
const recipient = `0x${'a'.repeat(40)}`

const games = fc.record({
  path: fc.constantFrom('direct', 'swap-in', 'swap-in', 'swap-in'),
  slippageBps: fc.bigInt({ min: 0n, max: 9_900n }),
  appFees: fc.array(fc.bigInt({ min: 0n, max: 9_000n }), { maxLength: 2 }),
  usdScaled: fc.bigInt({ min: 1n, max: 10n ** 6n }),
  selected: fc.option(fc.subarray([...sponsoredWords], { minLength: 1 }), { nil: undefined }),
  /** The deposit's place between the least and twice the quoted input, in parts of 2^32. */
  place: fc.integer({ min: 0, max: 2 ** 32 }),
})

test('L-10: over slippage, fees and deposits, what is paid and booked never exceeds what was deposited and owed', async () => {
  let slipped = 0
  let sponsored = 0
  await fc.assert(
    fc.asyncProperty(randomMarket, randomRequest, games, async (market, random, game) => {
      const { path, slippageBps, appFees, usdScaled, selected, place } = game
      const asked = toRequest(market, {
        ...random,
        path,
        slippageBps,
        appFees,
        usdScaled,
        ...({ tradeType: 'EXACT_INPUT', topupGas: false } as const),
      })
      const terms = {
        ...({ apiKeyId: 'key', sponsor: `0x${'5'.repeat(40)}`, allOrNothing: false } as const),
        selected: new Set((selected ?? []).flatMap(partsBoughtBy)),
        capMicroUsd: undefined,
      }
      const priced = await attempt(market, asked, selected && subsidyRule(terms, usdc))
      if (priced instanceof DomainError || priced.solver === undefined) return
      const { split, solver, amountOut, amountOutMin } = priced
      const { unit } = shareOf(terms, priced, usdc)
      const [least, quotedInput] = [solver.depositAmount, split.amountIn]
      const deposited = least + ((2n * quotedInput - least) * BigInt(place)) / 2n ** 32n
      const debitMicroUsd = toMicroUsdUp(unit, split.subsidized)
      const quoted = { appFees: appFees.map((bps) => ({ recipient, feeBps: bps.toString() })) }
      const booked = bookedFor({ quoted, feeBasis: quotedInput, debitMicroUsd }, deposited)
      const paid = paidFor(payment(amountOutMin, amountOut), orderOf(least), {
        amount: deposited,
        quotedInput,
      })
      const accrued = booked.appFees.reduce((sum, { amount }) => sum + amount, 0n)
      const { gas, flat, rent } = split.parts
      const counted = minBigint(deposited, quotedInput)
      const skew = mulDivDown(split.parts.skew, counted, quotedInput)
      const owed = (split.subsidized * counted) / quotedInput
      expect(paid + accrued + gas + flat + rent + skew).toBeLessThanOrEqual(counted + owed + 1n)
      expect(booked.debitMicroUsd * quotedInput).toBeGreaterThanOrEqual(debitMicroUsd * counted)
      expect(booked.debitMicroUsd * quotedInput).toBeLessThan(debitMicroUsd * counted + quotedInput)
      if (deposited < quotedInput) slipped += 1
      if (deposited < quotedInput && split.subsidized > 0n) sponsored += 1
    }),
    { numRuns: 2_000, endOnFailure: true },
  )
  expect(slipped).toBeGreaterThan(50)
  expect(sponsored).toBeGreaterThan(20)
})
