// Goal: each rewarded move counts once, from its quote until the inventory shows it. Method: the sums themselves, after
// each step, with time as an argument and a budget that writes down what it is told.
import { expect, test } from 'vitest'
import {
  addMove,
  BoundMoves,
  type NetMoves,
  type OpenMove,
  OpenMoves,
  type RewardedMove,
} from './rewardedMoves.ts'

const move = (usdX18: bigint, [from, to] = [1, 2], assetId = 'usdc'): RewardedMove => ({
  received: { assetId: 'usdc', chainId: from },
  paid: { assetId, chainId: to },
  usdX18,
  microUsd: usdX18 / 10n,
})
const sums = (net: NetMoves) =>
  Object.fromEntries([...net].map(([id, chains]) => [id, Object.fromEntries(chains)]))

test('moves add up by asset and chain, and a sum of nothing has no entry', () => {
  const net: NetMoves = new Map()
  addMove(net, move(50n), 1n)
  addMove(net, move(20n, [2, 3], 'eth'), 1n)
  expect(sums(net)).toEqual({ usdc: { 1: 50n, 2: -30n }, eth: { 3: -20n } })
  addMove(net, move(30n, [2, 1]), 1n)
  addMove(net, move(20n, [2, 3], 'eth'), -1n)
  expect(sums(net)).toEqual({ usdc: { 1: 20n, 2: -20n } })
  addMove(net, move(20n), -1n)
  expect(net).toEqual(new Map())
})

test('Q-42: a bound move counts once however often it is listed, until 30 seconds after the last time', () => {
  const bound = new BoundMoves()
  const listed = { move: move(50n), isBooked: false, listedAtSeconds: 100 }
  bound.put('0x1', listed)
  bound.put('0x1', { ...listed, isBooked: true, listedAtSeconds: 110 })
  bound.put('0x2', { ...listed, move: move(70n) })
  expect([sums(bound.net), bound.pendingMicroUsd()]).toEqual([{ usdc: { 1: 120n, 2: -120n } }, 7n])
  bound.prune(130)
  expect(bound.get('0x2')).toBeDefined()
  bound.prune(131)
  expect([bound.get('0x2'), bound.get('0x1')?.isBooked]).toEqual([undefined, true])
  expect([sums(bound.net), bound.pendingMicroUsd()]).toEqual([{ usdc: { 1: 50n, 2: -50n } }, 0n])
  bound.prune(140)
  expect(sums(bound.net)).toEqual({ usdc: { 1: 50n, 2: -50n } })
  bound.prune(141)
  expect(bound.net).toEqual(new Map())
})

function opened() {
  const told: unknown[] = []
  const tell =
    (what: string) =>
    (microUsd: bigint, { hasKey }: { readonly hasKey: boolean }) => {
      told.push([what, microUsd, hasKey])
    }
  const open = new OpenMoves({
    left: () => 0n,
    hold: tell('hold'),
    release: tell('release'),
    spend: () => {},
    claim: () => 0n,
    confirm: () => {},
  })
  const hold = (usdX18: bigint, endsAtSeconds: number, hasKey = true) => {
    const held: OpenMove = { move: move(usdX18), hasKey, endsAtSeconds, requestId: undefined }
    open.hold(held)
    return held
  }
  return { open, hold, told, nets: () => [sums(open.keyedNet), sums(open.keylessNet)] }
}

test('Q-40: an open move counts until its price has ended or it is released, with a key apart', () => {
  const { open, hold, told, nets } = opened()
  const both = [hold(50n, 60), hold(30n, 60, false)]
  hold(70n, 61)
  expect(nets()).toEqual([{ usdc: { 1: 120n, 2: -120n } }, { usdc: { 1: 30n, 2: -30n } }])
  open.prune(60)
  expect(nets()[0]).toEqual({ usdc: { 1: 120n, 2: -120n } })
  open.prune(61)
  expect(nets()).toEqual([{ usdc: { 1: 70n, 2: -70n } }, {}])
  for (const ended of both) open.release(ended)
  // A clock that was set back ends nothing more.
  const early = hold(10n, 40)
  for (const nowSeconds of [50, 61]) open.prune(nowSeconds)
  expect(nets()[0]).toEqual({ usdc: { 1: 80n, 2: -80n } })
  open.release(early)
  expect(told).toEqual([
    ['hold', 5n, true],
    ['hold', 3n, false],
    ['hold', 7n, true],
    ['release', 5n, true],
    ['release', 3n, false],
    ['hold', 1n, true],
    ['release', 1n, true],
  ])
})

test('Q-42: a request ends its own open move by its name, once, and no move that had ended before', () => {
  const { open, hold, told, nets } = opened()
  const [named, other, ended] = [hold(50n, 60), hold(70n, 60), hold(10n, 30)]
  open.name(named, '0x1')
  open.name(other, '0x2')
  open.prune(31)
  open.name(ended, '0x3')
  for (const id of ['0x1', '0x1', '0x3', '0x4'] as const) open.releaseNamed(id)
  expect(nets()[0]).toEqual({ usdc: { 1: 70n, 2: -70n } })
  // The name is free again for a move that is held later.
  open.release(other)
  open.name(hold(20n, 60), '0x2')
  open.releaseNamed('0x2')
  expect(nets()).toEqual([{}, {}])
  expect(told.filter((one) => Array.isArray(one) && one[0] === 'release')).toHaveLength(4)
})
