import { z } from 'zod'

const position = z.object({ line: z.number(), column: z.number() })
/** The part of Stryker's report that is read here. */
export const reportSchema = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.string(),
      mutants: z.array(
        z.object({
          mutatorName: z.string(),
          replacement: z.string().default(''),
          status: z.string(),
          static: z.boolean().default(false),
          location: z.object({ start: position, end: position }),
        }),
      ),
    }),
  ),
})
export type Report = z.infer<typeof reportSchema>

/** A mutant that no test can notice, since it changes nothing that anybody sees. */
export type Equivalent = {
  readonly file: string
  /** Text of the source that is replaced, with single spaces. */
  readonly original: string
  readonly replacement: string
  /** Text of the line where the mutant begins, where the file has the same one elsewhere. */
  readonly line?: string
  readonly why: string
}

/** Changes that alter nothing, by the file that has them; `line` tells equal ones apart. */
export type EquivalentsByFile = Readonly<
  Record<string, readonly (readonly [original: string, replacement: string, why: string, line?: string])[]>
>

export type Mutant = {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly operator: string
  readonly original: string
  readonly replacement: string
  readonly lineText: string
  /** As Stryker takes it among files to mutate. */
  readonly range: string
  readonly isNoticed: boolean
  /** False: no test runs this code. */
  readonly isCovered: boolean
}

export type Score = {
  readonly ran: number
  readonly noticed: number
  readonly equivalent: number
  readonly survivors: readonly Mutant[]
  /** Entries of equivalent mutants that fit no survivor, or several. */
  readonly problems: readonly string[]
}

/** Share of those that ran and are not equivalent which tests must notice. */
const leastPercent = 90n

const noticed = ['Killed', 'Timeout']
const missed = ['Survived', 'NoCoverage']

/** @returns mutants that ran, in the order of the source */
export function readMutants({ files }: Report): readonly Mutant[] {
  return Object.entries(files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split('\n')
    return (
      mutants
        .filter(({ status }) => noticed.includes(status) || missed.includes(status))
        // Code that runs once, as its module loads, is not run: see `ignoreStatic`.
        .filter(({ static: isStatic, status }) => !isStatic || status !== 'NoCoverage')
        .map(({ mutatorName, replacement, status, location: { start, end } }) => ({
          file,
          line: start.line,
          column: start.column,
          operator: mutatorName,
          original: inOneLine(textBetween(lines, start, end)),
          replacement: inOneLine(replacement),
          lineText: (lines[start.line - 1] ?? '').trim(),
          range: `${file}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`,
          isNoticed: noticed.includes(status),
          isCovered: status !== 'NoCoverage',
        }))
        .sort((a, b) => a.line - b.line || a.column - b.column)
    )
  })
}

type Position = z.infer<typeof position>

function textBetween(lines: readonly string[], start: Position, end: Position): string {
  const part = lines.slice(start.line - 1, end.line)
  part[part.length - 1] = (part.at(-1) ?? '').slice(0, end.column - 1)
  part[0] = (part[0] ?? '').slice(start.column - 1)
  return part.join('\n')
}

const inOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** @param equivalents of all parts: those of files that did not run are left out */
export function scoreMutants(mutants: readonly Mutant[], equivalents: readonly Equivalent[]): Score {
  const survivors = mutants.filter(({ isNoticed }) => !isNoticed)
  const files = new Set(mutants.map(({ file }) => file))
  const named = equivalents
    .filter(({ file }) => files.has(file))
    .map((entry) => ({ entry, found: survivors.filter((mutant) => isMutant(entry, mutant)) }))
  const equivalent = new Set(named.flatMap(({ found }) => found))
  return {
    ran: mutants.length,
    noticed: mutants.length - survivors.length,
    equivalent: equivalent.size,
    survivors: survivors.filter((mutant) => !equivalent.has(mutant)),
    problems: named
      .filter(({ found }) => found.length !== 1)
      .map(({ entry, found }) => {
        const which = found.length === 0 ? 'no survivor' : `${found.length} survivors: name the line`
        return `${entry.file}: ${entry.original} → ${entry.replacement} names ${which}`
      }),
  }
}

function isMutant(entry: Equivalent, { file, original, replacement, lineText }: Mutant): boolean {
  return (
    entry.file === file &&
    entry.original === original &&
    entry.replacement === replacement &&
    (entry.line === undefined || entry.line === lineText)
  )
}

/** True if tests notice enough, and every entry of an equivalent mutant is one. */
export function isGood({ ran, noticed, equivalent, problems }: Score): boolean {
  return problems.length === 0 && BigInt(noticed) * 100n >= BigInt(ran - equivalent) * leastPercent
}

/** @returns one line per survivor, then the count */
export function scoreText(name: string, score: Score): string {
  const judged = score.ran - score.equivalent
  const percent = judged === 0 ? '100.0' : ((score.noticed * 100) / judged).toFixed(1)
  return [
    ...score.survivors.map(describe),
    ...score.problems.map((problem) => `FAIL equivalents: ${problem}`),
    `${isGood(score) ? 'ok  ' : 'FAIL'} ${name}: ${percent} %, ${score.noticed} noticed, ${score.survivors.length} survived, ${score.equivalent} equivalent`,
  ].join('\n')
}

function describe({ file, line, column, operator, original, replacement, isCovered }: Mutant): string {
  const reached = isCovered ? '' : ' (no test runs it)'
  return `${file}:${line}:${column} ${operator} ${original} → ${replacement}${reached}`
}
