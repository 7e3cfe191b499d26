import type { BenchRow } from '../row.ts'
import type { TimedAnswer } from './openLoad.ts'
import type { Group } from './routeMix.ts'
import { addedMs, type RateRun, spreadOf } from './runReport.ts'

/** The requests per second at which P17 is judged. */
export const goalRate = 50
/** Most time in chain reads for one request, by the service's own limit, and the time it adds. */
const askingMaxMs = 1_550

/** P17. No rows without the rate that they are about. */
export function goalRows(runs: readonly RateRun[]): readonly BenchRow[] {
  const run = runs.find(({ rate }) => rate === goalRate)
  if (run === undefined) return []
  const { answers } = run
  const added = spreadOf(answers.map(addedMs))
  return [
    row('P17-p50', 'time beyond the waits for chains, p50', added.p50Ms, 10, answers.length),
    row('P17-p99', 'time beyond the waits for chains, p99', added.p99Ms, 50, answers.length),
    fullRow(answers, 'known', 50),
    fullRow(answers, 'first-seen', 80),
    fullRow(answers, 'asks a chain', askingMaxMs),
  ]
}

const names = {
  known: 'known users in full, p99',
  'first-seen': 'first-seen users in full, p99',
  'asks a chain': 'requests that must ask a chain in full, p99',
} satisfies Partial<Record<Group, string>>

function fullRow(answers: readonly TimedAnswer[], group: keyof typeof names, goalMs: number): BenchRow {
  const chosen = answers.filter((answer) => answer.group === group).map(({ tookMs }) => tookMs)
  const id = group === 'asks a chain' ? 'P17-budget' : `P17-${group}`
  return row(id, names[group], spreadOf(chosen).p99Ms, goalMs, chosen.length)
}

function row(id: string, name: string, seenMs: number, goalMs: number, count: number): BenchRow {
  return {
    id,
    name: `distant endpoints, a day's mix at ${goalRate} requests/s: ${name}`,
    value: `${seenMs.toFixed(1)} ms of ${count} requests`,
    limit: `<= 1 x ${goalMs} ms`,
    ratio: seenMs / goalMs,
    goal: 1,
    atLeast: false,
  }
}
