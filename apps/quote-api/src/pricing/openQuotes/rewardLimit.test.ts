// Goal: a reward is the least of three: over the present inventory, by the budget, and of one's part of what all counted
// moves leave. Method: each of them the least, beside the skew of the moved inventories.
import { expect, test } from 'vitest'
import { afterMoves, assetInventory, skewCostUsd } from '../market/inventory.ts'
import { type CountedMoves, createRewardLimit, type RatedMove, type Weight } from './rewardLimit.ts'

const usd = 10n ** 18n
const parameters = { kappaBps: 10_000n, rewardCapBps: 10_000n, maxSkewBps: 100n, reserveBps: 0n }
const inventory = (onOne: bigint, onTwo: bigint) =>
  assetInventory(parameters, [
    { chainId: 1, balanceUsd: onOne * usd, shareBps: 5_000n },
    { chainId: 2, balanceUsd: onTwo * usd, shareBps: 5_000n },
  ])
const [usdc, eth] = [inventory(1_000n, 9_000n), inventory(4_000n, 6_000n)]
const rated = (usdX18: bigint): RatedMove => ({
  received: { assetId: 'usdc', chainId: 1, asset: usdc },
  paid: { assetId: 'eth', chainId: 2, asset: eth },
  usdX18,
})
const costOf = (received: typeof usdc, paid: typeof eth, usdX18: bigint) =>
  skewCostUsd(
    { asset: received, chainId: 1, deltaUsd: usdX18 },
    { asset: paid, chainId: 2, deltaUsd: -usdX18 },
  )

const once: Weight = { numerator: 1n, denominator: 1n }
const amount = 90n * usd
const cost = costOf(usdc, eth, amount)
const plenty = 10n ** 12n
const limitOf = (leftMicroUsd: bigint, ownWeight = once) =>
  createRewardLimit([], { ownWeight, leftMicroUsd }).rewardOf(cost, rated(amount))

test('Q-46: a reward is at most the budget, and never a cost', () => {
  expect(cost).toBeLessThan(-50n * usd)
  expect([plenty, 50_000_000n, 0n, -1n].map((left) => limitOf(left))).toEqual([cost, -50n * usd, 0n, 0n])
  const dear = createRewardLimit([], { ownWeight: once, leftMicroUsd: plenty })
  expect(dear.rewardOf(usd, rated(amount))).toBe(0n)
})

test('Q-40, Q-41: who counts several times earns its part of the reward for as many moves', () => {
  const [threeHalves, ten] = [
    { numerator: 3n, denominator: 2n },
    { numerator: 10n, denominator: 1n },
  ]
  expect(limitOf(plenty, threeHalves)).toBe((costOf(usdc, eth, (amount * 3n) / 2n) * 2n) / 3n)
  expect(limitOf(plenty, ten)).toBe(costOf(usdc, eth, amount * 10n) / 10n)
  expect(limitOf(1_000_000n, ten)).toBe(-usd)
})

test('Q-40: moves that count lower a reward by their weights, in either asset, at most to nothing', () => {
  const received = (moved: bigint) => ({ net: new Map([['usdc', new Map([[1, moved]])]]), weight: once })
  const paid = (moved: bigint) => ({
    net: new Map([['eth', new Map([[2, -moved]])]]),
    weight: { numerator: 3n, denominator: 2n },
  })
  const other = { net: new Map([['tide', new Map([[1, usd]])]]), weight: once }
  const limit = (...counted: readonly CountedMoves[]) =>
    createRewardLimit([other, ...counted], { ownWeight: once, leftMicroUsd: plenty })
  const rewardOf = (...counted: readonly CountedMoves[]) => limit(...counted).rewardOf(cost, rated(amount))
  const usdcAfter = (moved: bigint) => afterMoves(usdc, new Map([[1, moved]]))
  const ethAfter = (moved: bigint) => afterMoves(eth, new Map([[2, -moved]]))
  const [some, few] = [received(100n * usd), paid(20n * usd)]
  expect([rewardOf(), rewardOf(some), rewardOf(few), rewardOf(some, few), rewardOf(some, some)]).toEqual([
    cost,
    costOf(usdcAfter(100n * usd), eth, amount),
    costOf(usdc, ethAfter(30n * usd), amount),
    costOf(usdcAfter(100n * usd), ethAfter(30n * usd), amount),
    costOf(usdcAfter(200n * usd), eth, amount),
  ])
  expect(rewardOf(received(9_000n * usd), paid(2_000n * usd))).toBe(0n)
  // One limit prices many amounts over the inventories of its snapshot, and over others once these are there.
  const one = limit(some, few)
  const later = inventory(2_000n, 8_000n)
  const moved = { ...rated(amount), received: { assetId: 'usdc', chainId: 1, asset: later } }
  expect([one.rewardOf(cost, rated(amount)), one.rewardOf(cost, moved)]).toEqual([
    rewardOf(some, few),
    costOf(afterMoves(later, new Map([[1, 100n * usd]])), ethAfter(30n * usd), amount),
  ])
})
