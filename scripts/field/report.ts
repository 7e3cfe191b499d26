// The report of a run in the field, for whoever was not there. Pure.
import { announce, nameOf, type Step, usdText } from './plan.ts'

export type StepResult = {
  readonly step: Step
  readonly outcome: 'done' | 'failed' | 'not taken'
  readonly told: string
  readonly seconds: number
}

export type FieldReport = {
  readonly environment: string
  readonly startedAt: Date
  readonly endedAt: Date
  readonly taken: readonly StepResult[]
  readonly sumMicroUsd: bigint
  /** Decrease of the funded account and the fill wallet, in microUSD; undefined where they could not be read. */
  readonly spentMicroUsd: bigint | undefined
  /** Amounts returned from the fill wallet, by chain, in words. */
  readonly givenBack: readonly string[]
  /** Why it ended early. */
  readonly stopped: string | undefined
  /** Requests to endpoints, by chain. */
  readonly requests: Readonly<Record<string, number>>
  readonly records: number
  /** Result of replaying the records: its last line, and a line per answer that was not understood or differs. */
  readonly replayed: { readonly counts: string; readonly faults: readonly string[] }
}

export function isWhole({ taken, stopped }: Pick<FieldReport, 'taken' | 'stopped'>): boolean {
  return stopped === undefined && taken.every(({ outcome }) => outcome === 'done')
}

/** @param scrub takes out what nobody else may read: errors may quote it */
export function renderReport(report: FieldReport, scrub: (text: string) => string): string {
  const { environment, startedAt, endedAt, taken, requests, replayed, stopped } = report
  const { spentMicroUsd, sumMicroUsd, givenBack } = report
  const spent = spentMicroUsd === undefined ? 'unknown' : usdText(spentMicroUsd)
  const minutes = Math.ceil((endedAt.getTime() - startedAt.getTime()) / 60_000)
  const cell = (text: string) => scrub(text).replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')
  const done = taken.filter(({ outcome }) => outcome === 'done').length
  return [
    `# In the field: ${environment}, ${startedAt.toISOString()}`,
    '',
    `${done} of ${taken.length} steps done in ${minutes} minutes.`,
    ...(stopped === undefined ? [] : [`Stopped: ${cell(stopped)}.`]),
    '',
    `Spent: ${spent} of at most ${usdText(sumMicroUsd)}. Given back: ${cell(givenBack.join('; ') || 'nothing')}.`,
    '',
    '| Step | Outcome | Most it may spend | Seconds | What came of it |',
    '|---|---|---|---|---|',
    ...taken.map(({ step, outcome, told, seconds }) => {
      const most = usdText(step.maxMicroUsd)
      return `| ${nameOf(step)} | ${outcome} | ${most} | ${seconds.toFixed(1)} | ${cell(told)} |`
    }),
    '',
    `Requests to endpoints: ${Object.entries(requests)
      .map(([chain, count]) => `${chain} ${count}`)
      .join(', ')}. Records: ${report.records}. Their replay: ${replayed.counts}`,
    ...(replayed.faults.length === 0 ? [] : ['', ...replayed.faults.map((line) => `- ${cell(line)}`)]),
    '',
  ].join('\n')
}

/** Output of a dry run. */
export function renderPlan(
  steps: readonly Step[],
  { sumMicroUsd, above }: { readonly sumMicroUsd: bigint; readonly above: Step | undefined },
): readonly string[] {
  const total = steps.reduce((sum, { maxMicroUsd }) => sum + maxMicroUsd, 0n)
  return [
    ...steps.map(announce),
    `All of it: at most ${usdText(total)}, of which what is lent comes back. The sum is ${usdText(sumMicroUsd)}.`,
    ...(above === undefined ? [] : [`The sum may not reach for ${nameOf(above)}: raise --max-usd.`]),
  ]
}
