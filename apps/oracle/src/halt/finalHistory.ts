import type { FinalBlock, FinalBlocks } from '@causeway/core'
import { type FinalVerdict, judgeFinal } from '@causeway/families'

/** Blocks that are compared with later readings of the same height. */
const knownBlocksMax = 1_024
/** Blocks above the anchor that one look reads again. */
const unlinkedMax = 16

const unchanged: FinalVerdict = { kind: 'unchanged' }

/**
 * The final blocks of one chain that were seen in this run. The newest of them to which all others are
 * linked, the anchor, stands for all below it: a chain that still has it has not been rewritten. A block
 * above it is linked before it becomes the anchor: block by block where parents are read and few have come, else by
 * reading it and then the anchor again. What replaced a block between two readings must not hide behind a newer one.
 * @source rule P-95
 */
export class FinalHistory {
  readonly #known = new Map<bigint, string>()
  #anchor: FinalBlock | undefined
  #newest = -1n

  /** Height of the newest block that was seen; `undefined` before the first. */
  get newest(): bigint | undefined {
    return this.#newest < 0n ? undefined : this.#newest
  }

  /** Height of the anchor; −1 before the first block. */
  get linkedTo(): bigint {
    return this.#anchor?.number ?? -1n
  }

  /** A block that was just read as final, with what contradicts it among those seen before. */
  note(block: FinalBlock): FinalVerdict {
    const hash = this.#known.get(block.number)
    const verdict = hash === undefined ? unchanged : judgeFinal({ number: block.number, hash }, block.hash)
    if (verdict.kind !== 'unchanged') return verdict
    this.#known.set(block.number, block.hash)
    if (block.number > this.#newest) this.#newest = block.number
    const [oldest] = this.#known.keys()
    if (this.#known.size > knownBlocksMax && oldest !== undefined) this.#known.delete(oldest)
    this.#anchor ??= block
    return unchanged
  }

  /** Reads the newest final block, then those that are not linked yet. Rejects as a reading of facts does. */
  async compare(blocks: FinalBlocks, options: { readonly signal: AbortSignal }): Promise<FinalVerdict> {
    const newest = await blocks.readNewest(options)
    const verdict = await this.#readAgain(blocks, options)
    return verdict.kind === 'unchanged' ? this.note(newest) : verdict
  }

  /**
   * One look at what is kept: as little as it takes to see a rewritten chain. Rejects as `compare`.
   * @param options.goesOn whether newer blocks than those that were noted are linked
   * @source F-122
   */
  async follow(
    blocks: FinalBlocks,
    options: { readonly signal: AbortSignal; readonly goesOn: boolean },
  ): Promise<FinalVerdict> {
    const anchor = this.#anchor
    if (anchor === undefined) return unchanged
    if (blocks.readLinks === undefined || !options.goesOn) return this.#readAgain(blocks, options)
    const noted = this.#notedAbove(anchor).map(({ number }) => number)
    return this.#link(anchor, await blocks.readLinks(anchor.number, { ...options, noted }))
  }

  /** @param links see `FinalBlocks.readLinks` */
  #link(anchor: FinalBlock, links: readonly FinalBlock[]): FinalVerdict {
    const [first] = links
    if (first === undefined || first.number < anchor.number) {
      const hash = first && this.#known.get(first.number)
      const lower =
        first === undefined || hash === undefined
          ? unchanged
          : judgeFinal({ number: first.number, hash }, first.hash)
      return lower.kind === 'unchanged' ? judgeFinal(anchor, undefined) : lower
    }
    const linked = judgeFinal(anchor, first.hash)
    if (linked.kind !== 'unchanged') return linked
    for (const block of links) {
      const verdict = this.note(block)
      if (verdict.kind !== 'unchanged') return verdict
      this.#anchor = block
    }
    return unchanged
  }

  /** Lowest first. */
  #notedAbove(anchor: FinalBlock): readonly FinalBlock[] {
    return [...this.#known]
      .map(([number, hash]) => ({ number, hash }))
      .filter(({ number }) => number > anchor.number)
      .sort((a, b) => (a.number < b.number ? -1 : 1))
  }

  /** Highest first: a block that stood after one above it was read is below that one. */
  async #readAgain(blocks: FinalBlocks, options: { readonly signal: AbortSignal }): Promise<FinalVerdict> {
    const anchor = this.#anchor
    if (anchor === undefined) return unchanged
    const unlinked = this.#notedAbove(anchor).slice(0, unlinkedMax)
    const next = unlinked.at(-1) ?? anchor
    for (const block of [...unlinked.toReversed(), anchor]) {
      const verdict = judgeFinal(block, await blocks.readHash(block.number, options))
      if (verdict.kind !== 'unchanged') return verdict
    }
    if (this.#anchor === anchor) this.#anchor = next
    return unchanged
  }
}
