import { suiteFiles } from '../testRunner/suites.ts'
import type { Check, Finding, RepositoryFile } from './finding.ts'
import { tableRows } from './markdownTable.ts'

const folder = 'docs/specification'
/** The pages of our own rules, by the letter of their ids. */
const pages: Readonly<Record<string, string>> = {
  P: `${folder}/protocol.md`,
  Q: `${folder}/quotes.md`,
  L: `${folder}/ledger.md`,
  F: `${folder}/families.md`,
  O: `${folder}/operation.md`,
}
/** Sentences of the two interface documents. */
const interfacePage = `${folder}/interface.md`
const allPages = [...Object.values(pages), interfacePage]

const rulePattern = /^\*\*([A-Z]-[\w-]+)\*\* (.*)$/
const interfaceId = '[QO]-[a-z]+(?:-[a-z]+)*-\\d{2}'
const ruleId = `(?:[PQLFO]-\\d+|${interfaceId})`
const idsOfTitle = `${ruleId}(?:, ${ruleId})*`
/** In a source: the start of a title, or a cell of a table of tests that is the id alone. */
const idsInSource = new RegExp(`['"\`](?:(${idsOfTitle}): |(${interfaceId})['"\`])`, 'g')
const titlePattern = new RegExp(`^(${idsOfTitle}): `)
const linkedRule = new RegExp(`\\[(${ruleId})\\]\\(`, 'g')
/** In a comment: what follows `@source`. */
const sourceTag = /@source (.*)/
const pageInSource = /(?<![\w:/.-])[\w./-]+\.md\b/g
const rulesInSource = new RegExp(`\\brules? (${ruleId}(?:(?:, | and )${ruleId})*)`, 'g')

/** Tables of other pages by their columns. The last one names tests as `file › title`, or rows of the bench. */
const proofTables: Readonly<Record<string, readonly string[]>> = {
  'docs/internals/reference-comparison.md': ['Probe', 'Reference', 'Ours', 'Proof'],
  'docs/internals/withdrawals.md': ['Attack', 'Our answer', 'Test'],
  'SECURITY.md': ['Secret', 'Largest loss', 'Limited by', 'Test'],
}

export type Rule = {
  readonly id: string
  readonly file: string
  /** Counted from 1. */
  readonly line: number
  readonly text: string
  /** Before each commit for a sentence of the interface documents; by nothing where these leave something open. */
  readonly provenBy: 'npm test' | 'any suite' | 'nothing'
}

/**
 * Every rule of `docs/specification` has a unique id, ascending in the page of its letter, and the title of a test
 * begins with it (`Q-3: …` or `Q-3, L-2: …`); every id in a title is a rule. Tables of proofs name files that exist:
 * that they have the tests is judged by {@link findUnprovenRows} after a run.
 */
export const specificationCheck: Check = {
  name: 'specification',
  find: (files) => [...ruleFindings(files), ...tableFindings(files), ...sourceFindings(files)],
}

export function readRules(files: readonly RepositoryFile[]): readonly Rule[] {
  const byPath = new Map(files.map((file) => [file.path, file.text]))
  return allPages.flatMap((file) =>
    (byPath.get(file) ?? '').split('\n').flatMap((line, index) => {
      const [, id, text] = rulePattern.exec(line) ?? []
      if (id === undefined || text === undefined) return []
      const provenBy = text.startsWith('Open: ') ? 'nothing' : isOfInterface(id) ? 'npm test' : 'any suite'
      return [{ id, file, line: index + 1, text, provenBy } as const]
    }),
  )
}

/** Ids of the rules that a test of this title proves. */
export function idsOf(title: string): readonly string[] {
  return titlePattern.exec(title)?.[1]?.split(', ') ?? []
}

function isOfInterface(id: string): boolean {
  return new RegExp(`^${interfaceId}$`).test(id)
}

const filesOfSuites: ReadonlySet<string> = new Set(Object.values(suiteFiles).flat())

function ruleFindings(files: readonly RepositoryFile[]): readonly Finding[] {
  const paths = new Set(files.map(({ path }) => path))
  const rules = readRules(files)
  const ruleIds = new Set(rules.map(({ id }) => id))
  const titles = files.flatMap(titleIds)
  const proven = new Set(
    titles.filter(({ id, file }) => !isOfInterface(id) || !filesOfSuites.has(file)).map(({ id }) => id),
  )
  return [
    ...allPages.filter((path) => !paths.has(path)).map((file) => ({ file, problem: 'is missing' })),
    ...rules.flatMap((rule, index) => {
      const shape = shapeProblems(rule, rules.slice(0, index))
      const problems = [...shape, ...proofProblems(rule, proven, ruleIds)]
      return problems.map((problem) => ({ file: `${rule.file}:${rule.line}`, problem }))
    }),
    ...titles
      .filter(({ id }) => !ruleIds.has(id))
      .map(({ id, file }) => ({ file, problem: `proves ${id}, which is no rule` })),
  ]
}

function shapeProblems({ id, file, text }: Rule, before: readonly Rule[]): readonly string[] {
  const page = isOfInterface(id) ? interfacePage : /^[A-Z]-\d+$/.test(id) ? pages[id.charAt(0)] : undefined
  const last = before.at(-1)
  const isInPlace =
    file === interfacePage
      ? before.every((other) => other.id !== id)
      : last?.file !== file || numberOf(last.id) < numberOf(id)
  return [
    ...(page === file ? [] : [`${id} belongs to ${page ?? 'no page'}`]),
    ...(isInPlace ? [] : [`${id} ${file === interfacePage ? 'appears twice' : 'does not ascend'}`]),
    ...(text.length >= 20 ? [] : [`${id} has no text`]),
  ]
}

