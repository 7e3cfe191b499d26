import { describe, expect, test } from 'vitest'
import { suiteFiles } from '../testRunner/suites.ts'
import { findUnprovenRows, requirementsCheck } from './requirements.ts'

const testFile = { path: 'packages/a/src/a.test.ts', text: '' }
const assumptionsPath = 'docs/reference/assumptions.md'
const assumptions = {
  path: assumptionsPath,
  text: `- **Quotes**: \`A-quote\` answers.

| Id | The documents leave open | Our choice | Reason | Tested by |
|---|---|---|---|---|
| A-quote-01 | x | y | z | \`packages/a/src/a.test.ts\` › rounds down |`,
}

function problems(...rows: string[]): readonly string[] {
  const text = `- **Later work**\n\n| Id | Rule | Proof |\n|---|---|---|\n${rows.join('\n')}\n`
  return requirementsCheck
    .find([{ path: 'docs/reference/requirements.md', text }, testFile, assumptions])
    .map((finding) => finding.problem)
}

describe('requirements check', () => {
  test('accepts a test that exists, a known milestone and an assumption', () => {
    expect(
      problems(
        '| Q-price-01 | amounts round down | `packages/a/src/a.test.ts` › rounds down |',
        "| Q-price-02 | quotes are kept | `packages/a/src/a.test.ts` › keeps 'quotes' |",
        '| Q-price-03 | more than one proof | `packages/a/src/a.test.ts` › rounds down<br>not yet (Later work) |',
        '| O-cfg-01 | something left open | open, see A-quote-01 |',
      ),
    ).toEqual([])
  })

  test.each([
    ['a file that is no test', '`packages/a/src/a.ts` › rounds down', 'is no test: packages/a/src/a.ts'],
    ['a file that does not exist', '`packages/a/src/b.test.ts` › rounds down', 'does not exist'],
    ['an unknown milestone', 'not yet (Some day)', 'unknown milestone "Some day"'],
    ['an unknown assumption', 'open, see A-quote-99', 'A-quote-99, which is not in'],
    ['an empty proof', '', 'no readable proof'],
  ])('refuses %s', (_what, proof, problem) => {
    const found = problems(`| Q-price-01 | amounts round down | ${proof} |`)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(problem)
  })

  test('refuses a rule whose every test runs in another suite', () => {
    const late = suiteFiles.settlement[0]
    const text = (proof: string) =>
      `| Id | Rule | Proof |\n|---|---|---|\n| Q-price-01 | amounts round down | ${proof} |\n`
    const found = (proof: string) =>
      requirementsCheck
        .find([
          { path: 'docs/reference/requirements.md', text: text(proof) },
          { path: late, text: '' },
          testFile,
          assumptions,
        ])
        .map(({ problem }) => problem)
    const early = `\`${testFile.path}\` › rounds down`
    expect(found(`\`${late}\` › pays`)).toEqual(['Q-price-01 is proven by no test of npm test'])
    expect(found(`\`${late}\` › pays<br>${early}`)).toEqual([])
  })

  test('refuses an id that appears twice, has no number or stands without a rule', () => {
    const proof = '`packages/a/src/a.test.ts` › rounds down'
    expect(
      problems(
        `| Q-price-01 | amounts round down | ${proof} |`,
        `| Q-price-01 | amounts round down | ${proof} |`,
        `| Q-price | amounts round down | ${proof} |`,
        `| Q-price-02 |  | ${proof} |`,
      ),
    ).toEqual([
      'Q-price-01 appears twice',
      '"Q-price" is no id like Q-price-01 or O-cfg-01',
      'Q-price-02 has no rule',
    ])
  })

  test('refuses a page without the table and a repository without the page', () => {
    const path = 'docs/reference/requirements.md'
    expect(requirementsCheck.find([{ path, text: '# Requirements' }])).toHaveLength(1)
    expect(requirementsCheck.find([])).toEqual([{ file: path, problem: 'is missing' }])
  })

  test('refuses a table whose columns got other names', () => {
    const renamed = {
      path: 'SECURITY.md',
      text: '| Secret | Loss | Test |\n|---|---|---|\n| A key | All | no |\n',
    }
    const path = 'docs/reference/requirements.md'
    const text =
      '| Id | Rule | Proof |\n|---|---|---|\n| Q-price-01 | amounts round down | open, see A-quote-01 |\n'
    expect(requirementsCheck.find([{ path, text }, testFile, assumptions, renamed])).toEqual([
      {
        file: 'SECURITY.md',
        problem: 'has no table with the columns Secret, Largest loss, Limited by, Test',
      },
    ])
  })

  test('judges the proofs of the assumptions alike', () => {
    const path = 'docs/reference/requirements.md'
    const row = '| Q-price-01 | amounts round down | open, see A-quote-01 |'
    const text = `| Id | Rule | Proof |\n|---|---|---|\n${row}\n`
    const broken = { path: assumptionsPath, text: assumptions.text.replace('/a.test', '/b.test') }
    expect(requirementsCheck.find([{ path, text }, testFile, broken])).toEqual([
      {
        file: `${assumptionsPath}:5`,
        problem: 'A-quote-01 names a test file that does not exist: packages/a/src/b.test.ts',
      },
    ])
  })

  test('judges the test plan of the readers, whose rows share a family', () => {
    const path = 'docs/reference/requirements.md'
    const text =
      '| Id | Rule | Proof |\n|---|---|---|\n| Q-price-01 | amounts round down | open, see A-quote-01 |\n'
    const plan = {
      path: 'docs/reference/reader-test-plan.md',
      text: `| Family | Case | Proof |
|---|---|---|
| \`tron-vm\` | a | \`packages/a/src/a.test.ts\` › rounds down |
| \`tron-vm\` | b | \`packages/a/src/b.test.ts\` › rounds up |`,
    }
    expect(requirementsCheck.find([{ path, text }, testFile, assumptions, plan])).toEqual([
      {
        file: `${plan.path}:4`,
        problem: '`tron-vm` names a test file that does not exist: packages/a/src/b.test.ts',
      },
    ])
  })

  test('finds a group of assumptions that the list above the table leaves out', () => {
    const requirements = {
      path: 'docs/reference/requirements.md',
      text: '| Id | Rule | Proof |\n|---|---|---|\n| Q-price-01 | amounts round down | open, see A-quote-01 |',
    }
    const added = `${assumptions.text}\n| A-solver-01 | x | y | z | \`packages/a/src/a.test.ts\` › rounds down |`
    expect(requirementsCheck.find([requirements, testFile, { ...assumptions, text: added }])).toEqual([
      { file: assumptionsPath, problem: 'A-solver is in no group of the list above the table' },
    ])
  })

  test('judges the attacks on withdrawals alike', () => {
    const text = '| Id | Rule | Proof |\n|---|---|---|\n| Q-price-01 | amounts round down | bench `P1` |'
    const attacks = {
      path: 'docs/internals/withdrawals.md',
      text: `| Attack | Our answer | Test |
|---|---|---|
| (a) A second request | refused | \`packages/a/src/a.test.ts\` › is refused |
| (a) A third request | refused | \`packages/a/src/gone.test.ts\` › is refused |`,
    }
    const bench = { path: 'bench/rows.ts', text: "'P1'" }
    const requirements = { path: 'docs/reference/requirements.md', text }
    expect(requirementsCheck.find([requirements, testFile, assumptions, attacks, bench])).toEqual([
      {
        file: 'docs/internals/withdrawals.md:4',
        problem: '(a) A third request names a test file that does not exist: packages/a/src/gone.test.ts',
      },
    ])
  })

  test('judges the comparison with the public oracle alike, bench rows included', () => {
    const path = 'docs/reference/requirements.md'
    const text =
      '| Id | Rule | Proof |\n|---|---|---|\n| Q-price-01 | amounts round down | open, see A-quote-01 |\n'
    const comparison = {
      path: 'docs/internals/reference-comparison.md',
      text: `| Probe | Reference | Ours | Proof |
|---|---|---|---|
| 10-1 Rounds | 2 | 1 | \`packages/a/src/a.test.ts\` › rounds down<br>bench \`P7\` |
| 10-2 Rounds | 2 | 1 | \`packages/a/src/b.test.ts\` › rounds up<br>bench \`P99\` |`,
    }
    const bench = { path: 'bench/reader.ts', text: "const row = { id: 'P7' }" }
    const found = requirementsCheck.find([{ path, text }, testFile, assumptions, comparison, bench])
    expect(found.map(({ problem }) => problem)).toEqual([
      '10-2 Rounds names a test file that does not exist: packages/a/src/b.test.ts',
      '10-2 Rounds names a bench row that does not exist: P99',
    ])
  })
})

