import { suiteFiles } from '../testRunner/suites.ts'
import type { Check, Finding, RepositoryFile } from './finding.ts'
import { type TableRow, tableRows } from './markdownTable.ts'

const page = 'docs/reference/requirements.md'
const assumptionsPage = 'docs/reference/assumptions.md'
const comparisonPage = 'docs/internals/reference-comparison.md'
const testPlanPage = 'docs/reference/reader-test-plan.md'
const securityPage = 'SECURITY.md'
const attacksPage = 'docs/internals/withdrawals.md'
const requirementColumns = ['Id', 'Rule', 'Proof']
const testPlanColumns = ['Family', 'Case', 'Proof']
const attackColumns = ['Attack', 'Our answer', 'Test']
const comparisonColumns = ['Probe', 'Reference', 'Ours', 'Proof']
const stolenColumns = ['Secret', 'Largest loss', 'Limited by', 'Test']
const assumptionColumns = ['Id', 'The documents leave open', 'Our choice', 'Reason', 'Tested by']
const tablesOfProofs = [
  { page, columns: requirementColumns },
  { page: assumptionsPage, columns: assumptionColumns },
  { page: comparisonPage, columns: comparisonColumns },
  { page: testPlanPage, columns: testPlanColumns },
  { page: attacksPage, columns: attackColumns },
  { page: securityPage, columns: stolenColumns },
]
/** What vitest replaces in the title of a table. */
const placeholder = /%[sdifjo]|\$\w+/

/**
 * Every rule of the two interface documents, every choice of ours, every comparison with the public oracle and
 * every attack on a withdrawal names a test file or a bench row that exists, or says that it is not proven. That the file has the
 * test, and that it passed, is judged by {@link findUnprovenRows} after a run.
 */
export const requirementsCheck: Check = { name: 'requirements', find: findUnprovenRequirements }

function findUnprovenRequirements(files: readonly RepositoryFile[]): readonly Finding[] {
  const byPath = new Map(files.map((file) => [file.path, file.text]))
  const text = byPath.get(page)
  if (text === undefined) return [{ file: page, problem: 'is missing' }]
  const rows = tableRows(text, requirementColumns)
  const assumptions = tableRows(byPath.get(assumptionsPage) ?? '', assumptionColumns)
  const judge = createJudge(byPath, text, assumptions)
  return [
    ...lostTables(byPath),
    ...findingsOf(page, rows, (row) => [...shapeProblems(row), ...judge(row), ...lateProblems(row)]),
    ...findingsOf(assumptionsPage, assumptions, judge),
    ...groupFindings(byPath.get(assumptionsPage) ?? '', assumptions),
    ...findingsOf(comparisonPage, tableRows(byPath.get(comparisonPage) ?? '', comparisonColumns), judge),
    ...findingsWithoutIds(securityPage, tableRows(byPath.get(securityPage) ?? '', stolenColumns), judge),
    ...findingsWithoutIds(testPlanPage, tableRows(byPath.get(testPlanPage) ?? '', testPlanColumns), judge),
    ...findingsWithoutIds(attacksPage, tableRows(byPath.get(attacksPage) ?? '', attackColumns), judge),
  ]
}

/** A table whose columns got other names would be judged by nobody. */
function lostTables(byPath: ReadonlyMap<string, string>): readonly Finding[] {
  return tablesOfProofs.flatMap(({ page: file, columns }) => {
    const text = byPath.get(file)
    if (text === undefined || tableRows(text, columns).length > 0) return []
    return [{ file, problem: `has no table with the columns ${columns.join(', ')}` }]
  })
}

/** The list above the table leads to every group of it. */
function groupFindings(text: string, rows: readonly TableRow[]): readonly Finding[] {
  const [list = ''] = text.split('\n|')
  const groups = new Set(rows.map(({ cells: [id = ''] }) => id.replace(/-\d+$/, '')))
  return [...groups]
    .filter((group) => !list.includes(`\`${group}\``))
    .map((group) => ({
      file: assumptionsPage,
      problem: `${group} is in no group of the list above the table`,
    }))
}

/** Rows that begin with a family or an attack: a page has many of one name. */
function findingsWithoutIds(file: string, rows: readonly TableRow[], judge: Judge): readonly Finding[] {
  return rows.flatMap((row) => judge(row).map((problem) => ({ file: `${file}:${row.line}`, problem })))
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

const filesOfSuites: ReadonlySet<string> = new Set(Object.values(suiteFiles).flat())

/** A rule of the interface documents is proven before each commit, wherever its longer proofs run. */
function lateProblems({ cells }: TableRow): readonly string[] {
  const proofs = claimsOf(cells).flatMap((claim) => testProofOf(claim) ?? [])
  const isLate = proofs.length > 0 && proofs.every(({ path }) => filesOfSuites.has(path))
  return isLate ? [`${cells[0]} is proven by no test of npm test`] : []
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
    const proof = testProofOf(claim)
    if (proof === undefined) return `has no readable proof: "${claim}"`
    if (!proof.path.endsWith('.test.ts')) return `names a file that is no test: ${proof.path}`
    return byPath.has(proof.path) ? undefined : `names a test file that does not exist: ${proof.path}`
  }
  return ({ cells }) =>
    claimsOf(cells)
      .map(problemOf)
      .flatMap((problem) => (problem === undefined ? [] : [`${cells[0]} ${problem}`]))
}

/**
 * Rows whose test did not run: another name than that of any test that passed in its file.
 * @param passed titles of passed tests by path, of the files that were run; rows of other files are not judged
 */
export function findUnprovenRows(
  files: readonly RepositoryFile[],
  passed: ReadonlyMap<string, readonly string[]>,
): readonly Finding[] {
  const byPath = new Map(files.map((file) => [file.path, file.text]))
  return tablesOfProofs.flatMap(({ page: file, columns }) =>
    tableRows(byPath.get(file) ?? '', columns).flatMap(({ cells, line }) =>
      claimsOf(cells)
        .flatMap((claim) => testProofOf(claim) ?? [])
        .filter(({ path, title: named }) => {
          const titles = passed.get(path)
          return titles !== undefined && !titles.some((title) => namesTest(named, title))
        })
        .map(({ path, title }) => ({
          file: `${file}:${line}`,
          problem: `${cells[0]} names a test that ${path} does not have: ${title}`,
        })),
    ),
  )
}

function claimsOf(cells: readonly string[]): readonly string[] {
  return (cells.at(-1) ?? '').split('<br>').map((claim) => claim.trim())
}

type TestProof = { readonly path: string; readonly title: string }

function testProofOf(claim: string): TestProof | undefined {
  const [, path, title] = /^`([^`]+)` › (.+)$/.exec(claim) ?? []
  return path === undefined || title === undefined ? undefined : { path, title }
}

/** A row names one test, or all cases of a table by its title as written, such as `is refused with %s`. */
function namesTest(named: string, title: string): boolean {
  const pattern = named
    .split(placeholder)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*')
  return new RegExp(`^${pattern}$`, 's').test(title)
}
