/** Text of a value that is neither an object nor an array. */
type ScalarText = (scalar: unknown) => string

const jsonScalar: ScalarText = (scalar) => JSON.stringify(scalar) ?? 'null'

/**
 * JSON with the members of every object sorted by name, arrays in order, no spaces, and undefined members
 * left out: equal values give equal text. Maps and sets become sorted arrays. Owners of hub balances sign the
 * hash of such a text, and peers' answers are compared by it.
 * @source github.com/relayprotocol/relay-protocol-oracle, src/common/signature-verification.ts
 * @param scalarText gives the text of every scalar, so that callers may allow a bigint too; by default JSON's
 * own text, and `null` for a value that JSON leaves out
 * @throws TypeError for a bigint, unless `scalarText` takes it
 */
export function canonicalJson(value: unknown, scalarText: ScalarText = jsonScalar): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, scalarText)).join(',')}]`
  if (typeof value !== 'object' || value === null) return scalarText(value)
  // Maps and sets have no members of their own: all of them would give the text `{}`.
  if (value instanceof Map || value instanceof Set)
    return `[${[...value]
      .map((item) => canonicalJson(item, scalarText))
      .sort()
      .join(',')}]`
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member, scalarText)}`)
  return `{${members.join(',')}}`
}
