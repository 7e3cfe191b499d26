import type { SignatureArray } from '@causeway/attestations'

/** Arrays of signatures as programs write them; entries with brackets are left where they are. */
const written = /"signatures":\[([^[\]]*)\]/g
const gap = '"signatures":[]'

/**
 * The text without its signatures, and each list as JSON of its own. Exact: within a string of JSON the
 * quotes would be escaped, so whatever has the same frame and lists of valid JSON is the same document but
 * for its signatures.
 */
export function cutSignatures(text: string): { readonly frame: string; readonly entries: readonly string[] } {
  const entries: string[] = []
  const frame = text.replace(written, (_array, list: string) => {
    entries.push(`[${list}]`)
    return gap
  })
  return { frame, entries }
}

/**
 * Which gap of the frame is which array: members may come in any order. `undefined` when they do not
 * correspond one to one.
 */
export function findGaps(
  frame: string,
  arrays: readonly Pick<SignatureArray, 'path'>[],
): readonly number[] | undefined {
  let count = 0
  const numbered: unknown = JSON.parse(frame.replaceAll(gap, () => `"signatures":[${count++}]`))
  const gaps = arrays.map(({ path }) => numberAt(numbered, path.split('.')))
  const positions = gaps.filter((number) => number !== undefined)
  return positions.length === count && new Set(positions).size === count && gaps.length === count
    ? positions
    : undefined
}

function numberAt(value: unknown, path: readonly string[]): number | undefined {
  let reached: unknown = value
  for (const name of [...path, '0']) {
    if (typeof reached !== 'object' || reached === null || !Object.hasOwn(reached, name)) return undefined
    // CAST: an object, and the member is its own.
    reached = (reached as Record<string, unknown>)[name]
  }
  return typeof reached === 'number' ? reached : undefined
}
