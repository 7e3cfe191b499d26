import type { SignatureArray } from '@causeway/attestations'

/** A signature array as oracles write it. An array whose entries hold brackets does not match and stays in the text. */
const signatureList = /"signatures":\[([^[\]]*)\]/g
/** Text that stands in the frame for a signature array. */
const gap = '"signatures":[]'

/**
 * Cuts the signatures out of a JSON text: `frame` is the text with empty arrays, `entries` has each array as JSON of its
 * own. The cut is exact, because quotes within a JSON string would be escaped: two texts with the same frame are the
 * same document except for their signatures.
 */
export function cutSignatures(text: string): { readonly frame: string; readonly entries: readonly string[] } {
  const entries: string[] = []
  const frame = text.replace(signatureList, (_array, list: string) => {
    entries.push(`[${list}]`)
    return gap
  })
  return { frame, entries }
}

/**
 * For each signature array the number of its gap in the frame, as members may come in any order. `undefined` when gaps
 * and arrays do not correspond one to one.
 */
export function findGaps(
  frame: string,
  arrays: readonly Pick<SignatureArray, 'path'>[],
): readonly number[] | undefined {
  let count = 0
  // Each gap gets its number as the only entry of its array, which is then looked up by path.
  const numbered: unknown = JSON.parse(frame.replaceAll(gap, () => `"signatures":[${count++}]`))
  const gaps = arrays.map(({ path }) => numberAt(numbered, path.split('.')))
  const foundGaps = gaps.filter((number) => number !== undefined)
  const isOneToOne = gaps.length === count && new Set(foundGaps).size === count
  return isOneToOne ? foundGaps : undefined
}

/** The number in the array at `path`. */
function numberAt(value: unknown, path: readonly string[]): number | undefined {
  let reached: unknown = value
  for (const name of [...path, '0']) {
    if (typeof reached !== 'object' || reached === null || !Object.hasOwn(reached, name)) return undefined
    // CAST: an object, and the member is its own.
    reached = (reached as Record<string, unknown>)[name]
  }
  return typeof reached === 'number' ? reached : undefined
}