describe('rows after a run', () => {
  const path = 'docs/reference/requirements.md'
  const row = (title: string) => `| Q-price-01 | amounts round down | \`${testFile.path}\` › ${title} |`
  const unproven = (title: string, titles: readonly string[]) =>
    findUnprovenRows(
      [{ path, text: `| Id | Rule | Proof |\n|---|---|---|\n${row(title)}\n` }],
      new Map([[testFile.path, titles]]),
    )

  test.each([
    ['a test that passed', 'rounds down', ['rounds up', 'rounds down']],
    ['a test of any signs', "keeps 'quotes' (1.5 + x)? [a]", ["keeps 'quotes' (1.5 + x)? [a]"]],
    ['one case of a table', 'names wrap', ['names send', 'names wrap']],
    ['all cases of a table', 'refuses %s at $size', ['refuses a number at 20']],
  ])('are proven by %s', (_what, named, titles) => {
    expect(unproven(named, titles)).toEqual([])
  })

  test.each([
    ['no test has their title', 'rounds up', ['rounds down']],
    ['their test was left out or failed', 'rounds down', []],
    ['a title only holds theirs', 'rounds', ['rounds down', 'it rounds']],
    ['a sign of theirs stands for others', 'rounds .own', ['rounds down']],
    ['a table of theirs has other words', 'refuses %s', ['takes a number']],
  ])('are not proven when %s', (_what, named, titles) => {
    const problem = `Q-price-01 names a test that ${testFile.path} does not have: ${named}`
    expect(unproven(named, titles)).toEqual([{ file: `${path}:3`, problem }])
  })

  test('are left alone when their file did not run', () => {
    const page = { path, text: `| Id | Rule | Proof |\n|---|---|---|\n${row('rounds up')}\n` }
    expect(findUnprovenRows([page], new Map())).toEqual([])
  })

  test('are those of all five pages', () => {
    const proof = `\`${testFile.path}\` › rounds up`
    const pages = [
      { path, text: `| Id | Rule | Proof |\n|---|---|---|\n${row('rounds up')}\n` },
      {
        path: assumptionsPath,
        text: assumptions.text.replace('rounds down', 'rounds up').split('\n').slice(2).join('\n'),
      },
      {
        path: 'docs/internals/reference-comparison.md',
        text: `| Probe | Reference | Ours | Proof |\n|---|---|---|---|\n| 1 | 2 | 1 | ${proof} |`,
      },
      {
        path: 'docs/reference/reader-test-plan.md',
        text: `| Family | Case | Proof |\n|---|---|---|\n| a | b | ${proof} |`,
      },
      {
        path: 'docs/internals/withdrawals.md',
        text: `| Attack | Our answer | Test |\n|---|---|---|\n| a | b | ${proof} |`,
      },
    ]
    const found = findUnprovenRows(pages, new Map([[testFile.path, ['rounds down']]]))
    expect(found.map(({ file }) => file)).toEqual(pages.map((page) => `${page.path}:3`))
  })
})
