import { type Hex, isHex32 } from '@causeway/core'
import type { ChainRefusal, Market } from '@causeway/market'

/** A block that a quorum of endpoints has, so that a read may name it. */
export type Head = { readonly number: bigint; readonly hash: Hex }

/** The block at which users' accounts are read. */
export interface NewestHeads {
  /** Newest known block of a chain; `undefined` while the chain is not priced, and where its blocks have no hash. */
  of(chain: { readonly key: string; readonly chainId: number }): Head | undefined
  /** Notes a block that a quorum showed to a reader other than the market. */
  note(chainId: number, head: { readonly number: bigint; readonly hash: string }): void
}

type HeadsOfMarket = Pick<Market, 'agreedHead'> & {
  snapshot(): {
    chain(chainId: number): ChainRefusal | { readonly head: { readonly number: bigint; readonly hash?: Hex } }
  }
}

/** Age at which a noted block no longer counts: if the market has not reached it by then, it has left the chain. */
const aheadMaxMs = 10_000

/**
 * The newest block that this process knows by agreement. The market publishes a block only after it has read prices and
 * pools there. A deposit watcher may have seen a newer one, and told a user of his deposit in it. If he asks for a quote
 * at once, his balance and allowance have to be read at that newer block.
 */
export function createNewestHeads(market: HeadsOfMarket, now: () => number): NewestHeads {
  const seenHeads = new Map<number, Head & { readonly seenAtMs: number }>()
  return {
    of({ key, chainId }) {
      const state = market.snapshot().chain(chainId)
      if ('reason' in state || state.head.hash === undefined) return undefined
      // The agreed head may be newer than the published one; chains without such heads have only that.
      const marketHead = market.agreedHead(key) ?? { number: state.head.number, hash: state.head.hash }
      const noted = seenHeads.get(chainId)
      const isAhead =
        noted !== undefined && noted.number > marketHead.number && now() - noted.seenAtMs <= aheadMaxMs
      return isAhead ? { number: noted.number, hash: noted.hash } : marketHead
    },
    note(chainId, { number, hash }) {
      if (isHex32(hash)) seenHeads.set(chainId, { number, hash, seenAtMs: now() })
    },
  }
}
