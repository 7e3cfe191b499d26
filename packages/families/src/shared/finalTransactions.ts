import type { Evidence } from '@causeway/core'
import type { ChainQuestion, EndpointSource, QuorumClient } from '@causeway/rpc'
import { type CachedReading, FinalReadingCache, type ReadingCacheLimits } from '@causeway/rpc'

/** Block in which a fact was found; members are absent in families without such blocks. */
export type ShownIn = Pick<Evidence, 'blockHash' | 'blockNumber'>

/** A final transaction, in the family's own type, with its evidence. */
export type KnownTransaction<Final, Block extends ShownIn = ShownIn> = {
  readonly final: Final
  readonly evidence: Evidence & Block
}

/**
 * The question to endpoints about one transaction, and its cache key. `First` is an endpoint's answer of the first
 * round, `Pin` the height that is chosen for the second, `View` an endpoint as the family asks it.
 */
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
  /** Empties the cache, after a chain that was halted is followed again. */
  forget(): void
}

/**
 * Cache of one chain's final transactions. A transaction in the cache is not read again, and concurrent requests for
 * one share a reading. Transactions that are missing, failed or not final are not cached.
 * @source rules P-94, F-83
 */
export function createFinalTransactions<
  Final,
  View extends EndpointSource,
  Block extends ShownIn = ShownIn,
>(options: {
  readonly quorum: QuorumClient<View>
  readonly limits: ReadingCacheLimits
  /** Description of the rule by which a transaction counts as final, for evidence. */
  readonly finalityRule: string
  /** Block of a transaction, for evidence; empty where the family has no blocks that could be replaced. */
  readonly shownIn: (final: Final) => Block
  /** Size in the cache, in characters of its texts. */
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
      cache.read(remembered, signal, async (sharedSignal) => {
        const { facts: final, agreeingEndpoints } = await quorum.read({ ...question, signal: sharedSignal })
        return { final, evidence: { chainId, ...shownIn(final), finalityRule, agreeingEndpoints } }
      }),
    forget: () => cache.forget(),
  }
}
