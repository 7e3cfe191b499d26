import type { FinalBlock } from '@causeway/core'

/** A contradiction to finality: at the height of a final block there is another block now, or none. */
export type FinalChange = {
  readonly blockNumber: bigint
  readonly knownHash: string
  /** `undefined`: the chain does not reach that block any more. */
  readonly foundHash: string | undefined
}

/** `behind`: the chain seems to end below the final block, which may only mean that endpoints lag. */
export type FinalVerdict =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'behind' | 'changed'; readonly contradiction: FinalChange }

/**
 * Compares a block that was final with the block at its height now. Pure.
 * @param foundHash undefined if the chain ends below that height
 */
export function judgeFinal({ number, hash }: FinalBlock, foundHash: string | undefined): FinalVerdict {
  if (foundHash === hash) return { kind: 'unchanged' }
  const contradiction = { blockNumber: number, knownHash: hash, foundHash }
  return { kind: foundHash === undefined ? 'behind' : 'changed', contradiction }
}

/** `block 7 was 0x… and is 0x…`, for operators. */
export function describeFinalChange({ blockNumber, knownHash, foundHash }: FinalChange): string {
  return `block ${blockNumber} was ${knownHash} and is ${foundHash ?? 'no block'}`
}
