const decimalForm = /^(0|[1-9][0-9]{0,77})(?:\.([0-9]{1,78}))?$/

/**
 * Converts a plain decimal number such as `123.45` to units of 10^-`decimals`, exactly: `undefined` for any other text
 * and for a number with a fraction of a unit.
 */
export function parseDecimal(text: string, decimals: number): bigint | undefined {
  const [, whole, fraction = ''] = decimalForm.exec(text) ?? []
  if (whole === undefined) return undefined
  const hasWholeUnits = /^0*$/.test(fraction.slice(decimals))
  return hasWholeUnits ? BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0')) : undefined
}

/** As `parseDecimal`, but drops a fraction of a unit, for balances: it can never be spent. */
export function parseWholeUnits(text: string, decimals: number): bigint | undefined {
  const [whole = '', fraction] = text.split('.')
  const kept = fraction?.slice(0, decimals) ?? ''
  if (fraction !== undefined && !/^[0-9]{1,78}$/.test(fraction)) return undefined
  return parseDecimal(kept === '' ? whole : `${whole}.${kept}`, decimals)
}
