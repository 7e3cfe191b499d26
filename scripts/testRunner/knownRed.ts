// `test/known-red.json`: tests of suites beside `npm test` that fail on the main branch too, for a week at most.
import { z } from 'zod'
import { type Suite, suiteFiles } from './suites.ts'
import type { TestFileOutcome, TestRunOutcome } from './testRunOutcome.ts'

const date = z.iso.date()
const entrySchema = z.strictObject({
  /** Path of the file in the repository and the test's own title, e.g. `test/demo.test.ts > pays`. */
  test: z.string().regex(/^\S+\.test\.ts > ./),
  firstSeen: date,
  /** Last day on which the test may fail. */
  until: date,
})
export type KnownRed = z.infer<typeof entrySchema>

export const knownRedPath = 'test/known-red.json'
const entriesMax = 3
const daysMax = 7
/** What these suites test may wait for a week; money, truth and access, which the others test, may not. */
const mayWait: readonly Suite[] = ['clients', 'operations', 'production']
/** Files of those suites that guard money, truth or access all the same. */
const mayNotWait =
  /(?:Caps|Durability|durability|denied|Limits|lying|Oracle|oracle|ledger|recover|Recover|unseen|signer|money|lies|secrets|audit)/

/** @throws ZodError for another shape */
export function parseKnownRed(json: string): readonly KnownRed[] {
  return z.array(entrySchema).parse(JSON.parse(json))
}

/** Why a list of known failures stops every change, a sentence each. @param today as `YYYY-MM-DD` */
export function knownRedProblems(entries: readonly KnownRed[], today: string): readonly string[] {
  const tooMany =
    entries.length > entriesMax ? [`at most ${entriesMax} tests may be listed, not ${entries.length}`] : []
  return [...tooMany, ...entries.flatMap((entry) => entryProblems(entry, today))]
}

function entryProblems({ test, firstSeen, until }: KnownRed, today: string): readonly string[] {
  const file = fileOf(test)
  const isFree = mayWait.some((suite) => suiteFiles[suite].some((path) => path === file))
  const days = (Date.parse(until) - Date.parse(firstSeen)) / 86_400_000
  return [
    ...(until < today ? [`${test}: its time ended on ${until}: mend it`] : []),
    ...(days > daysMax ? [`${test}: ${days} days are more than ${daysMax}`] : []),
    ...(!isFree || mayNotWait.test(file) ? [`${test}: tests of money, truth or access may not wait`] : []),
  ]
}

export type KnownRedVerdict = {
  /** The run without the failures that may wait. */
  readonly outcome: TestRunOutcome
  readonly warnings: readonly string[]
  /** What stops the change: a list that breaks its rules, and listed tests that pass. */
  readonly failures: readonly string[]
}

/** @param today as `YYYY-MM-DD` @param pathOf path in the repository of a file of the run */
export function applyKnownRed(
  outcome: TestRunOutcome,
  entries: readonly KnownRed[],
  today: string,
  pathOf: (file: string) => string,
): KnownRedVerdict {
  const listed = new Set(entries.map(({ test }) => test))
  const isListed = (file: TestFileOutcome, title: string) => listed.has(`${pathOf(file.file)} > ${title}`)
  const failing = outcome.files.flatMap((file) =>
    file.failedTests
      .filter(({ title }) => isListed(file, title))
      .map(({ title }) => `${pathOf(file.file)} > ${title}`),
  )
  const passing = outcome.files.flatMap((file) =>
    file.passedTests
      .filter((title) => isListed(file, title))
      .map((title) => `${pathOf(file.file)} > ${title}`),
  )
  return {
    outcome: {
      ...outcome,
      files: outcome.files.map((file) => ({
        ...file,
        failedTests: file.failedTests.filter(({ title }) => !isListed(file, title)),
      })),
    },
    warnings: failing.map((test) => `known to fail: ${test}`),
    failures: [
      ...knownRedProblems(entries, today),
      ...passing.map((test) => `${test} passes: take it out`),
    ].map((problem) => `${knownRedPath}: ${problem}`),
  }
}

/** The line that a change adds for a test that failed before it too. */
export function knownRedLine(test: string, today: string): string {
  const until = new Date(Date.parse(today) + daysMax * 86_400_000).toISOString().slice(0, 10)
  const entry: KnownRed = { test, firstSeen: today, until }
  return JSON.stringify(entry)
}

const fileOf = (test: string): string => test.slice(0, test.indexOf(' > '))
