import type { Hex } from '../hex.ts'

/** Finds every 32-byte id in a text. The lookahead also finds ids that overlap. */
const idPattern = /0x(?=([0-9a-fA-F]{64}))/g

/**
 * The order id in a transaction's texts (memos, output data): `undefined` where they hold no id or several different
 * ones, because a payment settles one order. The same id may occur more than once. @source rule P-40
 */
export function namedOrder(texts: readonly string[]): Hex | undefined {
  const ids = texts.flatMap((text) =>
    [...text.matchAll(idPattern)].map(([, digits = '']) => digits.toLowerCase()),
  )
  const [only, ...others] = new Set(ids)
  return only === undefined || others.length > 0 ? undefined : `0x${only}`
}
