import type { Ledger, SqlDatabase } from '@causeway/core'
import type { QuoteFile } from '@causeway/core/config'
import { createLedger } from '@causeway/ledger'
import type { Logger } from 'pino'
import type { QuoteRegistry } from '../pricing/registry.ts'
import { type SponsorCurrency, sponsorCurrency } from '../pricing/sponsorship/sponsorCurrency.ts'
import type { SponsoredQuoteDependencies } from '../requests/draft/createSponsoredQuote.ts'
import { createMoneyHistory, type MoneyHistory } from '../requests/history/moneyHistory.ts'
import { createRequestHistory, type RequestHistory } from '../requests/history/requestHistory.ts'
import { createSponsoredOrderStore, toStoredSponsorship } from '../requests/orders/sponsoredOrderStore.ts'
import { toStoredOrder } from '../requests/orders/storedOrder.ts'

/** Dependencies of sponsored quotes, and of routes about a sponsor's money. */
export type Sponsorship = Pick<
  SponsoredQuoteDependencies,
  'sponsorAsset' | 'storeSponsored' | 'onExploitableFeePayer'
> & {
  readonly ledger: Ledger
  readonly history: RequestHistory
  readonly moneyHistory: MoneyHistory
  readonly sponsorCurrency: SponsorCurrency
}

/** Id of the asset of sponsor money, where a configuration prices it. */
const sponsorAssetId = 'usdc'

/** Opens the ledger, its histories, and the store that saves a hold on a balance together with the order it pays for. */
export function createSponsorship(options: {
  database: SqlDatabase
  quote: QuoteFile
  registry: QuoteRegistry
  /** The chain on which balances are topped up. */
  chainId: number
  logger: Logger
}): Sponsorship {
  const { database, quote, registry, chainId, logger } = options
  const ledger = createLedger()
  const orders = createSponsoredOrderStore({ database, ledger })
  const sponsorAsset = quote.assets.find(({ id }) => id === sponsorAssetId)
  return {
    ledger,
    history: createRequestHistory({ database }),
    moneyHistory: createMoneyHistory({ database, ledger }),
    sponsorAsset,
    sponsorCurrency: sponsorCurrency(registry, { chainId, assetId: sponsorAsset?.id }),
    async storeSponsored(record, hold) {
      const { sponsorship } = record.quote
      if (sponsorship === undefined)
        throw new Error('a quote without sponsorship is stored as a sponsored one')
      return orders.save({
        order: toStoredOrder(record),
        sponsorship: toStoredSponsorship(sponsorship),
        hold,
      })
    },
    onExploitableFeePayer: (keyId) =>
      logger.warn({ keyId }, 'depositFeePayer of a swap on one chain: its rent can be taken by the user'),
  }
}
