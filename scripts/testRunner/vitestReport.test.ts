import { describe, expect, test } from 'vitest'
import { countsLine, countTests, filesToTryAgain, parseReport, withSecondTry } from './vitestReport.ts'

type Test = readonly [status: string, failure?: string]

const file = (name: string, status: string, tests: readonly Test[] = [], message = '') => ({
  ...{ name, status, message },
  assertionResults: tests.map(([status, failure]) => ({
    ...{ status, failureMessages: failure === undefined ? [] : [failure] },
  })),
})
const report = (...testResults: readonly object[]) => parseReport(JSON.stringify({ testResults }))

describe('counting a vitest report', () => {
  test('takes passed, failed and skipped from the tests', () => {
    const tests: readonly Test[] = [['passed'], ['passed'], ['failed'], ['skipped'], ['todo']]
    const counts = countTests(report(file('a.test.ts', 'failed', tests)))
    expect(counts).toEqual({ passed: 2, failed: 1, skipped: 2 })
    expect(countsLine(counts)).toBe('2 passed, 1 failed')
  })

  test('counts a file that did not load as a failure', () => {
    const files = [
      file('a.test.ts', 'failed'),
      file('b.test.ts', 'failed', [['failed']]),
      file('c.test.ts', 'passed', [['passed']]),
    ]
    expect(countTests(report(...files)).failed).toBe(2)
  })

  test('refuses a report of another shape', () => {
    expect(() => parseReport('{"numPassedTests":1}')).toThrow()
  })
})

describe('a second try, alone', () => {
  const passed = file('a.test.ts', 'passed', [['passed']])
  const late = (name: string) => file(name, 'failed', [['failed', 'Error: Test timed out in 120000ms.']])

  test('is for the files that failed', () => {
    expect(filesToTryAgain(report(passed, late('b.test.ts')))).toEqual(['b.test.ts'])
    expect(filesToTryAgain(report(passed))).toEqual([])
  })

  test('is for a file whose hook threw', () => {
    const message = 'transaction 0x12 was not mined in 60000 ms'
    expect(filesToTryAgain(report(file('b.test.ts', 'failed', [], message)))).toEqual(['b.test.ts'])
    expect(filesToTryAgain(report(file('b.test.ts', 'failed', [], 'Cannot find module')))).toEqual([])
  })

  test('is not for many', () => {
    const names = ['b', 'c', 'd', 'e'].map((name) => `${name}.test.ts`)
    expect(filesToTryAgain(report(...names.map(late)))).toEqual([])
    expect(filesToTryAgain(report(...names.slice(1).map(late)))).toHaveLength(3)
  })

  test.each([
    'AssertionError: expected 1 to be 2',
    'Property failed after 3 tests\n{ seed: 1, path: "2:0" }\nGot Error: timed out',
    'it never came about that all requests end well (seed 20261121)',
  ])('is not for a wrong value or a counterexample: %s', (failure) => {
    const found = file('b.test.ts', 'failed', [['failed', failure]])
    expect(filesToTryAgain(report(found, late('c.test.ts')))).toEqual([])
  })

  test('replaces what the file came to first', () => {
    const first = report(passed, file('b.test.ts', 'failed', [['failed', 'late'], ['skipped']]))
    const again = report(file('b.test.ts', 'passed', [['passed'], ['passed']]))
    expect(countTests(withSecondTry(first, again))).toEqual({ passed: 3, failed: 0, skipped: 0 })
    expect(countTests(withSecondTry(first, report()))).toEqual({ passed: 1, failed: 1, skipped: 1 })
  })
})
