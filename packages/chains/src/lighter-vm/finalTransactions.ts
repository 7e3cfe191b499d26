import type { Evidence } from '@causeway/core'
import { runAsOne } from '../ethereum-vm/finalTransactions.ts'
import type { HttpView } from '../quorum/httpView.ts'
import { OneFlight } from '../quorum/oneFlight.ts'
import type { QuorumClient } from '../quorum/quorumClient.ts'
import type { Sighting } from '../quorum/sighting.ts'
import { WeightedCache } from '../quorum/weightedCache.ts'
import type { LighterTransaction } from './answers.ts'
import { readTransaction } from './api.ts'
import { oneRound } from './oneRound.ts'

/** Without its status: an endpoint may know already that a transaction is proven on layer 1. */
export type FinalTransaction = Omit<LighterTransaction, 'status'>
export type KnownTransaction = { readonly final: FinalTransaction; readonly evidence: Evidence }

export type LighterReaderLimits = {
  /** Final transactions kept. Default 10 000; 0 keeps none. */
  readonly finalEntriesMax: number
}

const defaultLimits: LighterReaderLimits = { finalEntriesMax: 10_000 }
/** A transaction is a few numbers and a memo. */
const transactionWeight = 1_000

/** What the sequencer executed is never replaced. For evidence. @source oracle-protocol.md 5.5 */
export const finalityRule = 'executed by the sequencer'

/**
 * Executed transactions of one chain: read once while remembered, and once for all who ask at the same time.
 * @source design.md 7.5
 */
export function createFinalTransactions(options: {
  readonly quorum: QuorumClient<HttpView>
  readonly limits: Partial<LighterReaderLimits>
}) {
  const { quorum } = options
  const { chainId } = quorum
  const { finalEntriesMax: entriesMax } = { ...defaultLimits, ...options.limits }
  const weightMax = entriesMax * transactionWeight
  const known = new WeightedCache<KnownTransaction>({ entriesMax, weightMax })
  const flights = new OneFlight<KnownTransaction>()

  async function readAgreed(transactionId: string, signal: AbortSignal): Promise<KnownTransaction> {
    const { facts: final, agreeingEndpoints } = await quorum.read({
      ...oneRound(async (view, own) => judge(await readTransaction(view, transactionId, own))),
      transactionId,
      signal,
    })
    const read = { final, evidence: { chainId, finalityRule, agreeingEndpoints } }
    known.set(transactionId, read, transactionWeight)
    return read
  }

  return {
    /** @param transactionId canonical; @throws what `QuorumClient.read` throws */
    async read(transactionId: string, signal: AbortSignal): Promise<KnownTransaction> {
      const remembered = known.get(transactionId)
      if (remembered !== undefined) return remembered
      return runAsOne(flights, { key: transactionId, chainId, signal }, (shared) =>
        readAgreed(transactionId, shared),
      )
    },
    forget: () => known.clear(),
  }
}

function judge(transaction: LighterTransaction | undefined): Sighting<FinalTransaction> {
  if (transaction === undefined) return { kind: 'refused', reason: 'missing' }
  const { status, ...final } = transaction
  switch (status) {
    case 'waiting':
      return { kind: 'not_final', waitSeconds: 1 }
    case 'failed':
      return { kind: 'refused', reason: 'reverted' }
    case 'executed':
      return { kind: 'final', facts: final }
  }
}
