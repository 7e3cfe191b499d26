import {
  type FeeParts,
  feeParts,
  isSponsored,
  maxBigint,
  minBigint,
  perName,
  type SponsoredComponent,
  sponsorableFees,
  sponsoredComponents,
  sponsorRule,
} from '@causeway/core'
import type { SponsorshipReason, SponsorshipTerms } from './sponsorshipTerms.ts'
import { fromMicroUsdDown, type SponsorUnit } from './sponsorUnit.ts'

/** Sponsorable part of each fee, in smallest units of the fee currency. */
export type SponsorableFees = Readonly<Record<SponsoredComponent, bigint>>

/** Split of a request's fees between user and sponsor. In smallest units of the fee currency. */
export type Allocation = {
  /** The sponsor's part of each fee. */
  readonly sponsored: Readonly<Record<SponsoredComponent, bigint>>
  /** Sum of `sponsored`. */
  readonly total: bigint
  /** The caller's cap left a part of what was asked for with the user. */
  readonly capHit: boolean
  /** Reason that the sponsor pays less than asked; undefined if he pays all of it. */
  readonly reason: SponsorshipReason | undefined
}

const zeroAmounts = perName(sponsoredComponents, () => 0n)

/**
 * Computes the part of each fee that the sponsor pays. A cap is spent in the order of `sponsoredComponents`. A reward
 * (a negative fee) stays with the user and offsets no other fee. Where a fee that must be sponsored is not selected
 * (the rent of a missing token account), the sponsor pays nothing.
 * @source rule Q-31
 */
export function allocateSubsidy(
  terms: Pick<SponsorshipTerms, 'selected' | 'capMicroUsd' | 'allOrNothing'>,
  fees: FeeParts,
  unit: SponsorUnit,
): Allocation {
  const { selected, capMicroUsd, allOrNothing } = terms
  const chosen = { ...zeroAmounts }
  for (const { name, component } of feeParts) {
    if (isSponsored(component) && selected.has(name)) chosen[component] += fees[name]
  }
  const due = sponsorableFees(fees)
  let requestedAmount = 0n
  for (const component of sponsoredComponents) {
    // The user pays what is due of this fee and not selected. A fee with `requiredElse` may not be left to
    // him: the sponsor then pays nothing at all, for this reason.
    const { requiredElse } = sponsorRule(component)
    if (requiredElse !== undefined && due[component] > chosen[component]) return unpaid(requiredElse)
    chosen[component] = maxBigint(chosen[component], 0n)
    requestedAmount += chosen[component]
  }
  if (requestedAmount === 0n) return unpaid('NOTHING_TO_SPONSOR')

  const budget =
    capMicroUsd === undefined
      ? requestedAmount
      : minBigint(fromMicroUsdDown(unit, capMicroUsd), requestedAmount)
  const capHit = budget < requestedAmount
  if (capHit && allOrNothing) return unpaid('CAP_BELOW_FEES', capHit)
  let left = budget
  const sponsored = perName(sponsoredComponents, (component) => {
    const amount = minBigint(chosen[component], left)
    left -= amount
    return amount
  })
  return { sponsored, total: budget, capHit, reason: capHit ? 'CAP_BELOW_FEES' : undefined }
}

/** The allocation where the user pays everything. */
export function unpaid(reason: SponsorshipReason, capHit = false): Allocation {
  return { sponsored: zeroAmounts, total: 0n, capHit, reason }
}

/** `full` when the sponsor pays every fee that can be sponsored, `none` when it pays nothing. */
export function sponsorshipStatus({ total }: Allocation, fees: SponsorableFees): 'full' | 'partial' | 'none' {
  if (total === 0n) return 'none'
  let payable = 0n
  for (const component of sponsoredComponents) payable += maxBigint(fees[component], 0n)
  return total === payable ? 'full' : 'partial'
}
