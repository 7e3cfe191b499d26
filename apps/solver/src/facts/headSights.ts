/** Remembers when this process saw heads of chains first. A height from before its start counts from the start. */
export interface HeadSights {
  note(chainId: number, height: bigint): void
  /** Seconds since the chain was first seen to have a block of this height; 0 where it never was. */
  secondsSince(chainId: number, height: bigint): number
}

type Sight = { readonly height: bigint; readonly atMs: number }

/** Heads kept of one chain; rules ask for minutes at most where no chain calls its blocks final. */
const sightsMax = 4_096

/** @param nowMs only goes forward */
export function createHeadSights(nowMs: () => number): HeadSights {
  const byChain = new Map<number, Sight[]>()
  return {
    note(chainId, height) {
      const heads = byChain.get(chainId) ?? []
      // A chain that became shorter makes other blocks from there on.
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
