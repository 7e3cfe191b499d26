import type { QuorumClient } from '@causeway/rpc'
import type { OutPoint } from '../rules/transaction.ts'
import type { BitcoinView } from './bitcoinView.ts'

/**
 * Transactions that may have spent the outputs: hints, which every endpoint of the quorum checks against
 * raw bytes. Empty when nobody can say. Never rejects for what a service does.
 */
export type FindSpenders = (outPoints: readonly OutPoint[], signal: AbortSignal) => Promise<readonly string[]>

export const noSpenderLookup: FindSpenders = async () => []

/** Asks every endpoint of `services` for every output; what fails is left out. The ids have a fixed order. */
export function createSpenderLookup(services: Pick<QuorumClient<BitcoinView>, 'askEach'>): FindSpenders {
  return async (outPoints, signal) => {
    const answers = await Promise.all(
      outPoints.map((outPoint) =>
        services.askEach((view, viewSignal) => view.readSpending(outPoint, viewSignal), signal),
      ),
    )
    const spenderIds = answers.flat().flatMap(({ said }) => (said?.kind === 'spent' ? (said.by ?? []) : []))
    return [...new Set(spenderIds)].sort()
  }
}
