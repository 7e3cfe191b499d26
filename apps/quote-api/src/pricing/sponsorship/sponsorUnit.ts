import { divideDown, divideUp, type PricedUnit, pow10 } from '@causeway/core'

/** Micro-USDC per smallest unit of a fee currency, as a ratio. */
export type SponsorUnit = { readonly numerator: bigint; readonly denominator: bigint }

type AssetPrice = { readonly asset: { readonly id: string }; readonly usdX18: bigint }

/** One dollar, with 18 digits. */
const par = 10n ** 18n
const microUsdDecimals = 6
/** Market prices nearer to par than this are noise of the sources, not a lost peg. */
const depegBps = 50n

/**
 * Sponsor's price of a smallest unit of the fee currency, in micro-USDC. Fees in USDC are debited at their
 * amount; others at their USD value, with USDC at par, or at its market price once that lost more than 0.5 %:
 * the solver is paid in USDC and must not be short.
 * @source rule L-51
 */
export function sponsorUnit(fee: PricedUnit & AssetPrice, usdc: AssetPrice): SponsorUnit {
  const units = pow10(fee.decimals)
  if (fee.asset.id === usdc.asset.id) return { numerator: pow10(microUsdDecimals), denominator: units }
  const isDepegged = (par - usdc.usdX18) * 10_000n > par * depegBps
  const usdcUsdX18 = isDepegged ? usdc.usdX18 : par
  return { numerator: fee.usdX18 * pow10(microUsdDecimals), denominator: units * usdcUsdX18 }
}

/** Sponsor's debit for an amount of the fee currency, in micro-USDC, rounded up. */
export function toMicroUsdUp({ numerator, denominator }: SponsorUnit, amount: bigint): bigint {
  return divideUp(amount * numerator, denominator)
}

/** The most of the fee currency whose debit, by `toMicroUsdUp`, is not above `microUsd`. */
export function fromMicroUsdDown({ numerator, denominator }: SponsorUnit, microUsd: bigint): bigint {
  return divideDown(microUsd * denominator, numerator)
}
