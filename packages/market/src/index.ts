export type { AgreedKind } from './chain/chainReading.ts'
export { createMarket } from './createMarket.ts'
export { type MarketHealth, marketHealthSchema } from './health.ts'
export { pollIntervalMs } from './limits.ts'
export { planMarket } from './plan.ts'
export type { MarketLog } from './ports.ts'
export { type Clock, systemClock } from './ports.ts'
export { readFeedAges } from './prices/feedAges.ts'
export type { HttpPriceAdapter } from './prices/http/adapter.ts'
export { createCoingecko } from './prices/http/coingecko.ts'
export { createDefillama } from './prices/http/defillama.ts'
export { createHermes, hermesNeedsKey } from './prices/http/hermes.ts'
export { hostOf, type SourceHosts } from './prices/secondSource.ts'
export type { Market } from './runMarket.ts'
export type {
  ChainBasis,
  ChainMarket,
  ChainRefusal,
  MarketSnapshot,
  PriceRefusal,
  PriceWitness,
  UsdPrice,
} from './snapshot.ts'
