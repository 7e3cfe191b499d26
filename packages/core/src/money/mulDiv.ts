/**
 * Integer division with the rounding in the name; a bare `/` on money does not pass review.
 * Signed: Down is toward −∞, Up toward +∞. @throws RangeError on a divisor of zero or below
 */
export function divideDown(numerator: bigint, denominator: bigint): bigint {
  if (denominator <= 0n) throw new RangeError('the denominator must be positive')
  const quotient = numerator / denominator
  return numerator < 0n && quotient * denominator !== numerator ? quotient - 1n : quotient
}

/** See `divideDown`. */
export function divideUp(numerator: bigint, denominator: bigint): bigint {
  if (denominator <= 0n) throw new RangeError('the denominator must be positive')
  const quotient = numerator / denominator
  return numerator > 0n && quotient * denominator !== numerator ? quotient + 1n : quotient
}

/** Nearest, ties to the even neighbour: for display only. */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const floor = divideDown(numerator, denominator)
  const twiceRest = 2n * (numerator - floor * denominator)
  if (twiceRest < denominator) return floor
  if (twiceRest > denominator) return floor + 1n
  return floor % 2n === 0n ? floor : floor + 1n
}

/** floor(a·b/d) */
export function mulDivDown(a: bigint, b: bigint, denominator: bigint): bigint {
  return divideDown(a * b, denominator)
}

/** ceil(a·b/d) */
export function mulDivUp(a: bigint, b: bigint, denominator: bigint): bigint {
  return divideUp(a * b, denominator)
}

export const bpsDenominator = 10_000n

/** floor(amount·bps/10⁴) */
export function bpsDown(amount: bigint, bps: bigint): bigint {
  return mulDivDown(amount, bps, bpsDenominator)
}

/** ceil(amount·bps/10⁴) */
export function bpsUp(amount: bigint, bps: bigint): bigint {
  return mulDivUp(amount, bps, bpsDenominator)
}

const powersOfTen: readonly bigint[] = Array.from({ length: 78 }, (_, exponent) => 10n ** BigInt(exponent))

/** 10ⁿ, from a table for the exponents that decimals can have. */
export function pow10(exponent: number): bigint {
  return powersOfTen[exponent] ?? 10n ** BigInt(exponent)
}

export function minBigint(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

export function maxBigint(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

/** The largest multiple of `step` up to `value`, which must not be negative. */
export function multipleDown(value: bigint, step: bigint): bigint {
  return value - (value % step)
}

/** The smallest multiple of `step` from `value` on, which must not be negative. */
export function multipleUp(value: bigint, step: bigint): bigint {
  return multipleDown(value + step - 1n, step)
}
