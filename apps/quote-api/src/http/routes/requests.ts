import { callerOf, errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import type { KeylessBudget } from '../../access/keylessBudget.ts'
import type { Sponsors } from '../../access/wallets/sponsors.ts'
import { QuoteError } from '../../pricing/errors.ts'
import type { QuoteRegistry } from '../../pricing/registry.ts'
import type { SponsorCurrency } from '../../pricing/sponsorship/sponsorCurrency.ts'
import { decodeCursor } from '../../requests/history/cursor.ts'
import { type Caller, scopeOfRequests } from '../../requests/history/historyAccess.ts'
import type { Page, RequestFilter } from '../../requests/history/requestFilter.ts'
import { type RequestHistory, type RequestRecord, totalMax } from '../../requests/history/requestHistory.ts'
import type { OrderSignatures } from '../../requests/orders/orderSignatures.ts'
import { databaseErrors, keylessErrors, mergeErrors } from '../routeErrors.ts'
import {
  type RequestsQuery,
  refuseParameters,
  requestsV2Fields,
  requestsV3Fields,
} from '../wire/historyQuery.ts'
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

const v3 = {
  operationId: 'listRequests',
  tags: ['history'],
  errors: mergeErrors(databaseErrors, keylessErrors, { 400: ['INVALID_CURSOR'] }),
  summary:
    'Requests that were made with your key, or for anybody the request that id or depositAddress names',
  querystring: z.object(requestsV3Fields),
  response: { 200: requestsV3Schema, ...errorResponses },
}

const v2 = {
  operationId: 'findRequests',
  tags: ['history'],
  errors: mergeErrors(databaseErrors, keylessErrors, { 400: ['INVALID_CURSOR'] }),
  summary: 'Look requests up by id, order id, transaction hash, deposit address or user',
  deprecated: true,
  querystring: z.object(requestsV2Fields),
  response: { 200: requestsV2Schema, ...errorResponses },
}

/**
 * GET /requests/v3 lists the requests of the caller's key. Anybody may see the requests that `id` or `depositAddress`
 * names, without what only the owner is shown. GET /requests/v2 looks single requests up, for older clients.
 * @source quote-and-sponsorship.md, Request history; rule Q-101
 */
export function registerRequests(
  app: HttpApp,
  { registry, sponsors, history, sponsorCurrency, signatures, signatureBudget }: Dependencies,
): void {
  const listPage = async (
    filter: RequestFilter,
    query: RequestsQuery,
    httpRequest: Parameters<typeof callerOf>[0],
  ) => {
    const page = await history.list(filter, pageOf(query))
    if (!query.includeOrderData) return page
    const isKeyless = httpRequest.apiKey === null
    for (const { order, orderSignature } of page.requests) {
      const isUnsigned = order !== undefined && orderSignature === undefined
      if (isKeyless && isUnsigned) await signatureBudget.take([callerOf(httpRequest)])
    }
    const requests = await Promise.all(page.requests.map((record) => addSignature(signatures, record)))
    return { ...page, requests }
  }
  const buildFilter = async (
    query: RequestsQuery,
    caller: Caller,
    scope: { readonly isNamed: boolean; readonly ofWallet: boolean },
  ): Promise<RequestFilter> => {
    const scopeRequest = { ...scope, user: query.user, asksForOwners: asksForOwners(query) }
    return { ...filterOf(query), ...(await scopeOfRequests({ sponsors, history }, caller, scopeRequest)) }
  }
  const config = { rateLimitClass: 'read' }
  const v3Known = { preValidation: refuseUnknown(requestsV3Fields) }
  app.get('/requests/v3', { schema: v3, config, ...v3Known }, async (request) => {
    const { apiKey, query } = request
    const isNamed = query.id !== undefined || query.depositAddress !== undefined
    const filter = await buildFilter(query, apiKey, { isNamed, ofWallet: false })
    const view = { ...query, sponsorCurrency, apiKeyId: apiKey?.keyId }
    const total = query.includeTotal ? await history.count(filter, pageOf(query)) : undefined
    const { requests, continuation } = await listPage(filter, query, request)
    return {
      ...(total !== undefined && {
        total: Math.min(total, totalMax),
        totalRelation: total > totalMax ? ('gte' as const) : ('eq' as const),
      }),
      requests: requests.map((record) => requestToV3(registry, record, view)),
      ...(continuation !== undefined && { continuation }),
    }
  })

  const deprecation = { sinceUnixSeconds: deprecatedSinceUnixSeconds, successor: '/requests/v3' }
  const v2Known = { preValidation: refuseUnknown(requestsV2Fields) }
  const v2Options = { config: { ...config, deprecation }, ...v2Known }
  // `/requests` is the older name, which OpenAPI does not show. @source Q-111
  for (const [url, hide] of [
    ['/requests/v2', false],
    ['/requests', true],
  ] as const)
    app.get(url, { schema: { ...v2, hide }, ...v2Options }, async (request) => {
      const { query, apiKey } = request
      const { user } = query
      // Without a filter a caller would list the requests of others.
      if (!namesRequests(query) && user === undefined) throw missingFilterError()
      const filter = await buildFilter(query, apiKey, { isNamed: namesRequests(query), ofWallet: true })
      const view = { ...query, sponsorCurrency, apiKeyId: apiKey?.keyId }
      const { requests, continuation } = await listPage(filter, query, request)
      return {
        requests: requests.map((record) => requestToV2(registry, record, view)),
        ...(continuation !== undefined && { continuation }),
      }
    })
}

function namesRequests({ id, orderId, hash, depositAddress }: RequestsQuery): boolean {
  return id !== undefined || orderId !== undefined || hash !== undefined || depositAddress !== undefined
}

function missingFilterError(): QuoteError {
  return new QuoteError('INVALID_REQUEST', 'Name one of id, orderId, hash, depositAddress or user.', {
    data: { field: 'id' },
  })
}

/** Refuses unknown parameters. Runs before validation, which drops what the schema does not have. */
function refuseUnknown(fields: object) {
  return async ({ query }: { readonly query: unknown }): Promise<void> =>
    refuseParameters(query ?? {}, fields)
}

/** Whether the query filters by, or asks for, what only a request's owner may see. Even a filter would reveal it. */
function asksForOwners({ referrer, includeAuthenticatedData }: RequestsQuery): boolean {
  return referrer !== undefined || includeAuthenticatedData === true
}

function filterOf(query: RequestsQuery): RequestFilter {
  const { id, orderId, user, recipient, term, status, failReason, requestType, referrer } = query
  const { chainId, originChainId, destinationChainId, depositAddress } = query
  const { hash, txHash, depositTxHash, fillTxHash, refundTxHash } = query
  return {
    id,
    orderId,
    user,
    recipient,
    term,
    status,
    failReason,
    requestType,
    referrer,
    chainId,
    originChainId,
    destinationChainId,
    depositAddress,
    hash,
    txHash,
    depositTxHash,
    fillTxHash,
    refundTxHash,
    startSeconds: query.startTimestamp,
    endSeconds: query.endTimestamp,
  }
}

/** Adds the signature of the record's order, if it has one. If signing fails, the record is answered without it. */
async function addSignature(signatures: OrderSignatures, record: RequestRecord): Promise<RequestRecord> {
  const { order, orderId } = record
  if (order === undefined || orderId === undefined) return record
  const orderSignature = await signatures.of({ ...record, order, orderId }).catch(() => undefined)
  return { ...record, orderSignature }
}

/** @throws InvalidCursorError */
function pageOf({ limit, continuation, sortBy, sortDirection }: RequestsQuery): Page {
  return {
    limit,
    sortBy,
    direction: sortDirection,
    after: continuation === undefined ? undefined : decodeCursor(continuation, sortBy),
  }
}
