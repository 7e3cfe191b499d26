import { canonicalJson } from '@causeway/core'

/** Text by which votes are compared: equal for equal values, whatever the order of members. Never hashed or sent. */
export function comparisonText(value: unknown): string {
  return canonicalJson(value, (scalar) =>
    typeof scalar === 'bigint' ? `"${scalar}n"` : (JSON.stringify(scalar) ?? 'null'),
  )
}
