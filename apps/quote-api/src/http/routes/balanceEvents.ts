import type { Hex } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import { balanceEventContexts, balanceKinds, type CurrencyFilter } from '@causeway/ledger'
import { z } from 'zod'
import type { Sponsors } from '../../access/wallets/sponsors.ts'
import type { SponsorCurrency } from '../../pricing/sponsorship/sponsorCurrency.ts'
import { decodeSequence, encodeSequence } from '../../requests/history/cursor.ts'
import { requireKeyOfWallet } from '../../requests/history/historyAccess.ts'
import type { MoneyHistory } from '../../requests/history/moneyHistory.ts'
import { databaseErrors, mergeErrors } from '../routeErrors.ts'
import { chainIdText, cursorText, id32Text, lookupText, pageLimit } from '../wire/historyQuery.ts'
import { parseWallet, walletText } from '../wire/walletText.ts'

const eventLimit = 50
const eventLimitMax = 250
const text = z.string()

const responseSchema = z.object({
  wallet: text,
  balances: z
    .array(z.object({ kind: z.enum(balanceKinds), chainId: z.number(), currency: text, amount: text }))
    .describe('What can be spent or claimed now'),
  events: z.array(
    z.object({
      id: z.number(),
      chainId: z.number(),
      wallet: text,
      currency: text,
      delta: text.describe('Smallest units, signed'),
      balanceAfter: text,
      context: z.enum(balanceEventContexts),
      requestId: text.nullable(),
      createdAt: text,
    }),
  ),
  continuation: text.nullable().describe('Send it back as `cursor`; null on the last page'),
})

const querystring = z.object({
  context: z.enum(balanceEventContexts).optional(),
  id: z.coerce.number().int().min(0).optional().describe('Of one event'),
  includeNegativeBalances: z.enum(['true', 'false']).optional().describe('No effect: none is negative'),
  requestId: id32Text.optional(),
  chainId: chainIdText.optional(),
  currency: lookupText.optional().describe('Address of a currency, on whichever chain'),
  limit: pageLimit(eventLimit, eventLimitMax),
  cursor: cursorText.optional(),
})

type EventsQuery = z.output<typeof querystring>

const schema = {
  operationId: 'listBalanceEvents',
  tags: ['history'],
  security: [{ apiKey: [] }],
  errors: mergeErrors(databaseErrors, { 400: ['INVALID_CURSOR'], 403: ['FORBIDDEN'] }),
  summary: "Changes of a wallet's balances",
  params: z.object({ wallet: walletText }),
  querystring,
  response: { 200: responseSchema, ...errorResponses },
}

/** GET /balance-events/{wallet}: every change of a wallet's balances, newest first. @source rule Q-110 */
export function registerBalanceEvents(
  app: HttpApp,
  dependencies: {
    readonly sponsors: Sponsors
    readonly moneyHistory: MoneyHistory
    readonly sponsorCurrency: SponsorCurrency
  },
): void {
  const { sponsors, moneyHistory, sponsorCurrency } = dependencies
  const config = { rateLimitClass: 'read' }
  app.get('/balance-events/:wallet', { schema, config }, async ({ params, query, apiKey }) => {
    const wallet = parseWallet(params.wallet)
    await requireKeyOfWallet(sponsors, apiKey, wallet)
    const currency = currencyFilter(query, sponsorCurrency)
    const [page, spendableMicroUsd, claimable] = await Promise.all([
      readEvents(moneyHistory, wallet, query, currency),
      moneyHistory.spendable(wallet),
      moneyHistory.claimable(wallet),
    ])
    return {
      wallet,
      balances: [
        ...(currency.withSponsorMoney
          ? [{ kind: 'sponsorship' as const, ...sponsorCurrency, amount: spendableMicroUsd.toString() }]
          : []),
        ...claimable
          .filter(({ asset }) => isAmong(asset, currency))
          .map(({ asset, amount }) => ({
            kind: 'app_fees' as const,
            chainId: asset.chainId,
            currency: asset.address,
            amount: amount.toString(),
          })),
      ],
      events: page.events.map((event) => eventToWire(wallet, event, sponsorCurrency)),
      continuation: page.cursor === undefined ? null : encodeSequence(page.cursor),
    }
  })
}

type EventsPage = Awaited<ReturnType<MoneyHistory['events']>>

/** Reads a page of events, or the single event that the query names by `id`; then there is no next page. */
async function readEvents(
  moneyHistory: MoneyHistory,
  wallet: Hex,
  { id, context, requestId, limit, cursor }: EventsQuery,
  currency: CurrencyFilter,
): Promise<EventsPage> {
  const filter = {
    wallet,
    currency,
    ...(context !== undefined && { context }),
    ...(requestId !== undefined && { requestId }),
    ...(cursor !== undefined && { cursor: decodeSequence(cursor) }),
  }
  if (id === undefined) return moneyHistory.events({ ...filter, limit })
  // A page of one entry below the next id has this event, or an older one if no event of this id passes the filter.
  const { events } = await moneyHistory.events({ ...filter, limit: 1, cursor: BigInt(id) + 1n })
  return { events: events.filter((event) => event.id === BigInt(id)), cursor: undefined }
}

/** An event without an asset is one of sponsor money. */
function eventToWire(
  wallet: Hex,
  { id, asset, delta, balanceAfter, context, requestId, createdAt }: EventsPage['events'][number],
  sponsorCurrency: SponsorCurrency,
) {
  return {
    id: Number(id),
    wallet,
    chainId: asset?.chainId ?? sponsorCurrency.chainId,
    currency: asset?.address ?? sponsorCurrency.currency,
    delta: delta.toString(),
    balanceAfter: balanceAfter.toString(),
    context,
    requestId: requestId ?? null,
    createdAt: createdAt.toISOString(),
  }
}

/** The currencies that the query asks for. Events of sponsor money count as events of `sponsorCurrency`. */
function currencyFilter(
  { chainId, currency }: EventsQuery,
  sponsorCurrency: SponsorCurrency,
): CurrencyFilter {
  const address = sponsorCurrency.currency
  return {
    ...(chainId !== undefined && { chainId }),
    ...(currency !== undefined && { address: currency }),
    withSponsorMoney:
      (chainId === undefined || chainId === sponsorCurrency.chainId) &&
      (currency === undefined || currency.toLowerCase() === address.toLowerCase()),
  }
}

/**
 * True if the filter admits the asset. Addresses of EVM assets are stored in lower case, others as they are,
 * so the filter's address is compared in both spellings.
 */
function isAmong(
  asset: { readonly chainId: number; readonly address: string },
  { chainId = asset.chainId, address = asset.address }: CurrencyFilter,
): boolean {
  return asset.chainId === chainId && [address, address.toLowerCase()].includes(asset.address)
}
