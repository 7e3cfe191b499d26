import type { QuoteApiConfig } from './config.ts'
import type { HttpPriceAdapter } from './market/prices/http/adapter.ts'
import { createCoingecko } from './market/prices/http/coingecko.ts'
import { createDefillama } from './market/prices/http/defillama.ts'
import { createHermes } from './market/prices/http/hermes.ts'

/** The HTTP price services whose URL is set; without any, prices come from chains alone. */
export function createPriceAdapters({
  hermes,
  defillama,
  coingecko,
}: QuoteApiConfig['priceAdapters']): HttpPriceAdapter[] {
  return [
    ...(hermes.url === undefined
      ? []
      : [
          createHermes({
            baseUrl: hermes.url,
            ...(hermes.apiKey !== undefined && { apiKey: hermes.apiKey }),
          }),
        ]),
    ...(defillama.url === undefined ? [] : [createDefillama({ baseUrl: defillama.url })]),
    ...(coingecko.url === undefined
      ? []
      : [
          createCoingecko({
            baseUrl: coingecko.url,
            ...(coingecko.apiKey !== undefined && { apiKey: coingecko.apiKey }),
          }),
        ]),
  ]
}
