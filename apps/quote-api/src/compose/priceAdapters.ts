import type { ChainRegistry } from '@causeway/chains'
import { ConfigurationError } from '@causeway/core'
import type { QuoteFile } from '@causeway/core/config'
import {
  createCoingecko,
  createDefillama,
  createHermes,
  type HttpPriceAdapter,
  hostOf,
  type SourceHosts,
} from '@causeway/market'
import { recoverSigner } from '@causeway/signer'
import type { QuoteApiConfig } from '../config/config.ts'

/**
 * The HTTP price services whose URL is set; without any, prices come from chains alone.
 * @throws ConfigurationError when prices of Hermes are wanted and nobody is named whose signatures count
 */
export function createPriceAdapters(
  { hermes, defillama, coingecko }: QuoteApiConfig['priceAdapters'],
  { environment, guardianSets }: Pick<QuoteFile, 'environment' | 'guardianSets'>,
): HttpPriceAdapter[] {
  if (hermes.url !== undefined && guardianSets.length === 0) {
    throw new ConfigurationError(
      `HERMES_URL needs guardianSets in configs/quote.${environment}.json: the guardians whose signatures on prices count`,
    )
  }
  const adapters: HttpPriceAdapter[] = []
  if (hermes.url !== undefined) {
    const apiKey = hermes.apiKey !== undefined && { apiKey: hermes.apiKey }
    adapters.push(createHermes({ baseUrl: hermes.url, guardianSets, recover: recoverSigner, ...apiKey }))
  }
  if (defillama.url !== undefined) adapters.push(createDefillama({ baseUrl: defillama.url }))
  if (coingecko.url !== undefined) {
    const apiKey = coingecko.apiKey !== undefined && { apiKey: coingecko.apiKey }
    adapters.push(createCoingecko({ baseUrl: coingecko.url, ...apiKey }))
  }
  return adapters
}

/** The hosts that prices are read through: the endpoints of every chain and the services that are switched on. */
export function sourceReach(
  { isLocal, priceAdapters }: Pick<QuoteApiConfig, 'isLocal' | 'priceAdapters'>,
  { chains }: ChainRegistry,
): SourceHosts {
  return {
    // On one machine no second source is demanded.
    isExempt: isLocal,
    chains: new Map(
      [...chains.values()]
        .filter(({ endpoints }) => endpoints.length > 0)
        .map(({ id, endpoints }) => [id, endpoints.map((url) => hostOf(url.reveal()))]),
    ),
    adapters: new Map(
      Object.entries(priceAdapters).flatMap(([name, { url }]) =>
        url === undefined ? [] : [[name, hostOf(url)] as const],
      ),
    ),
  }
}
