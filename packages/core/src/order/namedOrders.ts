import type { Hex } from '../hex.ts'

/** Every id in a text, also one that begins in the last digit of another. */
const idPattern = /0x(?=([0-9a-fA-F]{64}))/g

/**
 * The order that texts of a transaction name; none where they hold several ids, for one payment settles one
 * order. One id may stand there more than once. @source rule P-40
 */
export function namedOrder(texts: readonly string[]): Hex | undefined {
  const ids = texts.flatMap((text) =>
    [...text.matchAll(idPattern)].map(([, digits = '']) => digits.toLowerCase()),
  )
  const [only, ...others] = new Set(ids)
  return only === undefined || others.length > 0 ? undefined : `0x${only}`
}
