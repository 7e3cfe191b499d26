import { callerOf, errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import type { KeylessBudget } from '../../access/keylessBudget.ts'
import type { Sponsors } from '../../access/wallets/sponsors.ts'
import { QuoteError } from '../../pricing/errors.ts'
import type { QuoteRegistry } from '../../pricing/registry.ts'
import type { SponsorCurrency } from '../../pricing/sponsorship/sponsorCurrency.ts'
import { decodeCursor } from '../../requests/history/cursor.ts'
import { scopeOfRequests } from '../../requests/history/historyAccess.ts'
import type { Page, RequestFilter } from '../../requests/history/requestFilter.ts'
import type { RequestHistory, RequestRecord } from '../../requests/history/requestHistory.ts'
import type { OrderSignatures } from '../../requests/orders/orderSignatures.ts'
import { databaseErrors, keylessErrors, mergeErrors } from '../routeErrors.ts'
import { type RequestsQuery, requestsQueryFields } from '../wire/historyQuery.ts'
import { requestsV2Schema, requestToV2 } from '../wire/requestsV2.ts'
import { requestsV3Schema, requestToV3 } from '../wire/requestsV3.ts'

type Dependencies = {
  readonly registry: QuoteRegistry
  readonly sponsors: Sponsors
  readonly history: RequestHistory
  readonly sponsorCurrency: SponsorCurrency
  readonly signatures: OrderSignatures
  readonly signatureBudget: KeylessBudget
}

/** 2026-07-22, as the public interface has it. */
const deprecatedSinceUnixSeconds = 1_784_678_400

/**
 * GET /requests/v3 lists the requests of the caller's key, and shows anybody what `id` or `depositAddress`
 * names, without what is its owner's to see; GET /requests/v2 looks single requests up,
 * for clients of before. @source quote-and-sponsorship.md, Request history; quote-api.md 3.4
 */
export function registerRequests(
  app: HttpApp,
  { registry, sponsors, history, sponsorCurrency, signatures, signatureBudget }: Dependencies,
): void {
  const listed = async (
    filter: RequestFilter,
    query: PageQuery & Pick<RequestsQuery, 'includeOrderData'>,
    asked: Parameters<typeof callerOf>[0],
  ) => {
    const page = await history.list(filter, pageOf(query))
    if (!query.includeOrderData) return page
    for (const { order, orderSignature } of asked.apiKey === null ? page.requests : [])
      if (order !== undefined && orderSignature === undefined) await signatureBudget.take([callerOf(asked)])
    return { ...page, requests: await Promise.all(page.requests.map((one) => signed(signatures, one))) }
  }
  const { hash, ...shared } = requestsQueryFields
  const v3 = {
    operationId: 'listRequests',
    tags: ['history'],
    errors: mergeErrors(databaseErrors, keylessErrors, { 400: ['INVALID_CURSOR'] }),
    summary:
      'Requests that were made with your key, or for anybody the request that id or depositAddress names',
    querystring: z.object({ ...shared, txHash: hash }),
    response: { 200: requestsV3Schema, ...errorResponses },
  }
  const config = { rateLimitClass: 'read' }
  app.get('/requests/v3', { schema: v3, config }, async (request) => {
    const { apiKey } = request
    const { txHash, ...query } = request.query
    const isNamed = query.id !== undefined || query.depositAddress !== undefined
    const asks = { isNamed, user: query.user, ofWallet: false }
    const scope = await scopeOfRequests({ sponsors, history }, apiKey, asks)
    const filter = { ...filterOf({ ...query, hash: txHash }), ...scope }
    const view = { ...query, sponsorCurrency, apiKeyId: apiKey?.keyId }
    const { requests, continuation } = await listed(filter, query, request)
    return {
      requests: requests.map((one) => requestToV3(registry, one, view)),
      ...(continuation !== undefined && { continuation }),
    }
  })

  const v2 = {
    operationId: 'findRequests',
    tags: ['history'],
    errors: mergeErrors(databaseErrors, keylessErrors, { 400: ['INVALID_CURSOR'] }),
    summary: 'Look requests up by id, order id, transaction hash, deposit address or user',
    deprecated: true,
    querystring: z.object(requestsQueryFields),
    response: { 200: requestsV2Schema, ...errorResponses },
  }
  const deprecation = { sinceUnixSeconds: deprecatedSinceUnixSeconds, successor: '/requests/v3' }
  app.get('/requests/v2', { schema: v2, config: { ...config, deprecation } }, async (request) => {
    const { query, apiKey } = request
    const { user } = query
    const isNamed = namesRequests(query)
    if (!isNamed && user === undefined) throw unnamed()
    const scope = await scopeOfRequests({ sponsors, history }, apiKey, { isNamed, user, ofWallet: true })
    const view = { ...query, sponsorCurrency, apiKeyId: apiKey?.keyId }
    const { requests, continuation } = await listed({ ...filterOf(query), ...scope }, query, request)
    return {
      requests: requests.map((one) => requestToV2(registry, one, view)),
      ...(continuation !== undefined && { continuation }),
    }
  })
}

function namesRequests({ id, orderId, hash, depositAddress }: RequestsQuery): boolean {
  return id !== undefined || orderId !== undefined || hash !== undefined || depositAddress !== undefined
}

/** Nobody lists the requests of others. */
function unnamed(): QuoteError {
  return new QuoteError('INVALID_REQUEST', 'Name one of id, orderId, hash, depositAddress or user.', {
    data: { field: 'id' },
  })
}

function filterOf(query: RequestsQuery): RequestFilter {
  const { hash, startTimestamp, endTimestamp, ...filter } = query
  const { id, orderId, user, recipient, status, originChainId, destinationChainId, depositAddress } = filter
  return {
    id,
    orderId,
    user,
    recipient,
    status,
    originChainId,
    destinationChainId,
    depositAddress,
    txHash: hash,
    startSeconds: startTimestamp,
    endSeconds: endTimestamp,
  }
}

/** What is read is signed, where the key of its order is there; a key that fails keeps nothing from being read. */
async function signed(signatures: OrderSignatures, record: RequestRecord): Promise<RequestRecord> {
  const { order, orderId } = record
  if (order === undefined || orderId === undefined) return record
  const orderSignature = await signatures.of({ ...record, order, orderId }).catch(() => undefined)
  return { ...record, orderSignature }
}

type PageQuery = Pick<RequestsQuery, 'limit' | 'continuation' | 'sortDirection'>

/** @throws InvalidCursorError */
function pageOf({ limit, continuation, sortDirection }: PageQuery): Page {
  return {
    limit,
    direction: sortDirection,
    after: continuation === undefined ? undefined : decodeCursor(continuation),
  }
}
