import { z } from 'zod'

/** The members of vitest's JSON report that decide the outcome. */
const reportSchema = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(z.object({ status: z.string() })),
    }),
  ),
})

export type VitestCounts = { readonly passed: number; readonly failed: number; readonly skipped: number }

/**
 * Counts of a vitest JSON report. A file that failed without a failed test (it did not load, or a
 * hook threw) counts as one failure, so that a broken suite never looks green.
 * @throws ZodError when the text is no such report
 */
export function countTests(reportJson: string): VitestCounts {
  const report = reportSchema.parse(JSON.parse(reportJson))
  const brokenFiles = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  )
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + brokenFiles.length,
    skipped: report.numPendingTests + report.numTodoTests,
  }
}

/** The last line of a run, for people and for tools that look for it. */
export function countsLine(counts: VitestCounts): string {
  return `${counts.passed} passed, ${counts.failed} failed`
}
