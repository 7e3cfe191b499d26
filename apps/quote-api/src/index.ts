export { loadConfig, type QuoteApiConfig } from './config.ts'
export { createQuoteApi, type ListenAddresses, type QuoteApi } from './createQuoteApi.ts'
