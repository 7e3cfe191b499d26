const decimalForm = /^(0|[1-9][0-9]{0,77})(?:\.([0-9]{1,78}))?$/

/**
 * The units of 10^-`decimals` in a plain decimal number such as `123.45`; `undefined` for any other text
 * and for a number that is no whole count of units. Digits are read as text: nothing is rounded.
 */
export function parseDecimal(text: string, decimals: number): bigint | undefined {
  const [, whole, fraction = ''] = decimalForm.exec(text) ?? []
  if (whole === undefined) return undefined
  const isWhole = /^0*$/.test(fraction.slice(decimals))
  return isWhole ? BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0')) : undefined
}

/** Whole units in such a text: a fraction of a unit can never be spent. `undefined` as above. */
export function parseWholeUnits(text: string, decimals: number): bigint | undefined {
  const [whole = '', fraction] = text.split('.')
  const kept = fraction?.slice(0, decimals) ?? ''
  if (fraction !== undefined && !/^[0-9]{1,78}$/.test(fraction)) return undefined
  return parseDecimal(kept === '' ? whole : `${whole}.${kept}`, decimals)
}
