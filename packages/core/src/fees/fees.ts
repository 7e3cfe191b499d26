import {
  type FeePart,
  type FeeTotal,
  type FeeTotalName,
  feeComponents,
  feeParts,
  feeRule,
  feeTotalNames,
  impactMembers,
  isSponsored,
  requestV2Members,
  requestV3Members,
  sponsoredComponents,
} from './feeRules.ts'

/**
 * The fees of one request by part, in smallest units of the fee currency. Totals, answers, rows and debits are sums
 * of these.
 */
export type FeeParts = Readonly<Record<FeePart, bigint>>

/** A record with one value per name. */
export function perName<Name extends string, Value>(
  names: readonly Name[],
  valueFor: (name: Name) => Value,
): Record<Name, Value> {
  // CAST: the entries are one per name.
  return Object.fromEntries(names.map((name) => [name, valueFor(name)])) as Record<Name, Value>
}

const partNames = feeParts.map(({ name }) => name)

export const noFees: FeeParts = perName(partNames, () => 0n)

const totalsOf = {
  relayerGas: ['relayerGas', 'relayer'],
  relayerService: ['relayerService', 'relayer'],
  app: ['app'],
} as const satisfies Record<FeeTotal, readonly FeeTotalName[]>

/** `fees` of an answer; `relayer` and `app` together are all fees. */
export const feeTotals = sumsBy<FeeTotalName>(feeTotalNames, ({ total }) => totalsOf[total])

/** Sum of all fees, paid by the user or a sponsor. */
export function sumOfFees(fees: FeeParts): bigint {
  let sum = 0n
  for (const name of partNames) sum += fees[name]
  return sum
}

/** All fees by component, paid by the user or a sponsor. */
export const feesByComponent = sumsBy(feeComponents, ({ component }) => [component])

/** Part of each fee that a sponsor may be asked to pay; a reward is negative. */
export const sponsorableFees = sumsBy(sponsoredComponents, ({ component, isUsersOwn }) =>
  isSponsored(component) && isUsersOwn !== true ? [component] : [],
)

/** `expandedPriceImpact` of an answer; positive is a cost. */
export const feesByImpact = sumsBy(impactMembers, ({ component }) => [feeRule(component).impact])

export const feesInRequestsV2 = sumsBy(requestV2Members, ({ requestV2 }) =>
  requestV2 === 'unlisted' ? [] : [requestV2],
)

export const feesInRequestsV3 = sumsBy(requestV3Members, ({ component }) => [feeRule(component).requestV3])

/** Makes a function that sums the parts under each name; which parts those are is computed once. */
function sumsBy<Name extends string>(
  names: readonly Name[],
  namesOf: (part: (typeof feeParts)[number]) => readonly Name[],
): (fees: FeeParts) => Record<Name, bigint> {
  const summed = names.map((name) => ({
    name,
    parts: feeParts.filter((part) => namesOf(part).includes(name)).map((part) => part.name),
  }))
  const zeros = perName(names, () => 0n)
  return (fees) => {
    const sums = { ...zeros }
    for (const { name, parts } of summed) {
      let sum = 0n
      for (const part of parts) sum += fees[part]
      sums[name] = sum
    }
    return sums
  }
}
