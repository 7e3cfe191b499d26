// Goal: the skew is what the stated potential says, and moves that are on their way change an inventory as balances would.
// Method: the definition in fractions, beside the sums that are kept for speed.
import { currencyKey } from '@causeway/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { afterMoves, assetInventory, payableUsd, skewCostUsd } from './inventory.ts'

const usd = 10n ** 18n
const parameters = { kappaBps: 20n, rewardCapBps: 10n, maxSkewBps: 100n, reserveBps: 500n }
const bps = 10_000n
/** Digits behind the last unit, in which the potential of the definition is counted. */
const fine = 10n ** 9n
const shares = [5_000n, 3_000n, 1_900n, 30n] as const
const leastShare = 100n

type Balances = readonly bigint[]
const view = (balances: Balances) =>
  assetInventory(
    parameters,
    balances.map((balanceUsd, chainId) => ({ chainId, balanceUsd, shareBps: shares[chainId] ?? 0n })),
  )
const moved = (balances: Balances, at: number, by: bigint): Balances =>
  balances.map((balance, chainId) => (chainId === at ? balance + by : balance))

/** Σ κ·(b − t)²/(2t), with t = s·B. */
function potential(balances: Balances): bigint {
  const total = balances.reduce((sum, balance) => sum + balance, 0n)
  return balances.reduce((sum, balance, chainId) => {
    const share = shares[chainId] === 30n ? leastShare : (shares[chainId] ?? leastShare)
    const off = bps * balance - share * total
    return sum + (parameters.kappaBps * off * off * fine) / (2n * bps * bps * share * total)
  }, 0n)
}

const balances = fc.array(fc.bigInt(1_000n * usd, 5_000_000n * usd), { minLength: 4, maxLength: 4 })
const moves = fc.record({
  one: balances,
  other: balances,
  isOneAsset: fc.boolean(),
  from: fc.nat(3),
  to: fc.nat(3),
  inUsd: fc.bigInt(1n, 900n * usd),
  outUsd: fc.bigInt(1n, 900n * usd),
})

test('Q-40: a skew is the change of the potential, rounded up, and a reward of it at most the cap', () => {
  fc.assert(
    fc.property(moves, ({ one, other, isOneAsset, from, to, inUsd, outUsd }) => {
      const received = view(one)
      const paid = isOneAsset ? received : view(other)
      const cost = skewCostUsd(
        { asset: received, chainId: from, deltaUsd: inUsd },
        { asset: paid, chainId: to, deltaUsd: -outUsd },
      )
      const change = isOneAsset
        ? potential(moved(moved(one, from, inUsd), to, -outUsd)) - potential(one)
        : potential(moved(one, from, inUsd)) -
          potential(one) +
          potential(moved(other, to, -outUsd)) -
          potential(other)
      const mostReward = (inUsd * parameters.rewardCapBps) / bps
      expect(cost).toBeGreaterThanOrEqual(-mostReward)
      const least = change < -mostReward * fine ? -mostReward * fine : change
      expect(cost * fine).toBeGreaterThanOrEqual(least - fine)
      expect(cost * fine).toBeLessThanOrEqual(least + 4n * fine)
    }),
    { numRuns: 2_000 },
  )
})

test('Q-40: a chain without balance weighs least, and an empty inventory costs its potential alone', () => {
  const empty = assetInventory(parameters, [])
  const [here, there] = [
    { asset: empty, chainId: 1, deltaUsd: usd },
    { asset: empty, chainId: 2, deltaUsd: -usd },
  ]
  // b²/s of each side is 100 USD², over one micro-dollar.
  expect(skewCostUsd(here, there)).toBe(200_000n * usd)
})

test('Q-40: moves change an inventory as its balances would, where these are known', () => {
  const at = [100n * usd, 200n * usd, 300n * usd, 7n * usd]
  const inventory = assetInventory(parameters, [
    ...at.map((balanceUsd, chainId) => ({
      chainId,
      balanceUsd,
      shareBps: shares[chainId] ?? 0n,
      floorUsd: 5n * usd,
      payableByCurrency: new Map([[currencyKey(chainId, 'a'), usd]]),
    })),
    { chainId: 9, balanceUsd: undefined, shareBps: 1_000n },
  ])
  const after = afterMoves(
    inventory,
    new Map([
      [0, 40n * usd],
      [2, -90n * usd],
      [9, usd],
    ]),
  )
  const chains = new Map(inventory.chains)
  const changed = (chainId: number, balanceUsd: bigint) => {
    const position = inventory.chains.get(chainId)
    if (position !== undefined) chains.set(chainId, { ...position, balanceUsd })
  }
  changed(0, 140n * usd)
  changed(2, 210n * usd)
  const { totalUsd, squaresPerShare, shareSumBps, potentialTerm } = view([
    140n * usd,
    200n * usd,
    210n * usd,
    7n * usd,
  ])
  const sums = { totalUsd, squaresPerShare, shareSumBps, potentialTerm }
  expect(after).toEqual({ ...inventory, chains, ...sums })

  // A chain that cannot be priced now is in no sum of shares.
  const beyond = afterMoves(inventory, new Map([[5, 50n * usd]]))
  expect(beyond.chains.get(5)).toMatchObject({ balanceUsd: 50n * usd, shareBps: leastShare })
  expect([beyond.totalUsd, beyond.shareSumBps]).toEqual([657n * usd, inventory.shareSumBps])
  expect(beyond.squaresPerShare - inventory.squaresPerShare).toBe(2_500n * usd * usd * (bps / leastShare))
})

test('Q-82, Q-132: nothing is payable below the floor, or of a currency without a balance of its own', () => {
  const [own, other] = [currencyKey(1, 'own'), currencyKey(1, 'other')]
  const payableByCurrency = new Map([[own, 2_000n * usd]])
  const asset = assetInventory(parameters, [
    { chainId: 1, balanceUsd: 1_000n * usd, shareBps: 1n, payableByCurrency, floorUsd: 100n * usd },
  ])
  const payable = [own, other].map((key) => payableUsd(asset, { chainId: 1, key }))
  expect(payable).toEqual([900n * usd, 0n])
})
