import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectOf } from '../testRunner/suites.ts'
import {
  areas,
  type BrokenBehaviour,
  breakText,
  brokenBehavioursPath,
  chooseBehaviours,
  listProblems,
  parseBrokenBehaviours,
} from './list.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const listed = parseBrokenBehaviours(read(brokenBehavioursPath))
const one: BrokenBehaviour = {
  id: 'fee-left-out',
  area: 'money',
  file: 'packages/core/src/fee.ts',
  text: 'sum + fee',
  replacement: 'sum',
  tests: ['packages/core/src/fee.test.ts'],
}

test('the list has forty behaviours, at least two of each area, and each stands in its file', () => {
  expect(new Set(listed.map(({ id }) => id)).size).toBe(40)
  for (const area of areas)
    expect(listed.filter((behaviour) => behaviour.area === area).length, area).toBeGreaterThanOrEqual(2)
  expect(listProblems(listed, read)).toEqual([])
  expect(listed.flatMap(({ tests }) => tests).filter((path) => !existsSync(join(root, path)))).toEqual([])
  for (const behaviour of listed) {
    const before = read(behaviour.file)
    expect(breakText(before, behaviour), behaviour.id).not.toBe(before)
  }
})

test.each([
  ['return sum + fee', 1],
  ['return fee + sum', 0],
  ['sum + fee, sum + fee', 2],
])('a text that does not stand once in its file is told: %s', (source, count) => {
  const problems = count === 1 ? [] : [`fee-left-out: its text stands ${count} times in ${one.file}`]
  expect(listProblems([one], () => source)).toEqual(problems)
})

test('a replacement stands as it is written', () => {
  expect(breakText('return sum + fee', { ...one, replacement: '$& - fee' })).toBe('return $& - fee')
})

test('behaviours are chosen by id, all of them without one, and an unknown id is refused', () => {
  expect(chooseBehaviours(listed, []).length).toBe(listed.length)
  expect(chooseBehaviours([one], ['fee-left-out'])).toEqual([one])
  expect(() => chooseBehaviours([one], ['fee'])).toThrow('lists no fee')
})

test.each([
  ['packages/core/src/fees/fees.test.ts', 'unit'],
  ['scripts/checks/links.test.ts', 'unit'],
  ['packages/ledger/test/holds.test.ts', 'e2e'],
  ['test/families/solanaFactsDeposits.test.ts', 'e2e'],
  ['test/families/hyperliquidPaying.test.ts', 'families'],
  ['packages/families/src/registry/withdrawRequest.property.test.ts', 'faults'],
])('%s runs in the project %s', (file, project) => expect(projectOf(file)).toBe(project))
