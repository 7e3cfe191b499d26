import type { Database } from '@causeway/database'
import { createLedger, type HoldCaps } from '../../src/index.ts'
import { holdNamed, noCaps } from './ledgerBed.ts'

/** What differs per scenario of the test. */
const capsOf: Readonly<Record<string, Partial<HoldCaps>>> = {
  capped: { holdsPerUser: 3 },
  keyed: { holdsPerKey: 100 },
}

export type Reservations = { readonly scenario: string; readonly lane: number; readonly count: number }

function requestAt({ scenario, lane }: Reservations, index: number) {
  // The storm is one id from everybody, a few of them with another body.
  if (scenario === 'storm')
    return holdNamed('storm', { amountMicroUsd: index % 4 === 0 ? 2n : 1n, user: 'u' })
  const user = `user ${index % 50}`
  return holdNamed(`${scenario} ${lane} ${index}`, {
    sponsor: scenario,
    apiKeyId: scenario,
    user,
    amountMicroUsd: 1n,
    // A slow machine must not make room by expiry, nor leave due holds to the tests after it.
    lifetimeSeconds: 86_400,
  })
}

/**
 * Sends one lane's share of reservations in batches of random size, several at a time.
 * @returns how many had each outcome
 */
export async function reserveShare(
  database: Database,
  share: Reservations,
): Promise<Readonly<Record<string, number>>> {
  const ledger = createLedger({ caps: { ...noCaps, ...capsOf[share.scenario] } })
  const tally = new Map<string, number>()
  const requests = Array.from({ length: share.count }, (_, index) => requestAt(share, index))
  const send = async (): Promise<void> => {
    for (;;) {
      const batch = requests.splice(0, 1 + Math.floor(Math.random() * 16))
      if (batch.length === 0) return
      const outcomes = await database.transaction((tx) => ledger.reserveBatch(tx, batch))
      for (const outcome of outcomes) {
        const name = outcome.status === 'policy_refused' ? outcome.rule : outcome.status
        tally.set(name, (tally.get(name) ?? 0) + 1)
      }
    }
  }
  await Promise.all([send(), send(), send(), send()])
  return Object.fromEntries(tally)
}
