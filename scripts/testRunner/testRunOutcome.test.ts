import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { outcomeFileVariable } from './outcomeReporter.ts'
import {
  countsLine,
  countTests,
  filesToTryAgain,
  joinOutcomes,
  parseOutcome,
  passedByFile,
  type TestFileOutcome,
  type TestRunOutcome,
  withSecondTry,
} from './testRunOutcome.ts'

const file = (name: string, members: Partial<TestFileOutcome> = {}): TestFileOutcome => ({
  file: name,
  passedTests: [],
  passedGroups: [],
  skipped: 0,
  failedTests: [],
  failedHooks: [],
  ...members,
})
const outcome = (...files: readonly TestFileOutcome[]): TestRunOutcome => ({
  files: [...files],
  errorsOutsideTests: [],
  notEnded: [],
})
const failing = (message: string) => ({ title: 'holds', message })
const passed = file('a.test.ts', { passedTests: ['holds'] })
const late = (name: string) => file(name, { failedTests: [failing('Test timed out in 120000ms.')] })

describe('counting an outcome', () => {
  test('takes passed, failed and skipped from the files', () => {
    const counts = countTests(
      outcome(passed, file('b.test.ts', { passedTests: ['is so'], skipped: 2, failedTests: [failing('x')] })),
    )
    expect(counts).toEqual({ passed: 2, failed: 1, skipped: 2 })
    expect(countsLine(counts, 0)).toBe('2 passed, 1 failed')
    expect(countsLine(counts, 1)).toBe('2 passed, 1 failed, files whose waits were tried again: 1')
  })

  test('counts what failed outside of tests', () => {
    const files = outcome(file('a.test.ts', { failedHooks: ['no such module'] }), late('b.test.ts'))
    expect(countTests({ ...files, errorsOutsideTests: ['unhandled'] }).failed).toBe(3)
  })

  test('adds up several runs, with the errors of each', () => {
    const second = { ...outcome(late('b.test.ts')), errorsOutsideTests: ['thrown by nobody'] }
    const joined = joinOutcomes([outcome(passed), second])
    expect(countTests(joined)).toEqual({ passed: 1, failed: 2, skipped: 0 })
    expect(filesToTryAgain(joined)).toEqual([])
  })

  test('refuses an outcome of another shape', () => {
    expect(() => parseOutcome('{"numPassedTests":1}')).toThrow()
  })
})

describe('a second try, alone', () => {
  test('is for the files that failed', () => {
    expect(filesToTryAgain(outcome(passed, late('b.test.ts')))).toEqual(['b.test.ts'])
    expect(filesToTryAgain(outcome(passed))).toEqual([])
  })

  test('is for a file whose hook threw', () => {
    const hook = file('b.test.ts', { failedHooks: ['transaction 0x12 was not mined in 60000 ms'] })
    expect(filesToTryAgain(outcome(hook))).toEqual(['b.test.ts'])
  })

  test.each([
    ['Test timed out in 120000ms.', 1],
    ['AssertionError: expected 1 to be 2', 0],
    ['Error: read ECONNRESET', 0],
    ['Error: listen EADDRINUSE: address already in use 127.0.0.1:8545', 1],
    ['ENOSPC: no space left on device, write', 1],
  ])(
    'O-135: is for a wait that ran out and a failing machine, and for nothing else: %s',
    (failure, count) => {
      expect(filesToTryAgain(outcome(file('b.test.ts', { failedTests: [failing(failure)] })))).toHaveLength(
        count,
      )
    },
  )

  test('is not for a wait beside a wrong value', () => {
    const both = file('b.test.ts', {
      failedTests: [failing('Test timed out in 50ms.'), failing('expected 1 to be 2')],
    })
    expect(filesToTryAgain(outcome(both, late('c.test.ts')))).toEqual([])
  })

  test('is not for many', () => {
    const files = ['b', 'c', 'd', 'e'].map((name) => late(`${name}.test.ts`))
    expect(filesToTryAgain(outcome(...files))).toEqual([])
    expect(filesToTryAgain(outcome(...files.slice(1)))).toHaveLength(3)
  })

  test.each([
    'Property failed after 3 tests\n{ seed: 1, path: "2:0" }\nGot Error: timed out',
    'it never came about that all requests end well (seed 20261121)',
  ])('is not for a counterexample: %s', (failure) => {
    const found = file('b.test.ts', { failedTests: [failing(failure)] })
    expect(filesToTryAgain(outcome(found, late('c.test.ts')))).toEqual([])
  })

  test('is not for a run with an error that no test caught', () => {
    const errorsOutsideTests = ['the statement timed out']
    expect(filesToTryAgain({ ...outcome(late('b.test.ts')), errorsOutsideTests })).toEqual([])
  })

  test('replaces what the file came to first', () => {
    const first = outcome(passed, file('b.test.ts', { skipped: 1, failedTests: [failing('late')] }))
    const again = outcome(file('b.test.ts', { passedTests: ['is so', 'stays so'] }))
    expect(countTests(withSecondTry(first, again))).toEqual({ passed: 3, failed: 0, skipped: 0 })
    expect(countTests(withSecondTry(first, outcome()))).toEqual({ passed: 1, failed: 1, skipped: 1 })
  })
})

test('proofs are the passed tests of files that ran whole', () => {
  const filtered = file('b.test.ts', { passedTests: ['is so'], skipped: 1 })
  expect(passedByFile(outcome(passed, filtered, late('c.test.ts')))).toEqual(
    new Map([['a.test.ts', ['holds']]]),
  )
})

const endings = `
const { beforeAll, describe, expect, test } = globalThis
test('passes', () => {})
describe('a group', () => {
  test('passes too', () => {})
})
test('is wrong', () => { expect(1).toBe(2) })
test('is late', () => new Promise(() => {}), 50)
test('never comes about', () => expect.poll(() => 1, { timeout: 30 }).toBe(2))
describe('a suite', () => {
  beforeAll(() => new Promise(() => {}), 50)
  test('never begins', () => {})
})
setTimeout(() => { throw new Error('thrown by nobody') }, 20)
`

test('the reporter writes how tests of every ending ended', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-outcome-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const path = join(directory, 'outcome.json')
  await writeFile(join(directory, 'endings.test.js'), endings)
  await writeFile(join(directory, 'vitest.config.mjs'), 'export default {}')
  const root = dirname(dirname(import.meta.dirname))
  const run = promisify(execFile)(
    process.execPath,
    [
      join(root, 'node_modules/vitest/vitest.mjs'),
      ...['run', '--globals', '--root', directory],
      `--reporter=${join(import.meta.dirname, 'outcomeReporter.ts')}`,
    ],
    { env: { ...process.env, [outcomeFileVariable]: path } },
  )
  await expect(run).rejects.toThrow('Command failed')
  expect(parseOutcome(await readFile(path, 'utf8'))).toEqual({
    files: [
      {
        file: join(directory, 'endings.test.js'),
        passedTests: ['passes', 'passes too'],
        passedGroups: ['a group'],
        skipped: 1,
        failedTests: [
          { title: 'is wrong', message: expect.stringContaining('expected 1 to be 2') },
          { title: 'is late', message: expect.stringContaining('Test timed out in 50ms') },
          { title: 'never comes about', message: expect.stringContaining('did not succeed in time') },
        ],
        failedHooks: [expect.stringContaining('Hook timed out in 50ms')],
      },
    ],
    errorsOutsideTests: ['thrown by nobody'],
    notEnded: [],
  })
})
