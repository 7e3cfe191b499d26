/** State of one chain that the keeper remembers between two looks at it. */
export type ChainProgress = {
  readonly headBlock: bigint
  /** Highest block known to hold a transaction. */
  readonly lastTransactionBlock: bigint | undefined
  /** Head in the chain file; -1 while nothing is saved. */
  readonly savedBlock: bigint
  readonly savedAtMs: number
}

/** Values that the keeper reads at one look. */
export type ChainLook = {
  readonly headBlock: bigint
  /** Highest block with a transaction among those mined since the last look. */
  readonly newTransactionBlock: bigint | undefined
  readonly nowMs: number
}

/** Work that the keeper has to do after one look. */
export type ChainChores = {
  /** Mine one block, so that transactions become final although nobody else mines. */
  readonly mine: boolean
  /** Save the chain to its file. */
  readonly save: boolean
  readonly progress: ChainProgress
}

/** Blocks on top of a transaction's that make it final: the local nodes finalize two below the head. */
export const finalityBlocks = 2n
/** An idle chain only grows empty blocks; losing some of them in a crash costs nobody anything. */
const idleSaveMs = 15_000

/**
 * Decides what the keeper does after one look at a chain. The caller mines first, then saves, and hands `progress`, after
 * a save through `afterSaving`, to the next look.
 */
export function chainChores(before: ChainProgress, look: ChainLook): ChainChores {
  const { headBlock, nowMs } = look
  // A head that fell belongs to another history, in which anything may have happened.
  const wasRewound = headBlock < before.headBlock
  const lastTransactionBlock = wasRewound
    ? headBlock
    : (look.newTransactionBlock ?? before.lastTransactionBlock)
  const isFinal = lastTransactionBlock === undefined || headBlock >= lastTransactionBlock + finalityBlocks
  const hasUnsavedTransaction =
    wasRewound || (lastTransactionBlock !== undefined && lastTransactionBlock > before.savedBlock)
  const hasOldUnsavedBlock = headBlock > before.savedBlock && nowMs - before.savedAtMs >= idleSaveMs
  return {
    mine: !isFinal,
    save: hasUnsavedTransaction || hasOldUnsavedBlock,
    progress: {
      headBlock,
      lastTransactionBlock,
      savedBlock: wasRewound ? -1n : before.savedBlock,
      savedAtMs: before.savedAtMs,
    },
  }
}

/** Progress after the chain was saved at a look. */
export function afterSaving(progress: ChainProgress, nowMs: number): ChainProgress {
  return { ...progress, savedBlock: progress.headBlock, savedAtMs: nowMs }
}
