import type { Evidence } from '@causeway/core'
import type { HttpView } from '../rpc/httpView.ts'
import { oneRound } from '../rpc/oneRound.ts'
import type { QuorumClient } from '../rpc/quorumClient.ts'
import { defaultKeptLimits, type KeptLimits, RememberedReadings } from '../rpc/rememberedReadings.ts'
import type { Sighting } from '../rpc/sighting.ts'
import type { LighterTransaction } from './answers.ts'
import { readTransaction } from './api.ts'

/** Without its status: an endpoint may know already that a transaction is proven on layer 1. */
export type FinalTransaction = Omit<LighterTransaction, 'status'>
export type KnownTransaction = { readonly final: FinalTransaction; readonly evidence: Evidence }

export type LighterReaderLimits = Pick<KeptLimits, 'finalEntriesMax'>

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
  const { finalEntriesMax } = { ...defaultKeptLimits, ...options.limits }
  const known = new RememberedReadings<KnownTransaction>({
    chainId,
    limits: { finalEntriesMax, finalWeightMax: finalEntriesMax * transactionWeight },
    weightOf: () => transactionWeight,
  })

  async function readAgreed(transactionId: string, signal: AbortSignal): Promise<KnownTransaction> {
    const { facts: final, agreeingEndpoints } = await quorum.read({
      ...oneRound(async (view, own) => judge(await readTransaction(view, transactionId, own))),
      transactionId,
      signal,
    })
    return { final, evidence: { chainId, finalityRule, agreeingEndpoints } }
  }

  return {
    /** @param transactionId canonical; @throws what `QuorumClient.read` throws */
    read(transactionId: string, signal: AbortSignal): Promise<KnownTransaction> {
      return known.read({ key: transactionId }, signal, (shared) => readAgreed(transactionId, shared))
    },
    forget: () => known.forget(),
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
