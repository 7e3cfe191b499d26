import { z } from 'zod'

const fileSchema = z.strictObject({
  file: z.string(),
  /** Titles of each passed test, cases of tables with their values. */
  passedTests: z.array(z.string()),
  /** Titles of each `describe` whose tests passed. */
  passedGroups: z.array(z.string()),
  skipped: z.number(),
  failedTests: z.array(z.strictObject({ title: z.string(), message: z.string() })),
  /** Messages of what failed outside of tests: the file did not load, or a hook threw. */
  failedHooks: z.array(z.string()),
})
const outcomeSchema = z.strictObject({
  files: z.array(fileSchema),
  /** Errors that no test and no hook caught. */
  errorsOutsideTests: z.array(z.string()),
  /** Paths of files that had not ended when the run was stopped. */
  notEnded: z.array(z.string()),
})

export type TestFileOutcome = z.infer<typeof fileSchema>
export type TestRunOutcome = z.infer<typeof outcomeSchema>
export type TestCounts = { readonly passed: number; readonly failed: number; readonly skipped: number }

/** @throws ZodError when the text is no outcome as the reporter writes it */
export function parseOutcome(json: string): TestRunOutcome {
  return outcomeSchema.parse(JSON.parse(json))
}

/** One outcome of runs that have no file in common. */
export function joinOutcomes(outcomes: readonly TestRunOutcome[]): TestRunOutcome {
  return {
    files: outcomes.flatMap(({ files }) => files),
    errorsOutsideTests: outcomes.flatMap(({ errorsOutsideTests }) => errorsOutsideTests),
    notEnded: outcomes.flatMap(({ notEnded }) => notEnded),
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Whatever threw outside of tests counts as a failure too, so that a broken suite never looks green. */
export function countTests({ files, errorsOutsideTests }: TestRunOutcome): TestCounts {
  return {
    passed: sum(files.map(({ passedTests }) => passedTests.length)),
    failed: sum(files.map((file) => failuresOf(file).length)) + errorsOutsideTests.length,
    skipped: sum(files.map(({ skipped }) => skipped)),
  }
}

const secondTriesMax = 3
/** Messages of a timeout, from vitest and from the waits of the tests. */
const waitRanOut = /timed out|in time\b|it never came about that|was not mined in/i
/** A port that somebody else took, a full disk, a download that did not come: nothing that the tested code did. */
const infrastructure =
  /\bEADDRINUSE\b|\bENOSPC\b|\bEMFILE\b|\bEAI_AGAIN\b|registry\S* .*(?:ETIMEDOUT|ECONNRESET)/
/** A search draws anew each time: what it found once is true, whether it is found again or not. */
const foundBySearch = /Property failed after|seed/i

/**
 * Files that may be run once more, alone: on a machine that others load too, a real node can be slower
 * than any limit of a test. Only a wait that ran out and a failing machine are tried again. A wrong value, an unexpected error, a
 * counterexample, an error outside of tests or many failures are final at once, whatever failed beside them.
 */
export function filesToTryAgain({ files, errorsOutsideTests }: TestRunOutcome): readonly string[] {
  const failed = files.filter((file) => failuresOf(file).length > 0)
  if (errorsOutsideTests.length > 0 || failed.length > secondTriesMax) return []
  return failed.some(isFinal) ? [] : failed.map(({ file }) => file)
}

function isFinal(failed: TestFileOutcome): boolean {
  return failuresOf(failed).some(
    (text) => foundBySearch.test(text) || !(waitRanOut.test(text) || infrastructure.test(text)),
  )
}

function failuresOf({ failedTests, failedHooks }: TestFileOutcome): readonly string[] {
  return [...failedTests.map(({ message }) => message), ...failedHooks]
}

/** Titles of the tests that passed, by the path of their file, where all of a file ran and nothing failed. */
export function passedByFile({ files }: TestRunOutcome): ReadonlyMap<string, readonly string[]> {
  return new Map(
    files
      .filter((file) => file.skipped === 0 && failuresOf(file).length === 0)
      .map(({ file, passedTests }) => [file, passedTests]),
  )
}

/** The first run with the results of the files that ran again. */
export function withSecondTry(first: TestRunOutcome, second: TestRunOutcome): TestRunOutcome {
  return {
    ...second,
    files: first.files.map((file) => second.files.find((again) => again.file === file.file) ?? file),
  }
}

/** The last line of a run, for people and for tools that look for it. */
export function countsLine(counts: TestCounts, filesTriedAgain: number): string {
  const line = `${counts.passed} passed, ${counts.failed} failed`
  return filesTriedAgain === 0 ? line : `${line}, files whose waits were tried again: ${filesTriedAgain}`
}
