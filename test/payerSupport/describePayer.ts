import { describe } from 'vitest'
import { describeEndpoints } from './describeEndpoints.ts'
import { describeEnds } from './describeEnds.ts'
import { describeKills } from './describeKills.ts'
import { describePayments } from './describePayments.ts'
import { describeSending } from './describeSending.ts'
import { type OpenCase, openCase, type PayerFixture, type WithoutForm } from './payerCase.ts'

/** What a fill wallet promises, whatever the family. */
export function describePayer(
  family: string,
  start: () => Promise<PayerFixture>,
  withoutForm: WithoutForm,
): void {
  let started: Promise<PayerFixture> | undefined
  const fixtureOf = () => {
    started ??= start()
    return started
  }
  const open: OpenCase = async (seconds) => openCase(await fixtureOf(), seconds)
  describe(family, () => {
    describeKills(fixtureOf)
    describeSending(open)
    describeEnds(open, withoutForm)
    describePayments(open, withoutForm)
    describeEndpoints(open, withoutForm)
  })
}
