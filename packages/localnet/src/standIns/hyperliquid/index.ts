export { hyperliquidBodies } from './bodies.ts'
export { type ExchangeLedger, type ListedTransaction, startExchange } from './hyperliquidExchange.ts'
export { createHyperliquidVenue, type HyperliquidVenue } from './hyperliquidVenue.ts'
