export type { ListenAddresses, QuoteApi } from './compose/assemble.ts'
export { createQuoteApi } from './compose/createQuoteApi.ts'
export { loadConfig, type QuoteApiConfig } from './config/config.ts'
