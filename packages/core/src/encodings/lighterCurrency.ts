import { lighterCodec } from './lighter.ts'

const usdcAsset = 3n
const perpsRoute = 0n
const spotRoute = 1n

/**
 * The currency of an asset on one side of a transfer: USDC in the perps part of an account is the native currency;
 * every other one has its asset's index as address. @source rule F-160
 */
export function lighterCurrency(assetIndex: bigint, routeType: bigint): string {
  const isPerpsUsdc = assetIndex === usdcAsset && routeType === perpsRoute
  return isPerpsUsdc ? lighterCodec.nativeCurrency : assetIndex.toString()
}

/** An asset, and the part of an account (`perpsRoute`, `spotRoute`) that holds it. */
export type LighterAsset = { readonly assetIndex: bigint; readonly routeType: bigint }

/** The asset of a currency: the inverse of `lighterCurrency`. @param currency canonical */
export function lighterAsset(currency: string): LighterAsset {
  if (currency === lighterCodec.nativeCurrency) return { assetIndex: usdcAsset, routeType: perpsRoute }
  return { assetIndex: BigInt(currency), routeType: spotRoute }
}

/** Perps USDC, ether and spot USDC. */
const payableCurrencies: ReadonlySet<string> = new Set([lighterCodec.nativeCurrency, '1', '3'])

/** True where a transfer of the currency can be attested as a payment. @param currency canonical @source rule F-160 */
export function isLighterPayment(currency: string): boolean {
  return payableCurrencies.has(currency)
}
