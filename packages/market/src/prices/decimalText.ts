import { pow10 } from '@causeway/core'

const decimalPattern = /^(\d{1,40})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,2}))?$/
const fractionDigits = 18

/**
 * USD with 18 fraction digits from decimal text, `1.5e-7` included; further digits are cut off.
 * No step goes through floating point. Undefined for anything else, a sign and an empty text included.
 */
export function usdX18FromText(text: string): bigint | undefined {
  const match = decimalPattern.exec(text)
  if (match === null) return undefined
  const [, whole = '', fraction = '', exponent = '0'] = match
  return scaled(BigInt(whole + fraction), fractionDigits + Number(exponent) - fraction.length)
}

/** mantissa · 10^exponent USD, as Pyth writes prices. Undefined outside a plausible exponent. */
export function usdX18FromMantissa(mantissa: bigint, exponent: number): bigint | undefined {
  if (!Number.isInteger(exponent) || Math.abs(exponent) > 40) return undefined
  return scaled(mantissa, fractionDigits + exponent)
}

/** value · 10^shift, rounded down for the non-negative values that prices are. */
function scaled(value: bigint, shift: number): bigint {
  return shift >= 0 ? value * pow10(shift) : value / pow10(-shift)
}
