export { createQuoteApi, type ListenAddresses, type QuoteApi } from './compose/createQuoteApi.ts'
export { loadConfig, type QuoteApiConfig } from './config/config.ts'
