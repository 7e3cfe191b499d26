import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Rule } from '../checks/specification.ts'
import { type KeptRun, keepRun, npmTest, readKeptRuns } from '../testRunner/keptRuns.ts'
import { proofProblems, proofsText } from './proofs.ts'

const rule = (id: string, provenBy: Rule['provenBy'] = 'any suite'): Rule => ({
  id,
  provenBy,
  file: 'docs/specification/quotes.md',
  line: 3,
  text: 'A rule of the specification.',
})
const run = (suite: string, ...titles: readonly string[]): KeptRun => ({
  suite,
  endedAtMs: 0,
  passed: new Map([['test/a.test.ts', titles]]),
})

describe('a rule', () => {
  test('is proven by a test of any suite, or by a group of tests', () => {
    const runs = [run(npmTest, 'Q-1: rounds down'), run('faults', 'Q-2, Q-3: whatever is sent')]
    expect(proofProblems([rule('Q-1'), rule('Q-2'), rule('Q-3')], runs)).toEqual([])
  })

  test('without a test that passed is a problem', () => {
    expect(proofProblems([rule('Q-1')], [run(npmTest, 'unlike Q-1: rounds up')])).toEqual([
      'docs/specification/quotes.md:3: Q-1 is proven by no test that passed in any suite',
    ])
  })

  test('of the interface documents needs a test of npm test', () => {
    const sentences = [rule('Q-price-req-01', 'npm test')]
    const title = 'Q-price-req-01: user is required'
    expect(proofProblems(sentences, [run(npmTest, title)])).toEqual([])
    expect(proofProblems(sentences, [run('faults', title)])).toEqual([
      'docs/specification/quotes.md:3: Q-price-req-01 is proven by no test that passed in npm test',
    ])
  })

  test('that the documents leave open needs none', () => {
    expect(proofProblems([rule('Q-limits-08', 'nothing')], [])).toEqual([])
  })
})

test('an id in a title that is no rule is a problem', () => {
  expect(proofProblems([rule('Q-1')], [run('faults', 'Q-1, Q-9: rounds down')])).toEqual([
    'test/a.test.ts › Q-1, Q-9: rounds down: Q-9 is no rule',
  ])
})

test('the text leads from rules to tests, and from tests to rules', () => {
  const runs = [run(npmTest, 'Q-1, Q-2: rounds down', 'is no proof')]
  expect(proofsText([rule('Q-1'), rule('Q-2')], runs).split('\n')).toEqual([
    'Q-1 (docs/specification/quotes.md:3)',
    '  test/a.test.ts › Q-1, Q-2: rounds down',
    'Q-2 (docs/specification/quotes.md:3)',
    '  test/a.test.ts › Q-1, Q-2: rounds down',
    '',
    'test/a.test.ts (npm-test) › Q-1, Q-2: rounds down: Q-1, Q-2',
  ])
})

test('what passed is kept per suite, a second run in place of the first', async () => {
  const root = await mkdtemp(join(tmpdir(), 'causeway-runs-'))
  onTestFinished(() => rm(root, { recursive: true }))
  expect(readKeptRuns(root)).toEqual([])
  const outcome = (...passedTests: string[]) => ({
    files: [
      {
        file: join(root, 'test/a.test.ts'),
        passedTests,
        passedGroups: ['Q-2: a group'],
        skipped: 0,
        failedTests: [{ title: 'Q-1: fails', message: 'wrong' }],
        failedHooks: [],
      },
    ],
    errorsOutsideTests: [],
    notEnded: [],
  })
  keepRun(root, 'faults', outcome('Q-1: is kept'))
  keepRun(root, npmTest, outcome('Q-1: is not kept'))
  keepRun(root, npmTest, outcome('Q-3: is kept'))
  expect(readKeptRuns(root).map(({ suite, passed }) => [suite, [...passed]])).toEqual([
    ['faults', [['test/a.test.ts', ['Q-2: a group', 'Q-1: is kept']]]],
    [npmTest, [['test/a.test.ts', ['Q-2: a group', 'Q-3: is kept']]]],
  ])
})
