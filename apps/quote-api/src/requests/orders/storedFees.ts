import {
  type FeeComponent,
  type FeeParts,
  feeComponents,
  feeParts,
  feeRule,
  feesByComponent,
  feeTotals,
  noFees,
  perName,
  sponsoredComponents,
  storedComponents,
} from '@causeway/core'
import { z } from 'zod'

/** A `bigint` of either sign, stored as text, because JSON numbers lose digits. */
export const storedInteger = z
  .string()
  .regex(/^-?[0-9]+$/)
  .transform(BigInt)

/** Schema of a fee's amount; zero where a row lacks it, because it is older than the fee or the fee was zero. */
const storedFeeSchema = (component: FeeComponent) =>
  feeRule(component).stored === 'always' ? storedInteger : storedInteger.default(0n)

/**
 * Members of column `orders.quoted` that hold fees: two totals, and the fees that are stored under their names. One fee is
 * stored only as the rest of the totals, and app fees by recipient elsewhere in the column.
 */
export const feesRowFields = {
  relayerGas: storedInteger,
  relayerService: storedInteger,
  ...perName(storedComponents, storedFeeSchema),
}

type FeesRow = z.output<z.ZodObject<typeof feesRowFields>>

/** Makes these members from a quote's fees. */
export function feesToRow(fees: FeeParts): Readonly<Record<string, string>> {
  const { relayerGas, relayerService } = feeTotals(fees)
  const amounts = feesByComponent(fees)
  const row: Record<string, string> = {
    relayerGas: relayerGas.toString(),
    relayerService: relayerService.toString(),
  }
  for (const component of storedComponents) {
    const amount = amounts[component]
    if (amount !== 0n || feeRule(component).stored === 'always') row[component] = amount.toString()
  }
  return row
}

const partsOf = (component: FeeComponent) => feeParts.filter((part) => part.component === component)
/** First part of each fee that is stored as app fees, or only as the rest of the totals. */
const firstPartsStoredAs = (storage: 'appFees' | 'rest') =>
  feeComponents
    .filter((component) => feeRule(component).stored === storage)
    .flatMap((component) => partsOf(component).slice(0, 1))

/** Fees stored under their names; `isInOneTotal` is true if all parts of the fee are in one total. */
const namedFees = storedComponents.map((component) => {
  const parts = partsOf(component)
  return { component, parts, isInOneTotal: parts.every(({ total }) => total === parts[0]?.total) }
})
const feesInOneTotal = namedFees.filter(({ isInOneTotal }) => isInOneTotal)
const feesInTwoTotals = namedFees.filter(({ isInOneTotal }) => !isInOneTotal)
const appParts = firstPartsStoredAs('appFees')
const restParts = firstPartsStoredAs('rest')

/**
 * Reads a quote's fees back. A fee, such as `execution`, is the sum of its parts, such as `gas` and `flat`;
 * each part is in one total. A row has no parts of fees, so the parts of a fee within one total come back as
 * one, the first of them. The steps have this order because each takes its parts off the totals: app fees;
 * fees within one total (`swap`, `rent`); fees with parts in two totals (`execution`), divided by what is
 * left of these; at last the fee that is not stored (`relay`), which is the rest.
 * @param app sum of the app fees of all recipients
 */
export function feesFromRow(row: FeesRow, app: bigint): FeeParts {
  const remaining = { relayerGas: row.relayerGas, relayerService: row.relayerService, app }
  const fees = { ...noFees }
  const setPart = ({ name, total }: (typeof feeParts)[number], amount: bigint) => {
    fees[name] = amount
    remaining[total] -= amount
  }
  for (const part of appParts) setPart(part, app)
  for (const { component, parts } of feesInOneTotal)
    for (const part of parts.slice(0, 1)) setPart(part, row[component])
  for (const { component, parts } of feesInTwoTotals) {
    // All other fees were taken off, so the first part is what remains of its total; the last is the rest.
    let undividedAmount = row[component]
    for (const part of parts.slice(0, -1)) {
      undividedAmount -= remaining[part.total]
      setPart(part, remaining[part.total])
    }
    for (const part of parts.slice(-1)) setPart(part, undividedAmount)
  }
  for (const part of restParts) setPart(part, remaining[part.total])
  return fees
}

/** Shape of an amount for each fee that can be sponsored, as in column `request_sponsorship.quoted`. */
export const storedSharesSchema = z.object(perName(sponsoredComponents, storedFeeSchema))

export function sharesToRow(shares: z.output<typeof storedSharesSchema>): Record<string, string> {
  return perName(sponsoredComponents, (component) => shares[component].toString())
}
