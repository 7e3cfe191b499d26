import { percentile } from '../steadyLoad.ts'
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
}

export type Spread = { readonly count: number; readonly p50Ms: number; readonly p99Ms: number }

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  return { count: sorted.length, p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) }
}

/** What the service adds: all of the time but that in which it waited for a chain. */
export const addedMs = ({ tookMs, chainMs }: TimedAnswer): number => Math.max(0, tookMs - chainMs)

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
    whileHanging: took(answers.filter(({ isHanging }) => isHanging)),
    otherwise: took(answers.filter(({ isHanging }) => !isHanging)),
    chainWaits: spreadOf(waits),
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
  const { kinds, all, added, whileHanging, otherwise, chainWaits, ...seen } = summaryOf(run)
  const { priceReadAge, headAge, unusableLooks, ownLagMs } = seen
  console.log(
    `\n${run.rate} requests/s for ${run.seconds} s, one endpoint of three hanging ${run.hangSeconds} s`,
  )
  console.log(`  in full: ${told(all)}; while one hangs ${told(whileHanging)}; otherwise ${told(otherwise)}`)
  console.log(`  beyond the waits for chains: ${told(added)}`)
  console.log(`  ${chainWaits.count} of ${all.count} requests waited for chains: ${told(chainWaits)}`)
  console.log(`  prices were read ${told(priceReadAge)} ago, heads made ${told(headAge)} ago`)
  console.log(
    `  ${unusableLooks} looks found a price or a chain unusable; the load itself was late p99 ${ownLagMs.toFixed(1)} ms`,
  )
  for (const { kind, full, added: beyond, refusals } of kinds) {
    const reasons = Object.entries(refusals).map(([code, count]) => `${count} ${code}`)
    const refused = reasons.length === 0 ? '' : `; refused ${reasons.join(', ')}`
    console.log(`    ${kind}: ${full.count}, ${told(full)}; beyond chains ${told(beyond)}${refused}`)
  }
}
