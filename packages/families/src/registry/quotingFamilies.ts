import type { VmType } from '@causeway/core/encodings'
import { z } from 'zod'
import type { QuotingFamily } from '../rules/quotingFamily.ts'
import { families, type RegisteredFamily } from './families.ts'

export type QuotingFamilies = Readonly<Partial<Record<VmType, QuotingFamily>>>

/** Families that can be quoted; chains of all others are refused. */
export const quotingFamilies: QuotingFamilies = Object.fromEntries(
  Object.entries(families).flatMap(([vmType, { quoting }]) => (quoting ? [[vmType, quoting]] : [])),
)

/** Type of a family's step data; `never` for one that is not quoted. */
type Encoded<Registered> = Registered extends {
  readonly quoting: { readonly stepData: z.ZodType<infer Data> }
}
  ? Data
  : never

/** Schema of `items[].data` in transaction steps: the union of all families' forms. */
export const stepDataSchema = z.union(
  // CAST: `stepData` of a registered family parses to that family's own data.
  Object.values(quotingFamilies).map(({ stepData }) => stepData as z.ZodType<Encoded<RegisteredFamily>>),
)
