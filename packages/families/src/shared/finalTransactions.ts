import type { Evidence } from '@causeway/core'
import type { ChainQuestion, EndpointSource, QuorumClient } from '@causeway/rpc'
import { type CachedReading, FinalReadingCache, type ReadingCacheLimits } from '@causeway/rpc'

/** The block that shows a fact, as far as the family has blocks. */
export type ShownIn = Pick<Evidence, 'blockHash' | 'blockNumber'>

/** A transaction that its chain cannot drop any more, in the family's own terms, and what proves it. */
export type KnownTransaction<Final, Block extends ShownIn = ShownIn> = {
  readonly final: Final
  readonly evidence: Evidence & Block
}

/** Reading of one transaction, and its cache key. */
export type TransactionReading<
  First,
  Pin,
  Final,
  Block extends ShownIn,
  View extends EndpointSource,
> = CachedReading<KnownTransaction<Final, Block>> & {
  readonly question: Omit<ChainQuestion<First, Pin, Final, View>, 'signal'>
}

export type FinalTransactions<Final, View extends EndpointSource, Block extends ShownIn = ShownIn> = {
  /** @throws what `QuorumClient.read` throws */
  read<First, Pin>(
    reading: TransactionReading<First, Pin, Final, Block, View>,
    signal: AbortSignal,
  ): Promise<KnownTransaction<Final, Block>>
  /** Drops what is remembered: for a chain that was halted and is followed again. */
  forget(): void
}

/**
 * Final transactions of one chain. One that was read is never read again while it is remembered, and one that
 * many ask for at once is read once. Nothing that is missing, failed or not final is remembered.
 * @source design.md 7.5
 */
export function createFinalTransactions<
  Final,
  View extends EndpointSource,
  Block extends ShownIn = ShownIn,
>(options: {
  readonly quorum: QuorumClient<View>
  readonly limits: ReadingCacheLimits
  /** Why a transaction counts as final, for evidence. */
  readonly finalityRule: string
  readonly shownIn: (final: Final) => Block
  /** Characters: what a string costs most of. */
  readonly weightOf: (final: Final) => number
}): FinalTransactions<Final, View, Block> {
  const { quorum, limits, finalityRule, shownIn, weightOf } = options
  const { chainId } = quorum
  const cache = new FinalReadingCache<KnownTransaction<Final, Block>>({
    chainId,
    limits,
    weightOf: ({ final }) => weightOf(final),
  })
  return {
    read: ({ question, ...remembered }, signal) =>
      cache.read(remembered, signal, async (shared) => {
        const { facts: final, agreeingEndpoints } = await quorum.read({ ...question, signal: shared })
        return { final, evidence: { chainId, ...shownIn(final), finalityRule, agreeingEndpoints } }
      }),
    forget: () => cache.forget(),
  }
}
