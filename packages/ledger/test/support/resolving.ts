import type { Database } from '@causeway/database'
import { createLedger } from '../../src/index.ts'
import { noCaps, requestIdOf } from './ledgerBed.ts'

/**
 * Fires post, void and expiry at every hold of a list in a random order, against other processes.
 * @returns how many of its own calls resolved a hold
 */
export async function raceForEnds(
  database: Database,
  count: number,
): Promise<Readonly<Record<string, number>>> {
  const ledger = createLedger({ caps: noCaps })
  const holds = Array.from({ length: count }, (_, index) => index)
    .map((index) => ({ index, order: Math.random() }))
    .toSorted((a, b) => a.order - b.order)
  let [posted, voided, expired] = [0, 0, 0]
  const race = async (): Promise<void> => {
    for (let hold = holds.pop(); hold !== undefined; hold = holds.pop()) {
      const requestId = requestIdOf(`raced ${hold.index}`)
      const kind = Math.floor(Math.random() * 3)
      if (kind === 2) {
        const ended = await database.transaction((tx) => ledger.expireDue(tx, { limit: 2 }))
        expired += ended
      } else if (kind === 1) {
        const { status } = await ledger.void(database, { requestId, reason: 'race' })
        if (status === 'resolved') voided += 1
      } else {
        const { status } = await ledger.post(database, { requestId, amountMicroUsd: 1n, evidence: {} })
        if (status === 'resolved') posted += 1
      }
    }
  }

  await Promise.all([race(), race(), race(), race()])
  return { posted, voided, expired }
}
