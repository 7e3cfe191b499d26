import { lighterCodec } from './lighter.ts'

const usdcAsset = 3n
const perpsRoute = 0n
const spotRoute = 1n

/**
 * The currency that an asset is on one side of a transfer: USDC of the perps account is the native one,
 * everything else goes by its index. @source rule F-160
 */
export function lighterCurrency(assetIndex: bigint, routeType: bigint): string {
  const isPerpsUsdc = assetIndex === usdcAsset && routeType === perpsRoute
  return isPerpsUsdc ? lighterCodec.nativeCurrency : assetIndex.toString()
}

/** An asset, and the part of an account that holds it. */
export type LighterAsset = { readonly assetIndex: bigint; readonly routeType: bigint }

/** The asset that a currency stands for: what `lighterCurrency` turns back. @param currency canonical */
export function lighterAsset(currency: string): LighterAsset {
  if (currency === lighterCodec.nativeCurrency) return { assetIndex: usdcAsset, routeType: perpsRoute }
  return { assetIndex: BigInt(currency), routeType: spotRoute }
}

/** Ether, and USDC of both parts of an account: no transfer of anything else is attested as a payment. */
const payable: ReadonlySet<string> = new Set([lighterCodec.nativeCurrency, '1', '3'])

/** @param currency canonical @source rule F-160 */
export function isLighterPayment(currency: string): boolean {
  return payable.has(currency)
}
