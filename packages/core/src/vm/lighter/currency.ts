import { lighterCodec } from './codec.ts'

const usdcAsset = 3n
const perpsRoute = 0n

/**
 * The currency that an asset is on one side of a transfer: USDC of the perps account is the native one,
 * everything else goes by its index. @source oracle-protocol.md 3.2, 5.5
 */
export function lighterCurrency(assetIndex: bigint, routeType: bigint): string {
  const isPerpsUsdc = assetIndex === usdcAsset && routeType === perpsRoute
  return isPerpsUsdc ? lighterCodec.nativeCurrency : assetIndex.toString()
}
