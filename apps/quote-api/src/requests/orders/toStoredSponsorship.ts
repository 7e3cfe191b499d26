import type { SponsorshipOutcome } from '../../pricing/sponsorship/sponsorshipOutcome.ts'
import type { StoredSponsorship } from './sponsoredOrderStore.ts'

/** What was decided about a sponsor, as it is kept beside the order. */
export function toStoredSponsorship(outcome: SponsorshipOutcome): StoredSponsorship {
  const { sponsor, selected, capMicroUsd, fees, allocation, debitMicroUsd } = outcome
  return {
    sponsor,
    debitMicroUsd,
    quoted: JSON.stringify({
      selected,
      capMicroUsd: capMicroUsd?.toString(),
      capHit: allocation.capHit,
      reason: allocation.reason,
      fees: texts(fees),
      sponsored: texts(allocation.sponsored),
    }),
  }
}

function texts({ execution, swap, relay, rent }: SponsorshipOutcome['fees']) {
  return {
    execution: execution.toString(),
    swap: swap.toString(),
    relay: relay.toString(),
    rent: rent.toString(),
  }
}
