import { percentile } from '../steadyLoad.ts'
import { farthestMs } from './distantEndpoints.ts'
import type { TimedAnswer } from './openLoad.ts'
import type { PriceAges } from './priceAges.ts'

/** All that was seen at one rate. */
export type RateRun = {
  readonly rate: number
  readonly seconds: number
  readonly hangSeconds: number
  readonly answers: readonly TimedAnswer[]
  readonly ages: PriceAges
  /** p99 of how late this process itself was, proxies included: what it adds to every figure. */
  readonly ownLagMs: number
  /** Share of the processors that everybody together used, and that the service used. */
  readonly busyShare: number
  readonly serviceShare: number
}

export type Spread = { readonly count: number; readonly p50Ms: number; readonly p99Ms: number }

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  return { count: sorted.length, p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) }
}

/**
 * Time that the service adds: the total without its reported wait for chains. The deducted wait is limited to the
 * longest single read: second rounds and the time before another endpoint is asked are the service's own.
 */
export function addedMs({ tookMs, chainMs }: TimedAnswer): number {
  return Math.max(0, tookMs - Math.min(chainMs, farthestMs))
}

type KindSummary = {
  readonly kind: string
  readonly full: Spread
  readonly added: Spread
  readonly refusals: Readonly<Record<string, number>>
}

export function summaryOf({ answers, ages, ...run }: RateRun) {
  const took = (chosen: readonly TimedAnswer[]) => spreadOf(chosen.map(({ tookMs }) => tookMs))
  const waits = answers.map(({ chainMs }) => chainMs).filter((chainMs) => chainMs > 0)
  return {
    ...run,
    kinds: summariesOf(answers),
    all: took(answers),
    added: spreadOf(answers.map(addedMs)),
    sentLate: spreadOf(answers.map(({ sentLateMs }) => sentLateMs)),
    inside: spreadOf(answers.map(({ insideMs }) => insideMs)),
    whileHanging: took(answers.filter(({ isHanging }) => isHanging)),
    otherwise: took(answers.filter(({ isHanging }) => !isHanging)),
    chainWaits: spreadOf(waits),
    longWaits: waits.filter((waitMs) => waitMs > farthestMs).length,
    priceReadAge: spreadOf(ages.priceReadMs),
    headAge: spreadOf(ages.headMs),
    unusableLooks: ages.unusable,
  }
}

function summariesOf(answers: readonly TimedAnswer[]): readonly KindSummary[] {
  const names = [...new Set(answers.map(({ kind }) => kind))].sort()
  return names.map((kind) => {
    const chosen = answers.filter((answer) => answer.kind === kind)
    const refusals: Record<string, number> = {}
    for (const { refusal } of chosen) {
      if (refusal !== undefined) refusals[refusal] = (refusals[refusal] ?? 0) + 1
    }
    return {
      kind,
      full: spreadOf(chosen.map(({ tookMs }) => tookMs)),
      added: spreadOf(chosen.map(addedMs)),
      refusals,
    }
  })
}

const told = ({ p50Ms, p99Ms }: Spread) => `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`

export function printRun(run: RateRun): void {
  const { kinds, all, added, whileHanging, otherwise, chainWaits, longWaits, ...seen } = summaryOf(run)
  const { priceReadAge, headAge, unusableLooks, ownLagMs, busyShare, serviceShare, sentLate, inside } = seen
  console.log(
    `\n${run.rate} requests/s for ${run.seconds} s, one endpoint of three hanging ${run.hangSeconds} s`,
  )
  console.log(`  in full: ${told(all)}; while one hangs ${told(whileHanging)}; otherwise ${told(otherwise)}`)
  console.log(
    `  beyond the waits for chains (Server-Timing, at most ${farthestMs} ms of each): ${told(added)}`,
  )
  console.log(
    `  ${chainWaits.count} of ${all.count} requests waited for chains: ${told(chainWaits)}; ${longWaits} longer than ${farthestMs} ms`,
  )
  console.log(`  prices were read ${told(priceReadAge)} ago, heads made ${told(headAge)} ago`)
  console.log(`  ${unusableLooks} looks found a price or a chain unusable`)
  const [busy, service] = [busyShare, serviceShare].map((share) => `${(100 * share).toFixed(0)} %`)
  console.log(
    `  processors ${busy} busy, ${service} by the service; load and proxies late p99 ${ownLagMs.toFixed(1)} ms`,
  )
  console.log(`  sent late: ${told(sentLate)}; inside of the service: ${told(inside)}`)
  for (const { kind, full, added: beyond, refusals } of kinds) {
    const reasons = Object.entries(refusals).map(([code, count]) => `${count} ${code}`)
    const refused = reasons.length === 0 ? '' : `; refused ${reasons.join(', ')}`
    console.log(`    ${kind}: ${full.count}, ${told(full)}; beyond chains ${told(beyond)}${refused}`)
  }
}
