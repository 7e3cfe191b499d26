// Baseline of each row, kept after a review: `npm run bench -- <rows> --keep` writes the rows that it ran.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import type { BenchRow } from './row.ts'

const file = new URL('./baseline.json', import.meta.url)

const baselineSchema = z.record(
  z.string(),
  z.object({ ratio: z.number(), machine: z.string(), node: z.string(), commit: z.string() }),
)

type Baseline = z.infer<typeof baselineSchema>

/** A row that moved by less did not: these machines are shared. */
const movedPercent = 10

export function readBaseline(): Baseline {
  return existsSync(file) ? baselineSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) : {}
}

/** One line for a row that moved against what was kept; nothing for one that stayed, or is new. */
export function movedLine(
  baseline: Baseline,
  row: Pick<BenchRow, 'id' | 'ratio' | 'atLeast'>,
): string | undefined {
  const before = baseline[row.id]
  if (before === undefined || before.ratio === 0) return undefined
  const percent = (row.ratio / before.ratio - 1) * 100
  if (Math.abs(percent) <= movedPercent) return undefined
  const verdict = percent > 0 === row.atLeast ? 'better' : 'WORSE'
  const by = `${percent > 0 ? '+' : ''}${percent.toFixed(0)} %`
  return `${verdict} than the baseline by ${by}: ${before.ratio.toFixed(3)} at ${before.commit}, ${before.machine}, Node ${before.node}`
}

/** Keeps these rows, and what was kept of all others. */
export function keepBaseline(
  rows: readonly Pick<BenchRow, 'id' | 'ratio'>[],
  { machine, node, commit }: { readonly machine: string; readonly node: string; readonly commit: string },
): void {
  const kept = { ...readBaseline() }
  for (const { id, ratio } of rows) kept[id] = { ratio: Number(ratio.toPrecision(4)), machine, node, commit }
  const sorted = Object.fromEntries(Object.entries(kept).sort(([one], [other]) => one.localeCompare(other)))
  writeFileSync(file, `${JSON.stringify(sorted, null, 2)}\n`)
}
