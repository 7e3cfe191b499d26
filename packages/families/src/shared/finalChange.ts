import type { FinalBlock } from '@causeway/core'

/** A block that was final and is another one now, or is gone. */
export type FinalChange = {
  readonly blockNumber: bigint
  readonly knownHash: string
  /** `undefined`: the chain does not reach that block any more. */
  readonly foundHash: string | undefined
}

/** `behind`: the chain ends below a block that was final, as endpoints that lag show it too. */
export type FinalVerdict =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'behind' | 'changed'; readonly contradiction: FinalChange }

/**
 * Holds a block that was final against what stands at its height now. Pure.
 * @param foundHash undefined where the chain ends below it
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
