import { type Hex, isHex32 } from '@causeway/core'
import type { ChainRefusal, Market } from '@causeway/market'

/** A block by which others may read, that enough endpoints have. */
export type Head = { readonly number: bigint; readonly hash: Hex }

/** The block at which users' accounts are read. */
export interface NewestHeads {
  /** `undefined` while the chain is not priced, and where its blocks have no hash. */
  of(chain: { readonly key: string; readonly chainId: number }): Head | undefined
  /** Notes a block that a quorum showed to a reader other than the market. */
  saw(chainId: number, head: { readonly number: bigint; readonly hash: string }): void
}

type HeadsOfMarket = Pick<Market, 'agreedHead'> & {
  snapshot(): {
    chain(chainId: number): ChainRefusal | { readonly head: { readonly number: bigint; readonly hash?: Hex } }
  }
}

/** A block that the market has not reached by then has left the chain. */
const aheadMaxMs = 10_000

/**
 * The newest block that this process knows by agreement. The market publishes one when prices and pools of it are read;
 * whoever was told what is in that block already, such as that his deposit is there, may quote again before: what he
 * holds and has approved is then read at that block, not at the one before.
 */
export function createNewestHeads(market: HeadsOfMarket, now: () => number): NewestHeads {
  const seenHeads = new Map<number, Head & { readonly seenAtMs: number }>()
  return {
    of({ key, chainId }) {
      const state = market.snapshot().chain(chainId)
      if ('reason' in state || state.head.hash === undefined) return undefined
      const own = market.agreedHead(key) ?? { number: state.head.number, hash: state.head.hash }
      const other = seenHeads.get(chainId)
      const isAhead = other !== undefined && other.number > own.number && now() - other.seenAtMs <= aheadMaxMs
      return isAhead ? { number: other.number, hash: other.hash } : own
    },
    saw(chainId, { number, hash }) {
      if (isHex32(hash)) seenHeads.set(chainId, { number, hash, seenAtMs: now() })
    },
  }
}
