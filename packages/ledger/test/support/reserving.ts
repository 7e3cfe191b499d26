import type { HoldOutcome, HoldRequest } from '@causeway/core'
import type { Database } from '@causeway/database'
import { createLedger, type HoldCaps } from '../../src/index.ts'
import { holdNamed, noCaps } from './ledgerBed.ts'

/** Caps per scenario of the test. */
const capsOf: Readonly<Record<string, Partial<HoldCaps>>> = {
  capped: { holdsPerUser: 3 },
  keyed: { holdsPerKey: 100 },
}

export type Reservations = { readonly scenario: string; readonly lane: number; readonly count: number }

/** Sponsors who take turns. */
export const turns = 10
export const turnOf = (index: number) => `turn-${index % turns}`

function requestAt({ scenario, lane }: Reservations, index: number) {
  // The storm is one id from everybody, a few of them with another body.
  if (scenario === 'storm')
    return holdNamed('storm', { amountMicroUsd: index % 4 === 0 ? 2n : 1n, user: 'u' })
  const user = `user ${index % 50}`
  if (scenario === 'turns') {
    const sponsor = turnOf(index + lane)
    return holdNamed(`${scenario} ${lane} ${index}`, { sponsor, apiKeyId: sponsor, amountMicroUsd: 1n })
  }
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
  const waiting = (batch: readonly HoldRequest[]) =>
    database.transaction((tx) => ledger.reserveBatch(tx, batch))
  /** As the service does: those whose sponsor somebody has are asked again, each alone. */
  const reserveAll = async (batch: readonly HoldRequest[]): Promise<readonly HoldOutcome[]> => {
    if (share.scenario !== 'turns') return waiting(batch)
    const free = await database.transaction((tx) => ledger.reserveFree(tx, batch), { opensWithRead: true })
    return Promise.all(
      free.map(async (outcome, index) => {
        if (outcome.status !== 'busy') return outcome
        const [alone] = await waiting(batch.slice(index, index + 1))
        if (alone === undefined) throw new Error('a request was not decided')
        return alone
      }),
    )
  }
  const send = async (): Promise<void> => {
    for (;;) {
      const batch = requests.splice(0, 1 + Math.floor(Math.random() * 16))
      if (batch.length === 0) return
      const outcomes = await reserveAll(batch)
      for (const outcome of outcomes) {
        const name = outcome.status === 'policy_refused' ? outcome.rule : outcome.status
        tally.set(name, (tally.get(name) ?? 0) + 1)
      }
    }
  }
  await Promise.all([send(), send(), send(), send()])
  return Object.fromEntries(tally)
}
