import type { SponsorshipOutcome } from '../../pricing/sponsorship/sponsorshipOutcome.ts'
import type { StoredSponsorship } from './sponsoredOrderStore.ts'
import { sharesToRow } from './storedFees.ts'

/** What was decided about a sponsor, as it is kept beside the order. */
export function toStoredSponsorship(outcome: SponsorshipOutcome): StoredSponsorship {
  const { sponsor, selected, capMicroUsd, sponsorable, allocation, debitMicroUsd } = outcome
  return {
    sponsor,
    debitMicroUsd,
    quoted: JSON.stringify({
      selected,
      capMicroUsd: capMicroUsd?.toString(),
      capHit: allocation.capHit,
      reason: allocation.reason,
      fees: sharesToRow(sponsorable),
      sponsored: sharesToRow(allocation.sponsored),
    }),
  }
}
