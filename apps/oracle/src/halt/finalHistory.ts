import type { FinalBlock, FinalBlocks } from '@causeway/core'

/** A block that was final and is another one now, or is gone. */
export type Contradiction = {
  readonly blockNumber: bigint
  readonly knownHash: string
  /** `undefined`: the chain does not reach that block any more. */
  readonly foundHash: string | undefined
}

/** `behind`: the chain ends below a block that was final, as endpoints that lag show it too. */
export type Verdict =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'behind' | 'changed'; readonly contradiction: Contradiction }

/** Blocks that are compared with later readings of the same height. */
const knownBlocksMax = 1_024

/**
 * The final blocks of one chain that were seen in this run. The newest of them, the anchor, stands for
 * all below it: a chain that still has it has not been rewritten.
 * @source ledger-and-safety.md 4.4
 */
export class FinalHistory {
  readonly #known = new Map<bigint, string>()
  #anchor: FinalBlock | undefined

  /** A block that was just read as final, with what contradicts it among those seen before. */
  note(block: FinalBlock): Verdict {
    const knownHash = this.#known.get(block.number)
    if (knownHash !== undefined && knownHash !== block.hash) {
      return changed({ number: block.number, hash: knownHash }, block.hash)
    }
    this.#known.set(block.number, block.hash)
    const [oldest] = this.#known.keys()
    if (this.#known.size > knownBlocksMax && oldest !== undefined) this.#known.delete(oldest)
    if (this.#anchor === undefined || block.number > this.#anchor.number) this.#anchor = block
    return { kind: 'unchanged' }
  }

  /** Reads the anchor's height again, then the newest final block. Rejects as a reading of facts does. */
  async compare(blocks: FinalBlocks, options: { readonly signal: AbortSignal }): Promise<Verdict> {
    const anchor = this.#anchor
    const foundHash = anchor === undefined ? undefined : await blocks.readHash(anchor.number, options)
    if (anchor !== undefined && foundHash !== anchor.hash) return changed(anchor, foundHash)
    return this.note(await blocks.readNewest(options))
  }
}

function changed(
  { number: blockNumber, hash: knownHash }: FinalBlock,
  foundHash: string | undefined,
): Verdict {
  const kind = foundHash === undefined ? 'behind' : 'changed'
  return { kind, contradiction: { blockNumber, knownHash, foundHash } }
}
