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

/** A `bigint` of either sign, kept as text: JSON numbers cannot hold money. */
export const storedInteger = z
  .string()
  .regex(/^-?[0-9]+$/)
  .transform(BigInt)

/** Rows that are older than a fee lack it. */
const sinceFee = (component: FeeComponent) =>
  feeRule(component).stored === 'always' ? storedInteger : storedInteger.default(0n)

/** Members of column `orders.quoted`. Written by `feesToRow`, read by `feesFromRow`. */
export const feesRowFields = {
  relayerGas: storedInteger,
  relayerService: storedInteger,
  ...perName(storedComponents, sinceFee),
}

type FeesRow = z.output<z.ZodObject<typeof feesRowFields>>

/** Amounts as text. App fees are kept beside it, by recipient. */
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
const firstPartsStored = (as: 'appFees' | 'rest') =>
  feeComponents
    .filter((component) => feeRule(component).stored === as)
    .flatMap((component) => partsOf(component).slice(0, 1))

const stored = storedComponents.map((component) => {
  const parts = partsOf(component)
  return { component, parts, isOfOneTotal: parts.every(({ total }) => total === parts[0]?.total) }
})
const undivided = stored.filter(({ isOfOneTotal }) => isOfOneTotal)
const divided = stored.filter(({ isOfOneTotal }) => !isOfOneTotal)
const apps = firstPartsStored('appFees')
const rests = firstPartsStored('rest')

/**
 * The fees of a row, which holds totals and whole fees. What a fee has in one total stands as one part; one
 * that has parts in two is divided by what the others leave of the totals.
 * @param app the sum over all recipients
 */
export function feesFromRow(row: FeesRow, app: bigint): FeeParts {
  const left = { relayerGas: row.relayerGas, relayerService: row.relayerService, app }
  const fees = { ...noFees }
  const setPart = ({ name, total }: (typeof feeParts)[number], amount: bigint) => {
    fees[name] = amount
    left[total] -= amount
  }
  for (const part of apps) setPart(part, app)
  for (const { component, parts } of undivided)
    for (const part of parts.slice(0, 1)) setPart(part, row[component])
  for (const { component, parts } of divided) {
    let amount = row[component]
    for (const part of parts.slice(0, -1)) {
      amount -= left[part.total]
      setPart(part, left[part.total])
    }
    for (const part of parts.slice(-1)) setPart(part, amount)
  }
  for (const part of rests) setPart(part, left[part.total])
  return fees
}

/** One amount for each fee that can be sponsored, in column `request_sponsorship.quoted`. */
export const storedSharesSchema = z.object(perName(sponsoredComponents, sinceFee))

export function sharesToRow(shares: z.output<typeof storedSharesSchema>): Record<string, string> {
  return perName(sponsoredComponents, (component) => shares[component].toString())
}
