import { describe, expect, test } from 'vitest'
import { countsLine, countTests } from './vitestCounts.ts'

function report(overrides: object): string {
  return JSON.stringify({
    numPassedTests: 0,
    numFailedTests: 0,
    numPendingTests: 0,
    numTodoTests: 0,
    testResults: [],
    ...overrides,
  })
}

describe('counting a vitest report', () => {
  test('takes passed, failed and skipped from the report', () => {
    const counts = countTests(
      report({ numPassedTests: 7, numFailedTests: 2, numPendingTests: 1, numTodoTests: 3 }),
    )
    expect(counts).toEqual({ passed: 7, failed: 2, skipped: 4 })
    expect(countsLine(counts)).toBe('7 passed, 2 failed')
  })

  test('counts a file that did not load as a failure', () => {
    const testResults = [
      { name: 'a.test.ts', status: 'failed', assertionResults: [] },
      { name: 'b.test.ts', status: 'failed', assertionResults: [{ status: 'failed' }] },
      { name: 'c.test.ts', status: 'passed', assertionResults: [{ status: 'passed' }] },
    ]
    expect(countTests(report({ numPassedTests: 1, numFailedTests: 1, testResults })).failed).toBe(2)
  })

  test('refuses a report of another shape', () => {
    expect(() => countTests('{"numPassedTests":1}')).toThrow()
  })
})
