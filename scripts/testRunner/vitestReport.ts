import { z } from 'zod'

/** The members of vitest's JSON report that decide the outcome. */
const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().default(''),
      assertionResults: z.array(
        z.object({ status: z.string(), failureMessages: z.array(z.string()).nullish() }),
      ),
    }),
  ),
})

/** What became of each test file. */
export type VitestReport = readonly FileResult[]
type FileResult = z.infer<typeof reportSchema>['testResults'][number]

export type VitestCounts = { readonly passed: number; readonly failed: number; readonly skipped: number }

/** @throws ZodError when the text is no JSON report of vitest */
export function parseReport(reportJson: string): VitestReport {
  return reportSchema.parse(JSON.parse(reportJson)).testResults
}

/**
 * A file that failed without a failed test (it did not load, or a hook threw) counts as one failure, so
 * that a broken suite never looks green.
 */
export function countTests(report: VitestReport): VitestCounts {
  const statuses = report.flatMap((file) => file.assertionResults.map(({ status }) => status))
  const [passed, failed] = ['passed', 'failed'].map((wanted) => statuses.filter((it) => it === wanted).length)
  const brokenFiles = report.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'),
  )
  return {
    passed: passed ?? 0,
    failed: (failed ?? 0) + brokenFiles.length,
    skipped: statuses.length - (passed ?? 0) - (failed ?? 0),
  }
}

const secondTriesMax = 3
/** What vitest says of a limit, and what the waits of the tests say when their time is over. */
const waitRanOut = /timed out|it never came about that|was not mined in/i
/** A search draws anew each time: what it found once is true, whether it is found again or not. */
const foundBySearch = /Property failed after|seed/i

/**
 * Files that may be run once more, alone: a machine that others load too can be slower than any limit of a
 * test. A wrong value, a counterexample or many failures are no matter of load, whatever failed beside them.
 */
export function filesToTryAgain(report: VitestReport): readonly string[] {
  const failed = report.filter(({ status }) => status === 'failed')
  const isLate = (text: string) => waitRanOut.test(text) && !foundBySearch.test(text)
  if (failed.length > secondTriesMax || !failed.flatMap(failuresOf).every(isLate)) return []
  return failed.map(({ name }) => name)
}

/** One text per failed test; of a file that failed without one, its own. */
function failuresOf({ message, assertionResults }: FileResult): readonly string[] {
  const failures = assertionResults
    .filter(({ status }) => status === 'failed')
    .map(({ failureMessages }) => (failureMessages ?? []).join('\n'))
  return failures.length === 0 ? [message] : failures
}

/** The first run with the results of the files that ran again. */
export function withSecondTry(first: VitestReport, second: VitestReport): VitestReport {
  return first.map((file) => second.find(({ name }) => name === file.name) ?? file)
}

/** The last line of a run, for people and for tools that look for it. */
export function countsLine(counts: VitestCounts): string {
  return `${counts.passed} passed, ${counts.failed} failed`
}
