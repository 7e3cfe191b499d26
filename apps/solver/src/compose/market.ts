import { openNetworkReaders } from '@causeway/chains'
import type { HttpMetrics } from '@causeway/http'
import { createMarket, hostOf, type Market } from '@causeway/market'
import { createAgreementMetrics } from '@causeway/service'
import type { ConfiguredSigner } from '@causeway/signer'
import type { Logger } from 'pino'
import type { OpenChains } from './chains.ts'
import type { SolverConfig } from './config.ts'
import type { LoadedFiles } from './files.ts'

type MarketParts = {
  readonly config: Pick<SolverConfig, 'isLocal'>
  readonly files: LoadedFiles
  readonly chains: OpenChains
  readonly signer: Pick<ConfiguredSigner, 'address'>
  readonly logger: Logger
}

/** Opens the market: prices, gas and balances, read from this solver's own endpoints. Reads nothing before `start`. */
export function openMarket(
  { config, files, chains, signer, logger }: MarketParts,
  metrics: HttpMetrics,
): Market {
  return createMarket({
    config: files.quote,
    clients: chains.clients,
    gates: chains.gates,
    readers: openNetworkReaders(files.chains.chains, files.quote.chains, chains.clients),
    fillWallet: signer.address,
    // By these hosts the market tells which sources of a price are independent; in `local` none has to be.
    sourceHosts: {
      isExempt: config.isLocal,
      chains: new Map(
        [...files.chains.chains.values()]
          .filter(({ endpoints }) => endpoints.length > 0)
          .map(({ id, endpoints }) => [id, endpoints.map((url) => hostOf(url.reveal()))]),
      ),
      // The solver's market has no HTTP price services.
      adapters: new Map(),
    },
    onReport: createAgreementMetrics(metrics),
    log: logger,
  })
}
