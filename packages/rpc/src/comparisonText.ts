import { canonicalJson } from '@causeway/core'

/** Text that is equal for equal facts, whatever the order of their members. Only compared, never hashed or sent. */
export function comparisonText(value: unknown): string {
  return canonicalJson(value, (scalar) =>
    typeof scalar === 'bigint' ? `"${scalar}n"` : (JSON.stringify(scalar) ?? 'null'),
  )
}
