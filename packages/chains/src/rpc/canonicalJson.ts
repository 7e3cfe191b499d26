/**
 * Text that is equal for equal JSON values, whatever the order of their members. Used to compare the
 * answers of endpoints; values come from `JSON.parse`, so they are finite trees.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
    return `{${members.join(',')}}`
  }
  if (typeof value === 'bigint') return `"${value}n"`
  return JSON.stringify(value) ?? 'null'
}
