/** Hosted nodes may list a block's logs only some seconds after the block. @source F-70 */
export const lateMs = 30_000

/** Number of newest blocks that are read once more, because nodes may have listed their logs late. */
export function lateBlocksOf({ blockTimeMs }: { readonly blockTimeMs: number }): bigint {
  return BigInt(Math.ceil(lateMs / blockTimeMs))
}
