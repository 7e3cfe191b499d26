import type { Hex } from '@causeway/core'
import type { ChainHead } from './head.ts'

/** The newest head of a chain and the hashes of earlier heads, by which a reorg is told from a lagging endpoint. */
export type HeadChain = {
  readonly head: ChainHead
  /** Hash by height of heads that were adopted, at most `adoptedMax`. */
  readonly hashByHeight: ReadonlyMap<bigint, Hex>
}

/**
 * Relation of an observed head to the known one.
 * `extended`: it descends from the adopted heads, as far as is known.
 * `behind`: it is an older block of the same chain, from a lagging endpoint; the known head stays.
 * `reorganised`: an adopted block is no longer canonical, so data read at it is void.
 */
export type HeadChange = 'first' | 'same' | 'extended' | 'behind' | 'reorganised'

const adoptedMax = 256

/**
 * The chain after one observation of its head. Pure.
 * @param hashAtKnown hash that the same endpoint gives for the height of the known head; `undefined` if it was not
 * asked or has no such block. It shows a reorg even if blocks between the two heads were missed.
 */
export function observeHead(
  chain: HeadChain | undefined,
  observed: ChainHead,
  hashAtKnown?: Hex,
): { readonly chain: HeadChain; readonly change: HeadChange } {
  if (chain === undefined) return { chain: adopt(undefined, observed), change: 'first' }
  const { head, hashByHeight } = chain
  if (observed.hash === head.hash) return { chain, change: 'same' }
  if (observed.number < head.number && hashByHeight.get(observed.number) === observed.hash) {
    return { chain, change: 'behind' }
  }
  const isReorganised =
    // At or below the head, a block that was not adopted counts as one of another branch.
    observed.number <= head.number ||
    (hashAtKnown !== undefined && hashAtKnown !== head.hash) ||
    (observed.number === head.number + 1n && observed.parentHash !== head.hash)
  return isReorganised
    ? { chain: adopt(withoutFrom(hashByHeight, observed.number), observed), change: 'reorganised' }
    : { chain: adopt(hashByHeight, observed), change: 'extended' }
}

function adopt(hashByHeight: ReadonlyMap<bigint, Hex> | undefined, head: ChainHead): HeadChain {
  const kept = [...(hashByHeight ?? [])].slice(-(adoptedMax - 1))
  return { head, hashByHeight: new Map([...kept, [head.number, head.hash]]) }
}

function withoutFrom(hashByHeight: ReadonlyMap<bigint, Hex>, height: bigint): ReadonlyMap<bigint, Hex> {
  return new Map([...hashByHeight].filter(([number]) => number < height))
}
