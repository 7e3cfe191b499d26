// Goal: only what an address held at both of two blocks counts as deep. Method: the rule over small balances.
import { expect, test } from 'vitest'
import { amountOf, type HeldBalances, heldAtBoth, othersOf } from './balanceReading.ts'

const [usdc, tide] = [`0x${'dc'.repeat(20)}`, `0x${'7d'.repeat(20)}`] as const
const coin = `0x${'0'.repeat(40)}` as const
const held = (nativeAmount: bigint, ...tokens: [`0x${string}`, bigint][]): HeldBalances =>
  new Map([...(nativeAmount > 0n ? [[coin, nativeAmount] as const] : []), ...tokens])

test('the lesser of both counts, whichever block had it', () => {
  const newest = held(5n, [usdc, 7n], [tide, 1n])
  const deeper = held(9n, [usdc, 3n])
  expect(heldAtBoth(newest, deeper)).toEqual(held(5n, [usdc, 3n]))
  expect(heldAtBoth(deeper, newest)).toEqual(held(5n, [usdc, 3n]))
})

test('what came after the deeper block, or left since, is nothing', () => {
  expect(heldAtBoth(held(5n, [usdc, 7n]), held(0n)).size).toBe(0)
  expect(heldAtBoth(held(0n), held(5n, [usdc, 7n])).size).toBe(0)
  expect(held(1n).size).toBe(1)
})

test('native coin at the address of a token is another currency, and the token at that of native coin', () => {
  const both = held(5n, [usdc, 7n])
  expect([amountOf(both, usdc), othersOf(both, usdc)]).toEqual([7n, [[coin, 5n]]])
  expect([amountOf(both, coin), othersOf(both, coin)]).toEqual([5n, [[usdc, 7n]]])
})
