import { expect, test } from 'vitest'
import { applyKnownRed, type KnownRed, knownRedLine, knownRedProblems, parseKnownRed } from './knownRed.ts'
import type { TestFileOutcome } from './testRunOutcome.ts'

const today = '2026-11-30'
const entry = (test: string, until = '2026-12-02', firstSeen = '2026-11-28'): KnownRed => ({
  test,
  firstSeen,
  until,
})
const waiting = 'test/demo.test.ts > is shown'
const sure = (path: string) => path

test('O-136: a list within its rules stops nothing', () => {
  expect(knownRedProblems([entry(waiting)], today)).toEqual([])
  expect(knownRedProblems(parseKnownRed(`[${knownRedLine(waiting, today)}]`), today)).toEqual([])
})

test.each<readonly [string, readonly KnownRed[], string]>([
  ['an entry past its date', [entry(waiting, '2026-11-29')], 'its time ended on 2026-11-29'],
  ['more than a week', [entry(waiting, '2026-12-06')], '8 days are more than 7'],
  ['a fourth entry', Array.from({ length: 4 }, () => entry(waiting)), 'at most 3 tests'],
  ['a test of npm test', [entry('test/localConfigs.test.ts > sells')], 'money, truth or access'],
  ['a test of money', [entry('apps/quote-api/test/settlement.test.ts > pays')], 'money, truth or access'],
  [
    'a test of access',
    [entry('apps/quote-api/test/deniedAccounts.test.ts > denies')],
    'money, truth or access',
  ],
  ['a test of truth', [entry('apps/oracle/test/signingCaps.test.ts > caps')], 'money, truth or access'],
])('O-136: %s stops every change', (_, entries, problem) => {
  expect(knownRedProblems(entries, today).join()).toContain(problem)
})

test.each([
  '[{"test":"demo","firstSeen":"2026-11-28","until":"2026-12-02"}]',
  '[{"test":"test/demo.test.ts > is shown","firstSeen":"2026-11-28","until":"soon"}]',
  '[{"test":"test/demo.test.ts > is shown","firstSeen":"2026-11-28"}]',
])('O-136: an entry without its test, day and end is refused: %s', (json) => {
  expect(() => parseKnownRed(json)).toThrow()
})

test('O-136: a listed test that fails is a warning, one that passes and one that is not listed are failures', () => {
  const file: TestFileOutcome = {
    file: 'test/demo.test.ts',
    passedTests: ['begins'],
    passedGroups: [],
    skipped: 0,
    failedHooks: [],
    failedTests: [
      { title: 'is shown', message: 'not shown' },
      { title: 'pays', message: 'not paid' },
    ],
  }
  const verdict = applyKnownRed(
    { files: [file], errorsOutsideTests: [], notEnded: [] },
    [entry(waiting), entry('test/demo.test.ts > begins')],
    today,
    sure,
  )
  expect(verdict.outcome.files.flatMap(({ failedTests }) => failedTests.map(({ title }) => title))).toEqual([
    'pays',
  ])
  expect(verdict.warnings).toEqual([`known to fail: ${waiting}`])
  expect(verdict.failures).toEqual(['test/known-red.json: test/demo.test.ts > begins passes: take it out'])
})