const numberOf = (id: string): number => Number(id.slice(2))

function proofProblems(
  { id, text, provenBy }: Rule,
  proven: ReadonlySet<string>,
  ruleIds: ReadonlySet<string>,
): readonly string[] {
  const linked = [...text.matchAll(linkedRule)].map(([, other = '']) => other)
  const unknown = linked.filter((other) => !ruleIds.has(other))
  const isPointing = provenBy !== 'nothing' || text.includes('](')
  const isProven = provenBy === 'nothing' || proven.has(id)
  return [
    ...(isPointing ? [] : [`${id} is open and points to nothing`]),
    ...(isProven ? [] : [`${id} is in no title of a test${provenBy === 'npm test' ? ' of npm test' : ''}`]),
    ...unknown.map((other) => `${id} points to ${other}, which is no rule`),
  ]
}

/** Its own tests hold what it must find. */
const isCheck = (path: string): boolean => /^scripts\/(checks\/specification|rules\/)/.test(path)

function titleIds({ path, text }: RepositoryFile): readonly { readonly id: string; readonly file: string }[] {
  if (!/\.test\.ts$|(^|\/)test\/.+\.ts$/.test(path) || isCheck(path)) return []
  return [...text.matchAll(idsInSource)].flatMap(([, ids, cell]) =>
    (ids ?? cell ?? '').split(', ').map((id) => ({ id, file: path })),
  )
}

/** Each page that a `@source` names is a file of the repository, by its path from the root, and each id is a rule. */
function sourceFindings(files: readonly RepositoryFile[]): readonly Finding[] {
  const paths = new Set(files.map(({ path }) => path))
  const rules = new Set(readRules(files).map(({ id }) => id))
  return files
    .filter(({ path }) => /\.(ts|tsx|mjs|sol|c)$/.test(path) && !isCheck(path))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => {
        const source = sourceTag.exec(line)?.[1] ?? ''
        const pages = [...source.matchAll(pageInSource)].map(([page]) => page)
        const ids = [...source.matchAll(rulesInSource)].flatMap(([, named = '']) => named.split(/, | and /))
        const missing = [...pages.filter((page) => !paths.has(page)), ...ids.filter((id) => !rules.has(id))]
        return missing.map((name) => ({
          file: path,
          problem: `line ${index + 1}: @source names ${name}, which is not here`,
        }))
      }),
    )
}

/** One proof in the last cell of a row; `<br>` joins several. */
type Claim = { readonly file: string; readonly row: string; readonly text: string }

function claimsOf(files: readonly RepositoryFile[]): readonly Claim[] {
  return files.flatMap(({ path, text: page }) => {
    const columns = proofTables[path]
    if (columns === undefined) return []
    return tableRows(page, columns).flatMap(({ cells, line }) => {
      const [row = ''] = cells
      const claims = (cells.at(-1) ?? '').split('<br>')
      return claims.map((text) => ({ file: `${path}:${line}`, row, text: text.trim() }))
    })
  })
}

function tableFindings(files: readonly RepositoryFile[]): readonly Finding[] {
  const paths = new Set(files.map(({ path }) => path))
  const benches = files.filter(({ path }) => /^bench\/.+\.ts$/.test(path)).map(({ text }) => text)
  const problemOf = (text: string): string | undefined => {
    const bench = /^bench `(P\d+)`$/.exec(text)?.[1]
    if (bench !== undefined)
      return benches.some((source) => source.includes(`'${bench}'`))
        ? undefined
        : `names a bench row that does not exist: ${bench}`
    const path = testProofOf(text)?.path
    if (path === undefined) return `has no readable proof: "${text}"`
    if (!path.endsWith('.test.ts')) return `names a file that is no test: ${path}`
    return paths.has(path) ? undefined : `names a test file that does not exist: ${path}`
  }
  return [
    // A table whose columns got other names would be judged by nobody.
    ...files.flatMap(({ path, text }) => {
      const columns = proofTables[path]
      if (columns === undefined || tableRows(text, columns).length > 0) return []
      return [{ file: path, problem: `has no table with the columns ${columns.join(', ')}` }]
    }),
    ...claimsOf(files).flatMap(({ file, row, text }) => {
      const problem = problemOf(text)
      return problem === undefined ? [] : [{ file, problem: `${row} ${problem}` }]
    }),
  ]
}

/**
 * Rows of tables of proofs whose test did not run: another title than that of any test that passed in its file.
 * @param passed titles of passed tests by path, of the files that were run; rows of other files are not judged
 */
export function findUnprovenRows(
  files: readonly RepositoryFile[],
  passed: ReadonlyMap<string, readonly string[]>,
): readonly Finding[] {
  return claimsOf(files).flatMap(({ file, row, text }) => {
    const proof = testProofOf(text)
    const titles = proof && passed.get(proof.path)
    if (proof === undefined || titles === undefined) return []
    if (titles.some((title) => namesTest(proof.title, title))) return []
    return [{ file, problem: `${row} names a test that ${proof.path} does not have: ${proof.title}` }]
  })
}

function testProofOf(text: string): { readonly path: string; readonly title: string } | undefined {
  const [, path, title] = /^`([^`]+)` › (.+)$/.exec(text) ?? []
  return path === undefined || title === undefined ? undefined : { path, title }
}

/** Placeholders that vitest replaces in the title of a table. */
const placeholder = /%[sdifjo]|\$\w+/

/** A row names one test, or all cases of a table by its title as written, such as `is refused with %s`. */
function namesTest(named: string, title: string): boolean {
  const pattern = named
    .split(placeholder)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*')
  return new RegExp(`^(?:${idsOfTitle}: )?${pattern}$`, 's').test(title)
}
