import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { chooseShard, suitesByPath, touchedSuites } from './changeShard.ts'
import { suites } from './suites.ts'

const root = dirname(dirname(import.meta.dirname))
const dayMs = 86_400_000
const shardOf = (touched: Parameters<typeof chooseShard>[0], day: number, ms = 0) =>
  chooseShard(touched, new Date(day * dayMs + ms))

test('each beginning of a path exists, once', () => {
  const beginnings = suitesByPath.map(([beginning]) => beginning)
  expect(beginnings).toEqual([...new Set(beginnings)])
  expect(
    beginnings.filter((path) => !existsSync(join(root, path)) && !existsSync(join(root, `${path}.ts`))),
  ).toEqual([])
})

test.each([
  [['apps/solver/src/work/relays.ts'], ['families', 'settlement']],
  [['apps/quote-api/src/http/app.ts'], ['clients', 'operations']],
  [['apps/quote-api/src/operate/doctor.ts'], ['operations']],
  [['test/upgrades.test.ts', 'docs/internals/architecture.md'], ['operations']],
  [['packages/core/src/order/orderId.property.test.ts'], ['faults']],
  [['README.md', 'biome.json'], []],
])('O-135: a change of %j touches %j', (paths, expected) => {
  expect(touchedSuites(paths).toSorted()).toEqual(expected)
})

test('O-135: within a day the shard stays, and days bring each shard of each suite in turn', () => {
  expect(shardOf([], 20_000, dayMs - 1)).toEqual(shardOf([], 20_000))
  const week = Array.from({ length: 8 }, (_, day) => shardOf(['families', 'settlement'], 20_000 + day))
  expect(new Set(week.map(({ suite, index }) => `${suite} ${index}`)).size).toBe(8)
  const month = Array.from({ length: 26 }, (_, day) => shardOf([], 20_000 + day))
  expect(new Set(month.map(({ suite }) => suite))).toEqual(new Set(suites))
  expect(new Set(month.map(({ suite, index }) => `${suite} ${index}`)).size).toBe(26)
})
