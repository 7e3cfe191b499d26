import type { Check, Finding, RepositoryFile } from './finding.ts'
import { type TableRow, tableRows } from './markdownTable.ts'
import { testTitlesOf } from './testTitles.ts'

const page = 'docs/reference/requirements.md'
const assumptionsPage = 'docs/reference/assumptions.md'

/** Every rule of the two interface documents is proven by a test that exists, or says that it is not. */
export const requirementsCheck: Check = { name: 'requirements', find: findUnprovenRequirements }

function findUnprovenRequirements(files: readonly RepositoryFile[]): readonly Finding[] {
  const byPath = new Map(files.map((file) => [file.path, file.text]))
  const text = byPath.get(page)
  if (text === undefined) return [{ file: page, problem: 'is missing' }]
  const rows = tableRows(text, ['Id', 'Rule', 'Proof'])
  if (rows.length === 0) return [{ file: page, problem: 'has no table with the columns Id, Rule, Proof' }]
  const judge = createJudge(byPath, text)
  const seen = new Set<string>()
  return rows.flatMap((row) => {
    const [id = '', , proof = ''] = row.cells
    const problems = [...(seen.has(id) ? [`${id} appears twice`] : []), ...shapeProblems(row)]
    seen.add(id)
    return [...problems, ...judge(id, proof)].map((problem) => ({ file: `${page}:${row.line}`, problem }))
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

type Judge = (id: string, proof: string) => readonly string[]

function createJudge(byPath: ReadonlyMap<string, string>, text: string): Judge {
  const milestones = new Set([...text.matchAll(/^- \*\*(.+?)\*\*/gm)].map((match) => match[1] ?? ''))
  const assumptions = new Set(
    tableRows(byPath.get(assumptionsPage) ?? '', assumptionColumns).map((row) => row.cells[0] ?? ''),
  )
  const titles = new Map<string, ReadonlySet<string>>()
  const titlesOf = (path: string): ReadonlySet<string> | undefined => {
    const source = byPath.get(path)
    if (source !== undefined && !titles.has(path)) titles.set(path, testTitlesOf(source))
    return titles.get(path)
  }
  return (id, proof) =>
    proof.split('<br>').flatMap((part) => {
      const claim = part.trim()
      const milestone = /^not yet \((.+)\)$/.exec(claim)?.[1]
      if (milestone !== undefined)
        return milestones.has(milestone) ? [] : [`${id} waits for the unknown milestone "${milestone}"`]
      const assumption = /^open, see (A-[a-z]+-\d{2})$/.exec(claim)?.[1]
      if (assumption !== undefined)
        return assumptions.has(assumption)
          ? []
          : [`${id} points at ${assumption}, which is not in ${assumptionsPage}`]
      const [, path, title] = /^`([^`]+)` › (.+)$/.exec(claim) ?? []
      if (path === undefined || title === undefined) return [`${id} has no readable proof: "${claim}"`]
      const known = titlesOf(path)
      if (known === undefined) return [`${id} names a test file that does not exist: ${path}`]
      return known.has(title) ? [] : [`${id} names a test that ${path} does not have: ${title}`]
    })
}

export const assumptionColumns = ['Id', 'The documents leave open', 'Our choice', 'Reason', 'Tested by']
