// Goal: a deposit address is quoted anew with the sponsor's terms of its first quote, from the names that are stored.
import type { SponsoredComponent } from '@causeway/core'
import { expect, test } from 'vitest'
import { componentsOf, selectingFields, sponsorshipTerms } from './sponsorshipTerms.ts'

const storedSelections: readonly (readonly [readonly SponsoredComponent[], boolean, boolean])[] = [
  [[], false, false],
  [['execution', 'swap', 'relay'], true, false],
  [['execution', 'swap', 'relay', 'rent'], true, true],
]

test.each(storedSelections)(
  'Q-45: of the stored fees %j the same are selected again',
  (stored, fees, rent) => {
    const fields = selectingFields(stored)
    expect(fields).toEqual({ subsidizeFees: fees, subsidizeRent: rent })
    const request = { ...fields, capMicroUsd: undefined, depositFeePayer: undefined, components: undefined }
    const caller = { keyId: 'key', wallet: '0x01' } as const
    const terms = sponsorshipTerms(request, caller, { useDepositAddress: true })
    expect('reason' in terms ? [] : componentsOf(terms)).toEqual(stored)
  },
)
