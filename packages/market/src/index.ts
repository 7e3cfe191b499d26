export type { AgreedKind } from './chain/chainReading.ts'
export { type Clock, systemClock } from './clock.ts'
export { createMarket } from './createMarket.ts'
export { gasUnits } from './gas/gasUnits.ts'
export { type MarketHealth, marketHealthSchema } from './health.ts'
export { pollIntervalMs } from './limits.ts'
export type { MarketLog } from './log.ts'
export { planMarket } from './plan.ts'
export type { HttpPriceAdapter } from './prices/http/adapter.ts'
export { createCoingecko } from './prices/http/coingecko.ts'
export { createDefillama } from './prices/http/defillama.ts'
export { createHermes } from './prices/http/hermes.ts'
export { hostOf, type SourceReach } from './prices/secondSource.ts'
export type { Market } from './runMarket.ts'
export {
  type ChainMarket,
  type ChainRefusal,
  type GasShape,
  gasShapes,
  type MarketSnapshot,
  type PriceRefusal,
  type UsdPrice,
} from './snapshot.ts'
