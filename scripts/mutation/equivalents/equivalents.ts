import type { Equivalent } from '../score.ts'
import { familiesEquivalents } from './families.ts'
import { oracleEquivalents } from './oracle.ts'
import { othersEquivalents } from './others.ts'
import { pricingEquivalents } from './pricing.ts'

const entries = Object.entries({
  ...oracleEquivalents,
  ...familiesEquivalents,
  ...pricingEquivalents,
  ...othersEquivalents,
})

/** Survivors that change nothing. One that no longer stands in its file, or that a test notices, fails the run. */
export const equivalents: readonly Equivalent[] = entries.flatMap(([file, ofFile]) =>
  ofFile.map(([original, replacement, why, line]) => ({
    file,
    original,
    replacement,
    why,
    ...(line !== undefined && { line }),
  })),
)
