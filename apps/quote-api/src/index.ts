export type { QuoteApi } from './compose/assemble.ts'
export { createQuoteApi } from './compose/createQuoteApi.ts'
export type { ListenAddresses } from './compose/listeners.ts'
export { loadConfig, type QuoteApiConfig } from './config/config.ts'
