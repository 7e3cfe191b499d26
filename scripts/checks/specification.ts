import type { Check, Finding, RepositoryFile } from './finding.ts'

const folder = 'docs/specification'
/** The five pages, by the letter of their ids. */
const pages: Readonly<Record<string, string>> = {
  P: `${folder}/protocol.md`,
  Q: `${folder}/quotes.md`,
  L: `${folder}/ledger.md`,
  F: `${folder}/families.md`,
  O: `${folder}/operation.md`,
}
const rulePattern = /^\*\*([A-Z]-\d+)\*\* (.*)$/
const titlePattern = /['"`]((?:[PQLFO]-\d+)(?:, [PQLFO]-\d+)*): /g
const outsidePages =
  /@source.*\b(design|oracle-protocol|quote-api|ledger-and-safety|families|withdrawals|pricing-engine|clients|local-chains|networks-2026-11|style)(\.md|\b (section )?\d)/
/** Sources that name a page outside the repository: each becomes a rule, and none is added. */
const outsideSourcesMax = 621

/**
 * Every rule of `docs/specification` has a unique id, ascending in the page of its letter, and the title of a test
 * begins with it (`Q-3: …` or `Q-3, L-2: …`); every id in a title is a rule.
 */
export const specificationCheck: Check = { name: 'specification', find: findUnprovenRules }

type Rule = { readonly id: string; readonly file: string; readonly line: number; readonly text: string }

function findUnprovenRules(files: readonly RepositoryFile[]): readonly Finding[] {
  const byPath = new Map(files.map((file) => [file.path, file.text]))
  const rules = Object.values(pages).flatMap((path) => rulesOf(path, byPath.get(path) ?? ''))
  const titles = files.flatMap(titleIds)
  const known = new Set(rules.map(({ id }) => id))
  const proven = new Set(titles.map(({ id }) => id))
  return [
    ...Object.values(pages)
      .filter((path) => !byPath.has(path))
      .map((file) => ({ file, problem: 'is missing' })),
    ...rules.flatMap((rule, index) =>
      problemsOf(rule, rules[index - 1], proven).map((problem) => ({
        file: `${rule.file}:${rule.line}`,
        problem,
      })),
    ),
    ...titles
      .filter(({ id }) => !known.has(id))
      .map(({ id, file }) => ({ file, problem: `proves ${id}, which is no rule` })),
    ...outsideSources(files),
  ]
}

function rulesOf(file: string, text: string): readonly Rule[] {
  return text.split('\n').flatMap((line, index) => {
    const [, id, rule] = rulePattern.exec(line) ?? []
    return id === undefined || rule === undefined ? [] : [{ id, file, line: index + 1, text: rule }]
  })
}

function problemsOf(rule: Rule, before: Rule | undefined, proven: ReadonlySet<string>): readonly string[] {
  const { id, file, text } = rule
  const isAscending = before?.file !== file || numberOf(before.id) < numberOf(id)
  return [
    ...(pages[id.charAt(0)] === file ? [] : [`${id} belongs to ${pages[id.charAt(0)] ?? 'no page'}`]),
    ...(isAscending ? [] : [`${id} does not ascend`]),
    ...(text.length >= 20 ? [] : [`${id} has no text`]),
    ...(proven.has(id) ? [] : [`${id} is in no title of a test`]),
  ]
}

const numberOf = (id: string): number => Number(id.slice(2))

/** Its own test holds what it must find. */
const isCheck = (path: string): boolean => path.startsWith('scripts/checks/specification')

function titleIds({ path, text }: RepositoryFile): readonly { readonly id: string; readonly file: string }[] {
  if (!/\.test\.ts$|(^|\/)test\/.+\.ts$/.test(path) || isCheck(path)) return []
  return [...text.matchAll(titlePattern)].flatMap(([, ids = '']) =>
    ids.split(', ').map((id) => ({ id, file: path })),
  )
}

function outsideSources(files: readonly RepositoryFile[]): readonly Finding[] {
  const cited = files
    .filter(({ path }) => path.endsWith('.ts') && !isCheck(path))
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .filter((line) => outsidePages.test(line))
        .map(() => path),
    )
  if (cited.length <= outsideSourcesMax) return []
  const problem = `${cited.length} @source lines name a page outside the repository, at most ${outsideSourcesMax} may: name a rule of ${folder}, a standard or a public page`
  return [{ file: folder, problem }]
}
