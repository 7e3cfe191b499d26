import type { ServiceParts } from '@causeway/service'
import { loadPeppers } from '../operate/administration.ts'
import { findCurrency } from '../pricing/registry.ts'
import { findSponsorshipChain } from '../pricing/sponsorship/sponsorCurrency.ts'
import { createTimelines } from '../requests/timeline/readTimeline.ts'
import type { World } from './createQuoteApi.ts'
import { createRandomPool } from './randomPool.ts'
import { createSponsorship } from './sponsorship.ts'

export type Accounts = Awaited<ReturnType<typeof openAccounts>>

/** Opens what several parts share about callers: sponsors and their money, peppers of API keys, timelines of requests. */
export async function openAccounts({ logger }: ServiceParts<never>, world: World) {
  const { config, quote, registry, clients, database } = world
  const chain = findSponsorshipChain(registry, clients)
  const { chainId } = chain
  const timelines = createTimelines({
    database,
    nameOf(currencyChainId, currency) {
      const quotable = registry.chainById.get(currencyChainId)
      return quotable && findCurrency(quotable, currency)
    },
  })
  return {
    chain,
    sponsorship: createSponsorship({ database, quote, registry, chainId, logger }),
    peppers: await loadPeppers(config, database),
    randomBytes: createRandomPool(),
    timelines,
  }
}
