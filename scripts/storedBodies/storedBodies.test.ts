// Goal: a reader sees which rules rest on bodies of our own making alone. Method: the list is made from the bodies
// that tests use; no module of bodies is left out.
import { fileURLToPath } from 'node:url'
import type { StoredBody } from '@causeway/localnet/standIns/bodies'
import { expect, test } from 'vitest'
import { readRepositoryFiles } from '../checks/repositoryFiles.ts'
import { constructedRules, constructedRulesText } from './constructedRules.ts'
import { storedBodies } from './families.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

const body = (provenance: StoredBody['provenance'], ...proves: readonly string[]): StoredBody => ({
  provenance,
  source: 'x',
  proves,
  body: {},
})

test('the list has what no other body of the family proves, each once and in order', () => {
  const rules = constructedRules({
    one: [
      body('constructed', 'd', 'b', 'a'),
      body('recorded', 'a'),
      body('constructed', 'b', 'c'),
      body('specified', 'c'),
    ],
    other: [body('constructed', 'a')],
  })
  expect(rules).toEqual([
    { family: 'one', rule: 'b' },
    { family: 'one', rule: 'd' },
    { family: 'other', rule: 'a' },
  ])
  expect(constructedRulesText(rules)).toBe(
    '3 rules are proven by constructed answers alone; suspect them first:\n  one: b\n  one: d\n  other: a\n',
  )
})

test('every stored body has a source and proves something', () => {
  const without = Object.values(storedBodies)
    .flat()
    .filter(({ source, proves }) => source === '' || proves.length === 0 || proves.includes(''))
  expect(without).toEqual([])
})

test('every module of bodies is on the list', () => {
  const files = readRepositoryFiles(root)
  const list = files.find(({ path }) => path === 'scripts/storedBodies/families.ts')?.text
  const modules = files
    .map(({ path }) => path)
    .filter((path) => /^packages\/.*\/(bodies|storedBodies)\.ts$/.test(path))
  expect(modules.length).toBeGreaterThan(5)
  expect(modules.filter((path) => !list?.includes(`'../../${path}'`))).toEqual([])
})
