/** Hosted nodes list what stands in a block some seconds after the block. @source F-70 */
export const lateMs = 30_000

export function lateBlocksOf({ blockTimeMs }: { readonly blockTimeMs: number }): bigint {
  return BigInt(Math.ceil(lateMs / blockTimeMs))
}
