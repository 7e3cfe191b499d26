import type { FinalBlock, FinalBlocks } from '@causeway/core'
import { type FinalVerdict, judgeFinal } from '@causeway/families'

/** Most remembered blocks; the one noted first is forgotten first. */
const knownBlocksMax = 1_024
/** Most blocks above the anchor that one check reads again. */
const unlinkedMax = 16

export const unchanged: FinalVerdict = { kind: 'unchanged' }

/**
 * Detects that a chain was rewritten, from the final blocks that this process has seen. The anchor is a seen block that
 * descends from all seen blocks below it: while the chain still has the anchor, none of these was replaced. A newer
 * block becomes the anchor after it was linked to the old one: by the parents of all blocks between, or, where parents
 * are not read or blocks are many, by reading the new block again and after it the old anchor. In that order a chain
 * that was rewritten between two readings cannot hide behind its newer blocks.
 * @source rule P-95
 */
export class FinalHistory {
  /** Hashes of seen blocks by height. */
  readonly #known = new Map<bigint, string>()
  #anchor: FinalBlock | undefined
  /** Greatest height of a seen block; −1 before the first. */
  #newest = -1n

  /** Height of the newest block that was seen; `undefined` before the first. */
  get newest(): bigint | undefined {
    return this.#newest < 0n ? undefined : this.#newest
  }

  /** Height of the anchor; −1 before the first block. */
  get linkedTo(): bigint {
    return this.#anchor?.number ?? -1n
  }

  /**
   * Takes a block that was just read as final; the first one becomes the anchor. @returns whether it
   * contradicts a block seen at the same height
   */
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

  /**
   * The slow check: reads the newest final block, then blocks not linked yet, then the anchor. The newest one
   * is only noted, and linked by the next check. Rejects as a reading of facts does.
   */
  async compare(blocks: FinalBlocks, options: { readonly signal: AbortSignal }): Promise<FinalVerdict> {
    const newest = await blocks.readNewest(options)
    const verdict = await this.#readAgain(blocks, options)
    return verdict.kind === 'unchanged' ? this.note(newest) : verdict
  }

  /**
   * The fast check: reads as little as it takes to see a rewritten chain. Rejects as `compare`.
   * @param options.goesOn true to link newly final blocks as well; false: only blocks that were noted
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

  /** Moves the anchor along blocks that `readLinks` linked, ascending from its height or a lower head. */
  #link(anchor: FinalBlock, links: readonly FinalBlock[]): FinalVerdict {
    const [first] = links
    if (first === undefined || first.number < anchor.number) return this.#judgeShorter(anchor, first)
    const anchorVerdict = judgeFinal(anchor, first.hash)
    if (anchorVerdict.kind !== 'unchanged') return anchorVerdict
    for (const block of links) {
      const verdict = this.note(block)
      if (verdict.kind !== 'unchanged') return verdict
      this.#anchor = block
    }
    return unchanged
  }

  /**
   * Verdict on a chain that ends below the anchor: it was rewritten if its head contradicts a block seen at that height;
   * otherwise the endpoints may only lag. @param head `undefined` where nothing was read
   */
  #judgeShorter(anchor: FinalBlock, head: FinalBlock | undefined): FinalVerdict {
    const seenHash = head && this.#known.get(head.number)
    if (head !== undefined && seenHash !== undefined) {
      const verdict = judgeFinal({ number: head.number, hash: seenHash }, head.hash)
      if (verdict.kind !== 'unchanged') return verdict
    }
    // No block at the anchor's height: the verdict is `behind`.
    return judgeFinal(anchor, undefined)
  }

  /** Seen blocks above the anchor, the lowest first. */
  #notedAbove(anchor: FinalBlock): readonly FinalBlock[] {
    return [...this.#known]
      .map(([number, hash]) => ({ number, hash }))
      .filter(({ number }) => number > anchor.number)
      .sort((a, b) => (a.number < b.number ? -1 : 1))
  }

  /**
   * Reads blocks that are not linked yet, the highest first, and then the anchor. A block that the chain
   * still has after a higher one was read is below that one in the same chain, so the highest becomes the
   * anchor. Of more than `unlinkedMax` the lowest are taken, and later checks continue there.
   */
  async #readAgain(blocks: FinalBlocks, options: { readonly signal: AbortSignal }): Promise<FinalVerdict> {
    const anchor = this.#anchor
    if (anchor === undefined) return unchanged
    const unlinked = this.#notedAbove(anchor).slice(0, unlinkedMax)
    const newAnchor = unlinked.at(-1) ?? anchor
    for (const block of [...unlinked.toReversed(), anchor]) {
      const verdict = judgeFinal(block, await blocks.readHash(block.number, options))
      if (verdict.kind !== 'unchanged') return verdict
    }
    // Another check may have moved the anchor meanwhile.
    if (this.#anchor === anchor) this.#anchor = newAnchor
    return unchanged
  }
}
