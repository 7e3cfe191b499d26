import type { Hex } from '@causeway/core'
import type { ChainHead } from './head.ts'

/** The newest head of a chain and the hashes of heads seen before, so that a reorg is told from a lag. */
export type HeadChain = {
  readonly head: ChainHead
  /** Hashes by height, of heads that were adopted. */
  readonly seen: ReadonlyMap<bigint, Hex>
}

/**
 * `extended`: the observed head has all adopted heads among its ancestors, as far as is known.
 * `behind`: an older block of the same chain, from an endpoint that lags: the known head stays.
 * `reorganised`: a block that was adopted is no longer canonical: what was read at it is void.
 */
export type HeadChange = 'first' | 'same' | 'extended' | 'behind' | 'reorganised'

const seenMax = 256

/**
 * Takes one observation of the head into account.
 * @param hashAtKnown hash that the same endpoint gives for the height of the known head; `undefined` when
 * it was not asked or has no such block. With it a reorg is noticed even when several blocks were missed.
 */
export function observeHead(
  chain: HeadChain | undefined,
  observed: ChainHead,
  hashAtKnown?: Hex,
): { readonly chain: HeadChain; readonly change: HeadChange } {
  if (chain === undefined) return { chain: adopt(undefined, observed), change: 'first' }
  const { head, seen: hashes } = chain
  if (observed.hash === head.hash) return { chain, change: 'same' }
  if (observed.number < head.number && hashes.get(observed.number) === observed.hash) {
    return { chain, change: 'behind' }
  }
  const replaced =
    observed.number <= head.number ||
    (hashAtKnown !== undefined && hashAtKnown !== head.hash) ||
    (observed.number === head.number + 1n && observed.parentHash !== head.hash)
  return replaced
    ? { chain: adopt(withoutFrom(hashes, observed.number), observed), change: 'reorganised' }
    : { chain: adopt(hashes, observed), change: 'extended' }
}

function adopt(hashes: ReadonlyMap<bigint, Hex> | undefined, head: ChainHead): HeadChain {
  const kept = [...(hashes ?? [])].slice(-(seenMax - 1))
  return { head, seen: new Map([...kept, [head.number, head.hash]]) }
}

function withoutFrom(hashes: ReadonlyMap<bigint, Hex>, height: bigint): ReadonlyMap<bigint, Hex> {
  return new Map([...hashes].filter(([number]) => number < height))
}
