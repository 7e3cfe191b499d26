/**
 * Remembers when this process first saw each height of a chain, for rules that ask how many seconds ago a deposit's block
 * came. Heights from before the start count from the start.
 */
export interface HeadSights {
  note(chainId: number, height: bigint): void
  /** Seconds since the chain was first seen to have a block of this height; 0 where it never was. */
  secondsSince(chainId: number, height: bigint): number
}

type Sight = { readonly height: bigint; readonly atMs: number }

/** Heads that are kept of one chain: enough for rules, which ask for minutes at most. */
const sightsMax = 4_096

/** @param nowMs only goes forward */
export function createHeadSights(nowMs: () => number): HeadSights {
  const byChain = new Map<number, Sight[]>()
  return {
    note(chainId, height) {
      const heads = byChain.get(chainId) ?? []
      // After a reorganization to a lower height, the heights above it are of other blocks.
      while ((heads.at(-1)?.height ?? -1n) > height) heads.pop()
      if (heads.at(-1)?.height === height) return
      heads.push({ height, atMs: nowMs() })
      if (heads.length > sightsMax) heads.shift()
      byChain.set(chainId, heads)
    },
    secondsSince(chainId, height) {
      const first = byChain.get(chainId)?.find((sight) => sight.height >= height)
      return first === undefined ? 0 : (nowMs() - first.atMs) / 1_000
    },
  }
}
