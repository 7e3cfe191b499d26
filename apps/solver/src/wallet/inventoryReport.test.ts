// Goal: what to withdraw and to move brings every chain nearer to its share, never below a floor, and makes nothing of nothing.
// Method: worked examples, and random wallets and hub balances whose sums are held against what the plan leaves.
import { minBigint } from '@causeway/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeInventory, type Holding, lastingSeconds, planInventory } from './inventoryReport.ts'

const owner = { chain: 'base', account: '0x01' }
const other = { chain: 'optimism', account: '0x02' }

const holding = (chain: string, amount: bigint, more: Partial<Holding> = {}): Holding => ({
  chain,
  currency: `${chain}-usdc`,
  symbol: 'USDC',
  asset: 'usdc',
  decimals: 6,
  amount,
  floor: 0n,
  targetShareBps: 5_000,
  atHub: [],
  unsettled: 0n,
  dayOutflow: 0n,
  ...more,
})
const owed = (amount: bigint) => ({ atHub: [{ ...owner, amount }] })
const nothing = { withdrawals: [], moves: [] }
const format = (amount: bigint) => String(amount)

describe('O-96: what to withdraw and to move', () => {
  test('goes from where most is too much to where most is missing', () => {
    const { moves } = planInventory([holding('base', 900n), holding('optimism', 100n)])
    expect(moves).toEqual([{ symbol: 'USDC', decimals: 6, amount: 400n, from: 'base', to: 'optimism' }])
  })

  test('comes from the hub first, because that takes nothing from another chain', () => {
    const plan = planInventory([holding('base', 500n), holding('optimism', 100n, owed(400n))])
    expect(plan.moves).toEqual([])
    expect(plan.withdrawals).toMatchObject([{ chain: 'optimism', amount: 400n, owner }])
  })

  test('is withdrawn where it was deposited before it moves on', () => {
    const plan = planInventory([holding('base', 100n, owed(900n)), holding('optimism', 0n)])
    expect(plan.withdrawals).toMatchObject([{ chain: 'base', amount: 900n }])
    expect(plan.moves).toMatchObject([{ amount: 500n, from: 'base', to: 'optimism' }])
  })

  test('takes the largest balance of several owners first, and of each no more than it has', () => {
    const atHub = [
      { ...owner, amount: 100n },
      { ...other, amount: 250n },
    ]
    const plan = planInventory([holding('base', 650n), holding('optimism', 200n, { atHub })])
    expect(plan.withdrawals).toMatchObject([
      { amount: 250n, owner: other },
      { amount: 100n, owner },
    ])
  })

  test('goes by the flow of the last day where no share is named, and then moves nothing between chains', () => {
    const unnamed = { targetShareBps: undefined }
    const plan = planInventory([
      holding('base', 900n, { ...unnamed, ...owed(100n), dayOutflow: 1n }),
      holding('optimism', 100n, { ...unnamed, ...owed(900n), dayOutflow: 3n }),
    ])
    expect(plan).toMatchObject({ moves: [], withdrawals: [{ chain: 'optimism', amount: 900n }] })
  })

  test.each([
    [
      'where no share is named and nothing was paid',
      [holding('base', 900n, { targetShareBps: undefined, ...owed(9n) })],
    ],
    [
      'where one share is not named',
      [holding('base', 900n, { targetShareBps: undefined }), holding('optimism', 100n)],
    ],
    ['where little is missing', [holding('base', 505n), holding('optimism', 495n, owed(5n))]],
    ['below a floor', [holding('base', 900n, { floor: 900n }), holding('optimism', 100n)]],
    ['of nothing', [holding('base', 0n), holding('optimism', 0n)]],
    ['where decimals differ', [holding('base', 900n), holding('optimism', 0n, { decimals: 18 })]],
  ])('is nothing %s', (_what, holdings) => {
    expect(planInventory(holdings)).toEqual(nothing)
  })

  test('never takes more than there is: sums are kept, no wallet falls below its floor, no balance below zero', () => {
    const amount = fc.bigInt(0n, 10n ** 12n)
    const places = fc.array(
      fc.record({ amount, floor: amount, hub: fc.tuple(amount, amount), dayOutflow: amount }),
      {
        minLength: 1,
        maxLength: 6,
      },
    )
    fc.assert(
      fc.property(places, fc.boolean(), (list, isShared) => {
        const share = isShared ? Math.floor(10_000 / list.length) : undefined
        const holdings = list.map(({ hub: [first, second], ...one }, index) =>
          holding(`chain${index}`, one.amount, {
            floor: one.floor,
            dayOutflow: one.dayOutflow,
            targetShareBps: share,
            atHub: [
              { ...owner, amount: first },
              { ...other, amount: second },
            ],
          }),
        )
        const wallets = new Map(holdings.map(({ chain, amount: held }) => [chain, held]))
        const change = (chain: string, by: bigint) => wallets.set(chain, (wallets.get(chain) ?? 0n) + by)
        const { withdrawals, moves } = planInventory(holdings)
        for (const { chain, amount: taken, owner: from } of withdrawals) {
          expect(taken).toBeGreaterThan(0n)
          const balance = holdings
            .find((one) => one.chain === chain)
            ?.atHub.find((one) => one.account === from.account)
          expect(taken).toBeLessThanOrEqual(balance?.amount ?? 0n)
          change(chain, taken)
        }
        const named = withdrawals.map(({ chain, owner: from }) => `${chain} ${from.account}`)
        expect(new Set(named).size).toBe(named.length)
        for (const { from, to, amount: moved } of moves) {
          expect(moved).toBeGreaterThan(0n)
          change(from, -moved)
          change(to, moved)
        }
        const sum = (values: Iterable<bigint>) => [...values].reduce((total, one) => total + one, 0n)
        const withdrawn = sum(withdrawals.map((one) => one.amount))
        expect(sum(wallets.values())).toBe(sum(holdings.map((one) => one.amount)) + withdrawn)
        for (const { chain, amount: before, floor } of holdings) {
          const left = wallets.get(chain) ?? 0n
          expect(left).toBeGreaterThanOrEqual(minBigint(before, floor))
        }
      }),
    )
  })
})

describe('O-96: the report', () => {
  test('says what is below its floor, what the hub owes, and how long it lasts', () => {
    const held = holding('base', 112n, { floor: 100n, ...owed(7n), unsettled: 5n, dayOutflow: 24n })
    expect(lastingSeconds(held)).toBe(43_200n)
    const text = describeInventory([held, holding('optimism', 1n, { floor: 2n })], nothing, {
      format,
      commandOf: () => '',
    })
    expect(text.split('\n')).toEqual([
      'base  USDC  112  floor 100  on the hub 7  not settled on the hub 5  lasts 12 h at 24 a day',
      'optimism  USDC  1  floor 2  BELOW ITS FLOOR',
      '',
      'Nothing needs to be moved.',
    ])
  })

  test('has the command of each withdrawal, and says that it moved nothing', () => {
    const holdings = [holding('base', 500n), holding('optimism', 100n, owed(400n))]
    const plan = planInventory(holdings)
    const text = describeInventory(holdings, plan, { format, commandOf: ({ amount }) => `take ${amount}` })
    expect(text).toContain('withdraw 400 USDC on optimism, which the hub owes 0x01 of base:\n  take 400\n')
    expect(text).toContain('This command moved nothing')
  })
})
