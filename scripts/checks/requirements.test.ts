import { describe, expect, test } from 'vitest'
import { requirementsCheck } from './requirements.ts'

const testFile = {
  path: 'packages/a/src/a.test.ts',
  text: `test('rounds down', () => {})
test.each([1])("keeps 'quotes' at $size", () => {})
test.skip('is skipped', () => {})
// test('is a comment', () => {})`,
}
const assumptionsPath = 'docs/reference/assumptions.md'
const assumptions = {
  path: assumptionsPath,
  text: `| Id | The documents leave open | Our choice | Reason | Tested by |
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
        "| Q-price-02 | quotes are kept | `packages/a/src/a.test.ts` › keeps 'quotes' at $size |",
        '| Q-price-03 | more than one proof | `packages/a/src/a.test.ts` › rounds down<br>not yet (Later work) |',
        '| O-cfg-01 | something left open | open, see A-quote-01 |',
      ),
    ).toEqual([])
  })

  test.each([
    ['a title that no test has', '`packages/a/src/a.test.ts` › rounds up', 'does not have: rounds up'],
    ['a skipped test', '`packages/a/src/a.test.ts` › is skipped', 'does not have: is skipped'],
    ['a test in a comment', '`packages/a/src/a.test.ts` › is a comment', 'does not have: is a comment'],
    ['a file that does not exist', '`packages/a/src/b.test.ts` › rounds down', 'does not exist'],
    ['an unknown milestone', 'not yet (Some day)', 'unknown milestone "Some day"'],
    ['an unknown assumption', 'open, see A-quote-99', 'A-quote-99, which is not in'],
    ['an empty proof', '', 'no readable proof'],
  ])('refuses %s', (_what, proof, problem) => {
    const found = problems(`| Q-price-01 | amounts round down | ${proof} |`)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(problem)
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

  test('judges the proofs of the assumptions alike', () => {
    const path = 'docs/reference/requirements.md'
    const row = '| Q-price-01 | amounts round down | open, see A-quote-01 |'
    const text = `| Id | Rule | Proof |\n|---|---|---|\n${row}\n`
    const broken = { path: assumptionsPath, text: assumptions.text.replace('rounds down', 'rounds up') }
    expect(requirementsCheck.find([{ path, text }, testFile, broken])).toEqual([
      {
        file: `${assumptionsPath}:3`,
        problem: 'A-quote-01 names a test that packages/a/src/a.test.ts does not have: rounds up',
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
| \`tron-vm\` | b | \`packages/a/src/a.test.ts\` › rounds up |`,
    }
    expect(requirementsCheck.find([{ path, text }, testFile, assumptions, plan])).toEqual([
      {
        file: `${plan.path}:4`,
        problem: '`tron-vm` names a test that packages/a/src/a.test.ts does not have: rounds up',
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
| 10-2 Rounds | 2 | 1 | \`packages/a/src/a.test.ts\` › rounds up<br>bench \`P99\` |`,
    }
    const bench = { path: 'bench/reader.ts', text: "const row = { id: 'P7' }" }
    const found = requirementsCheck.find([{ path, text }, testFile, assumptions, comparison, bench])
    expect(found.map(({ problem }) => problem)).toEqual([
      '10-2 Rounds names a test that packages/a/src/a.test.ts does not have: rounds up',
      '10-2 Rounds names a bench row that does not exist: P99',
    ])
  })
})
