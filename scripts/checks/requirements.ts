import type { Check, Finding, RepositoryFile } from './finding.ts'
import { type TableRow, tableRows } from './markdownTable.ts'
import { testTitlesOf } from './testTitles.ts'

const page = 'docs/reference/requirements.md'
const assumptionsPage = 'docs/reference/assumptions.md'
const comparisonPage = 'docs/internals/reference-comparison.md'
const testPlanPage = 'docs/reference/reader-test-plan.md'
const securityPage = 'SECURITY.md'
const comparisonColumns = ['Probe', 'Reference', 'Ours', 'Proof']
const stolenColumns = ['Secret', 'Its thief takes at most', 'Bounded by', 'Proof']
const assumptionColumns = ['Id', 'The documents leave open', 'Our choice', 'Reason', 'Tested by']

/**
 * Every rule of the two interface documents, every choice of ours and every comparison with the public
 * oracle is proven by a test or a bench row that exists, or says that it is not.
 */
export const requirementsCheck: Check = { name: 'requirements', find: findUnprovenRequirements }

function findUnprovenRequirements(files: readonly RepositoryFile[]): readonly Finding[] {
  const byPath = new Map(files.map((file) => [file.path, file.text]))
  const text = byPath.get(page)
  if (text === undefined) return [{ file: page, problem: 'is missing' }]
  const rows = tableRows(text, ['Id', 'Rule', 'Proof'])
  if (rows.length === 0) return [{ file: page, problem: 'has no table with the columns Id, Rule, Proof' }]
  const assumptions = tableRows(byPath.get(assumptionsPage) ?? '', assumptionColumns)
  const judge = createJudge(byPath, text, assumptions)
  return [
    ...findingsOf(page, rows, (row) => [...shapeProblems(row), ...judge(row)]),
    ...findingsOf(assumptionsPage, assumptions, judge),
    ...findingsOf(comparisonPage, tableRows(byPath.get(comparisonPage) ?? '', comparisonColumns), judge),
    ...findingsOf(securityPage, tableRows(byPath.get(securityPage) ?? '', stolenColumns), judge),
    ...testPlanFindings(byPath.get(testPlanPage) ?? '', judge),
  ]
}

/** Rows of the plan have no ids: a family has many. */
function testPlanFindings(text: string, judge: (row: TableRow) => readonly string[]): readonly Finding[] {
  return tableRows(text, ['Family', 'Case', 'Proof']).flatMap((row) =>
    judge(row).map((problem) => ({ file: `${testPlanPage}:${row.line}`, problem })),
  )
}

/** What is wrong row by row, an id that was seen before included. */
function findingsOf(
  file: string,
  rows: readonly TableRow[],
  problemsOf: (row: TableRow) => readonly string[],
): readonly Finding[] {
  const ids = rows.map((row) => row.cells[0] ?? '')
  return rows.flatMap((row, index) => {
    const id = row.cells[0] ?? ''
    const repeated = ids.indexOf(id) < index ? [`${id} appears twice`] : []
    return [...repeated, ...problemsOf(row)].map((problem) => ({ file: `${file}:${row.line}`, problem }))
  })
}

function shapeProblems(row: TableRow): readonly string[] {
  const [id = '', rule = ''] = row.cells
  return [
    ...(row.cells.length === 3 ? [] : [`${id} has ${row.cells.length} columns instead of 3`]),
    ...(/^[QO]-[a-z-]+-\d{2}$/.test(id) ? [] : [`"${id}" is no id like Q-price-01 or O-cfg-01`]),
    ...(rule.length >= 10 ? [] : [`${id} has no rule`]),
  ]
}

/** What is wrong with the proofs of a row: its last cell, several proofs joined by `<br>`. */
type Judge = (row: TableRow) => readonly string[]

function createJudge(
  byPath: ReadonlyMap<string, string>,
  text: string,
  assumptions: readonly TableRow[],
): Judge {
  const milestones = new Set([...text.matchAll(/^- \*\*(.+?)\*\*/gm)].map((match) => match[1] ?? ''))
  const assumptionIds = new Set(assumptions.map((row) => row.cells[0] ?? ''))
  const benchTexts = [...byPath].flatMap(([path, source]) => (/^bench\/.+\.ts$/.test(path) ? [source] : []))
  const titles = new Map<string, ReadonlySet<string>>()
  const titlesOf = (path: string): ReadonlySet<string> | undefined => {
    const source = byPath.get(path)
    if (source !== undefined && !titles.has(path)) titles.set(path, testTitlesOf(source))
    return titles.get(path)
  }
  const problemOf = (claim: string): string | undefined => {
    const milestone = /^not yet \((.+)\)$/.exec(claim)?.[1]
    if (milestone !== undefined)
      return milestones.has(milestone) ? undefined : `waits for the unknown milestone "${milestone}"`
    const assumption = /^open, see (A-[a-z]+-\d{2})$/.exec(claim)?.[1]
    if (assumption !== undefined)
      return assumptionIds.has(assumption)
        ? undefined
        : `points at ${assumption}, which is not in ${assumptionsPage}`
    const benchRow = /^bench `(P\d+)`$/.exec(claim)?.[1]
    if (benchRow !== undefined)
      return benchTexts.some((source) => source.includes(`'${benchRow}'`))
        ? undefined
        : `names a bench row that does not exist: ${benchRow}`
    const [, path, title] = /^`([^`]+)` › (.+)$/.exec(claim) ?? []
    if (path === undefined || title === undefined) return `has no readable proof: "${claim}"`
    const known = titlesOf(path)
    if (known === undefined) return `names a test file that does not exist: ${path}`
    return known.has(title) ? undefined : `names a test that ${path} does not have: ${title}`
  }
  return ({ cells }) =>
    (cells.at(-1) ?? '')
      .split('<br>')
      .map((claim) => problemOf(claim.trim()))
      .flatMap((problem) => (problem === undefined ? [] : [`${cells[0]} ${problem}`]))
}
