import type { VmType } from '@causeway/core/encodings'
import { z } from 'zod'
import type { QuotingFamily } from '../rules/quotingFamily.ts'
import { families, type RegisteredFamily } from './families.ts'

export type QuotingFamilies = Readonly<Partial<Record<VmType, QuotingFamily>>>

/** Families that can be quoted; chains of all others are refused. */
export const quotingFamilies: QuotingFamilies = Object.fromEntries(
  Object.entries(families).flatMap(([vmType, { quoting }]) => (quoting ? [[vmType, quoting]] : [])),
)

/** Step data of a registered family. */
type Encoded<Registered> = Registered extends {
  readonly quoting: { readonly stepData: z.ZodType<infer Data> }
}
  ? Data
  : never

/** Form of `items[].data` of transaction steps: the union of what these families encode. */
export const stepDataSchema = z.union(
  // CAST: the forms of these families themselves.
  Object.values(quotingFamilies).map(({ stepData }) => stepData as z.ZodType<Encoded<RegisteredFamily>>),
)
