export { type ExchangeLedger, type ListedTransaction, startExchange } from './hyperliquidExchange.ts'
