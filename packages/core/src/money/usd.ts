import { divideDown, divideUp, pow10 } from './mulDiv.ts'

/** USD with 18 fraction digits. */
export type UsdX18 = bigint

/** A currency's decimals, and the price of one whole unit (10^`decimals` smallest ones). */
export type PricedUnit = { readonly decimals: number; readonly usdX18: bigint }

/** Value of `amount` smallest units, rounded down. */
export function usdValueDown(amount: bigint, unit: PricedUnit): UsdX18 {
  return divideDown(amount * unit.usdX18, pow10(unit.decimals))
}

/** Smallest units worth at least `usd`: for costs, which round up. @throws RangeError on a price of zero */
export function amountForUsdUp(usd: UsdX18, unit: PricedUnit): bigint {
  return divideUp(usd * pow10(unit.decimals), unit.usdX18)
}

/** Smallest units worth at most `usd`. @throws RangeError on a price of zero */
export function amountForUsdDown(usd: UsdX18, unit: PricedUnit): bigint {
  return divideDown(usd * pow10(unit.decimals), unit.usdX18)
}

/** `amount` of one currency in units of another at market, rounded up in one step. */
export function convertUp(amount: bigint, from: PricedUnit, to: PricedUnit): bigint {
  return divideUp(amount * from.usdX18 * pow10(to.decimals), to.usdX18 * pow10(from.decimals))
}

/** `amount` of one currency in units of another at market, rounded down in one step. */
export function convertDown(amount: bigint, from: PricedUnit, to: PricedUnit): bigint {
  return divideDown(amount * from.usdX18 * pow10(to.decimals), to.usdX18 * pow10(from.decimals))
}
