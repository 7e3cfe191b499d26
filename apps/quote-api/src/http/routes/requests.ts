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

/** 2026-07-22: since then the public interface calls /requests/v2 deprecated. */
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
 * @source rule Q-101
 */
export function registerRequests(app: HttpApp, dependencies: Dependencies): void {
  registerV3(app, dependencies)
  registerV2(app, dependencies)
}

const config = { rateLimitClass: 'read' }

function registerV3(app: HttpApp, dependencies: Dependencies): void {
  const { registry, history, sponsorCurrency } = dependencies
  const preValidation = refuseUnknown(requestsV3Fields)
  app.get('/requests/v3', { schema: v3, config, preValidation }, async (request) => {
    const { apiKey, query } = request
    const isNamed = query.id !== undefined || query.depositAddress !== undefined
    const filter = await buildFilter(dependencies, query, apiKey, { isNamed, ofWallet: false })
    const view = { ...query, sponsorCurrency, apiKeyId: apiKey?.keyId }
    // Counts the requests of all pages. Of the page, only `sortBy` matters: filters by time mean that time.
    const total = query.includeTotal ? await history.count(filter, pageOf(query)) : undefined
    const { requests, continuation } = await listPage(dependencies, filter, query, request)
    return {
      ...(total !== undefined && {
        total: Math.min(total, totalMax),
        totalRelation: total > totalMax ? ('gte' as const) : ('eq' as const),
      }),
      requests: requests.map((record) => requestToV3(registry, record, view)),
      ...(continuation !== undefined && { continuation }),
    }
  })
}

function registerV2(app: HttpApp, dependencies: Dependencies): void {
  const { registry, sponsorCurrency } = dependencies
  const deprecation = { sinceUnixSeconds: deprecatedSinceUnixSeconds, successor: '/requests/v3' }
  const options = { config: { ...config, deprecation }, preValidation: refuseUnknown(requestsV2Fields) }
  // `/requests` is the older name, which OpenAPI does not show. @source Q-111
  for (const [url, hide] of [
    ['/requests/v2', false],
    ['/requests', true],
  ] as const)
    app.get(url, { schema: { ...v2, hide }, ...options }, async (request) => {
      const { query, apiKey } = request
      const isNamed = namesRequests(query)
      // Without a filter a caller would list the requests of others.
      if (!isNamed && query.user === undefined) throw missingFilterError()
      const filter = await buildFilter(dependencies, query, apiKey, { isNamed, ofWallet: true })
      const view = { ...query, sponsorCurrency, apiKeyId: apiKey?.keyId }
      const { requests, continuation } = await listPage(dependencies, filter, query, request)
      return {
        requests: requests.map((record) => requestToV2(registry, record, view)),
        ...(continuation !== undefined && { continuation }),
      }
    })
}

/** Joins the query's filters with those that `scopeOfRequests` adds. @throws QuoteError UNAUTHORIZED */
async function buildFilter(
  dependencies: Pick<Dependencies, 'sponsors' | 'history'>,
  query: RequestsQuery,
  caller: Caller,
  scope: {
    /** The query names single requests, which anybody may see who can name them. */
    readonly isNamed: boolean
    /** True: if `user` is the caller's wallet, lists its requests of every key, not of the caller's alone. */
    readonly ofWallet: boolean
  },
): Promise<RequestFilter> {
  const question = { ...scope, user: query.user, asksForOwners: asksForOwners(query) }
  return { ...filterOf(query), ...(await scopeOfRequests(dependencies, caller, question)) }
}

/** Reads a page, with signatures of orders if the query asks for orders. New signatures use up a keyless caller's budget. */
async function listPage(
  { history, signatures, signatureBudget }: Dependencies,
  filter: RequestFilter,
  query: RequestsQuery,
  httpRequest: Parameters<typeof callerOf>[0],
) {
  const page = await history.list(filter, pageOf(query))
  if (!query.includeOrderData) return page
  const isKeyless = httpRequest.apiKey === null
  for (const { order, orderSignature } of page.requests) {
    const needsSignature = order !== undefined && orderSignature === undefined
    if (isKeyless && needsSignature) await signatureBudget.take([callerOf(httpRequest)])
  }
  const requests = await Promise.all(page.requests.map((record) => addSignature(signatures, record)))
  return { ...page, requests }
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

/** True if the query filters by, or asks for, what only a request's owner may see. Even a filter would reveal it. */
function asksForOwners({ referrer, includeAuthenticatedData }: RequestsQuery): boolean {
  return referrer !== undefined || includeAuthenticatedData === true
}

/** The filters of the query alone. Members that neither list filters by, such as `limit`, are left out. */
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
