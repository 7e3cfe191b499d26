// Goal: the score counts what ran, and no survivor hides behind an entry that names another. Method: small reports.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { equivalents } from './equivalents/equivalents.ts'
import { mutatedParts } from './rules.ts'
import { type Equivalent, isGood, readMutants, scoreMutants, scoreText } from './score.ts'

const root = join(import.meta.dirname, '../..')
const source = 'const a = 1\nif (a >\n  b) return a - 1\nif (a >\n  b) return a\n'
const at = (line: number, column: number) => ({ line, column })
const mutant = (status: string, start = at(1, 11), end = at(1, 12)) => ({
  mutatorName: 'NumericLiteral',
  replacement: '2',
  status,
  static: false,
  location: { start, end },
})
const reportOf = (...mutants: readonly ReturnType<typeof mutant>[]) => ({
  files: { 'a.ts': { source, mutants: [...mutants] } },
})
const entry: Equivalent = { file: 'a.ts', original: '1', replacement: '2', why: 'nobody reads it' }

test('a mutant is told by its place and text, in one line', () => {
  const [found] = readMutants(reportOf(mutant('Survived', at(2, 5), at(3, 4))))
  expect(found).toMatchObject({
    line: 2,
    column: 5,
    original: 'a > b',
    lineText: 'if (a >',
    isNoticed: false,
  })
})

test('what did not run is not judged', () => {
  const statuses = ['Killed', 'Timeout', 'Survived', 'NoCoverage', 'Ignored', 'CompileError', 'RuntimeError']
  const score = scoreMutants(readMutants(reportOf(...statuses.map((status) => mutant(status)))), [])
  expect([score.ran, score.noticed, score.survivors.length]).toEqual([4, 2, 2])
  const loaded = reportOf({ ...mutant('NoCoverage'), static: true }, { ...mutant('Killed'), static: true })
  expect(scoreMutants(readMutants(loaded), []).ran).toBe(1)
})

test('nine of ten are enough, and one less is not', () => {
  const killed = Array.from({ length: 9 }, () => mutant('Killed'))
  const good = scoreMutants(readMutants(reportOf(...killed, mutant('Survived'))), [])
  const bad = scoreMutants(readMutants(reportOf(...killed, mutant('Survived'), mutant('NoCoverage'))), [])
  expect([isGood(good), isGood(bad)]).toEqual([true, false])
  expect(scoreText('a', good)).toContain('ok   a: 90.0 %, 9 noticed, 1 survived, 0 equivalent')
  expect(scoreText('a', bad)).toContain('a.ts:1:11 NumericLiteral 1 → 2 (no test runs it)')
})

test('a named equivalent is no survivor and not judged', () => {
  const score = scoreMutants(readMutants(reportOf(mutant('Killed'), mutant('Survived'))), [entry])
  expect([score.equivalent, score.survivors, score.problems, isGood(score)]).toEqual([1, [], [], true])
})

test.each([
  ['that a test notices', [mutant('Killed')], 'names no survivor'],
  ['that fits two', [mutant('Survived'), mutant('Survived')], 'names 2 survivors: name the line'],
])('an entry %s fails the run', (_what, mutants, problem) => {
  const score = scoreMutants(readMutants(reportOf(...mutants)), [entry])
  expect(score.problems).toEqual([`a.ts: 1 → 2 ${problem}`])
  expect(isGood(score)).toBe(false)
})

test('an entry with a line names the mutant of that line', () => {
  const mutants = [mutant('Survived'), mutant('Survived', at(3, 17), at(3, 18))]
  const score = scoreMutants(readMutants(reportOf(...mutants)), [{ ...entry, line: 'b) return a - 1' }])
  expect([score.equivalent, score.problems]).toEqual([1, []])
  expect(score.survivors.map(({ line }) => line)).toEqual([1])
})

test('an entry of another part waits for the run of that part', () => {
  const score = scoreMutants(readMutants(reportOf(mutant('Killed'))), [{ ...entry, file: 'b.ts' }])
  expect(score.problems).toEqual([])
})

test('every named equivalent stands in its file, and every glob of a part finds files', () => {
  for (const { file, original } of equivalents)
    expect(readFileSync(join(root, file), 'utf8').replace(/\s+/g, ' '), file).toContain(original)
  for (const [name, { rules, except = [], tests }] of Object.entries(mutatedParts))
    for (const glob of [...rules, ...except, ...tests])
      expect(globSync(glob, { cwd: root }).length, `${name}: ${glob}`).toBeGreaterThan(0)
})
