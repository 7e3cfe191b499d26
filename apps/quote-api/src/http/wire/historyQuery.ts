import { anyCaseHex32Pattern, type Hex } from '@causeway/core'
import { z } from 'zod'
import { QuoteError } from '../../pricing/errors.ts'
import { type RequestType, requestTypes, sortKeys } from '../../requests/history/requestFilter.ts'
import { requestStatuses } from '../../requests/status/requestProgress.ts'

/** 32 bytes; digits of any case, read as lower case. */
export const id32Text = z
  .string()
  .regex(anyCaseHex32Pattern, 'must be 0x and 64 hex digits')
  // CAST: the pattern admits nothing else.
  .transform((text) => text.toLowerCase() as Hex)

/** An address, hash or id to look up. Printable ASCII covers those of all families, and the database accepts it. */
export const lookupText = z
  .string()
  .max(128)
  .regex(/^[\x21-\x7e]+$/, 'must be printable characters without spaces')

export const cursorText = z
  .string()
  .max(64)
  .regex(/^[\w-]+$/, 'must be the continuation of an answer')
  .describe('`continuation` of the page before')

/** Entries of a page: the default, and the most that may be asked for. */
export function pageLimit(defaultLimit: number, max: number) {
  return z.coerce.number().int().min(1).max(max).default(defaultLimit)
}

export const chainIdText = z.coerce.number().int().positive()
/** Seconds up to the year 9999. */
export const unixSeconds = z.coerce.number().int().min(0).max(253_402_300_799)
const flag = z.enum(['true', 'false']).transform((value) => value === 'true')

const requestLimit = 20
const requestLimitMax = 50

/** By lower-case name, because the query may use either case. */
const requestTypeOf: ReadonlyMap<string, RequestType> = new Map(
  requestTypes.map((type) => [type.toLowerCase(), type]),
)
const requestType = z
  .string()
  .transform((text) => requestTypeOf.get(text.toLowerCase()))
  .refine((type) => type !== undefined, `must be one of ${requestTypes.join(', ')}`)

/** Query of /requests/v2. @source Q-76 */
export const requestsV2Fields = {
  id: id32Text.optional().describe('Request id'),
  orderId: id32Text.optional(),
  user: lookupText.optional(),
  recipient: lookupText.optional(),
  status: z.enum(requestStatuses).optional(),
  originChainId: chainIdText.optional(),
  destinationChainId: chainIdText.optional(),
  chainId: chainIdText.optional().describe('Origin or destination'),
  hash: lookupText.optional().describe('Of any transaction of the request'),
  depositAddress: lookupText.optional(),
  referrer: z.string().max(256).optional().describe('Needs the key'),
  startTimestamp: unixSeconds.optional().describe('Unix seconds, included'),
  endTimestamp: unixSeconds.optional().describe('Unix seconds, included'),
  sortBy: z.enum(sortKeys).default('createdAt'),
  sortDirection: z.enum(['asc', 'desc']).default('desc'),
  includeOrderData: flag.default(false),
  includeAuthenticatedData: flag.optional(),
  includeChildRequests: flag.optional().describe('No effect'),
  limit: pageLimit(requestLimit, requestLimitMax),
  continuation: cursorText.optional(),
}

/** Query of /requests/v3. @source Q-76 */
export const requestsV3Fields = {
  ...requestsV2Fields,
  txHash: lookupText.optional(),
  depositTxHash: lookupText.optional(),
  fillTxHash: lookupText.optional(),
  refundTxHash: lookupText.optional(),
  term: lookupText.optional().describe('Id, user, deposit address or transaction hash'),
  requestType: requestType.optional(),
  failReason: z
    .string()
    .regex(/^[A-Z0-9_]{1,64}$/, 'must be a reason, in capitals')
    .optional()
    .describe('Of requests that failed or were refunded'),
  includeTotal: flag.default(false),
}

const ownKey = 'requests are those of the key that x-api-key names'
const addresses = 'send originChainId or destinationChainId, and compare data.metadata of the answer'
const amounts =
  'amounts are worth what their prices say when they are read; compare data.metadata of the answer'

/** Parameters of the public interface that these lists refuse, with the reason. @source Q-76 */
export const refusedParameters: Readonly<Record<string, string>> = {
  privateChainsToInclude: 'there are no private chains',
  apiKey: ownKey,
  apiKeyName: ownKey,
  refundFailReason: 'it is worked out when a request is read',
  currencyInChainId: 'send originChainId',
  currencyOutChainId: 'send destinationChainId',
  currencyInAddress: addresses,
  currencyOutAddress: addresses,
  currencyInSymbol: addresses,
  currencyOutSymbol: addresses,
  startBlock: 'send startTimestamp',
  endBlock: 'send endTimestamp',
  amountUsdMin: amounts,
  amountUsdMax: amounts,
  appFeesAmountUsdMin: amounts,
  appFeesAmountUsdMax: amounts,
  fillTimeMin: 'compare the times of data.inTxs and data.outTxs',
  fillTimeMax: 'compare the times of data.inTxs and data.outTxs',
  features: 'compare features of the answer',
  filters: 'send each filter as a parameter; negations and alternatives are not offered',
}

/**
 * Refuses parameters that `fields` does not have: an ignored filter would answer requests that nobody asked for.
 * @source Q-76
 * @throws QuoteError INVALID_REQUEST that names the first parameter that is not honoured
 */
export function refuseParameters(query: object, fields: object): void {
  for (const field of Object.keys(query)) {
    if (Object.hasOwn(fields, field)) continue
    const reason = Object.hasOwn(refusedParameters, field) ? refusedParameters[field] : 'no list here has it'
    // The name is the caller's text and may be long: the message repeats its beginning alone.
    const name = field.slice(0, 64)
    throw new QuoteError('INVALID_REQUEST', `${name} cannot be honoured: ${reason}. Leave it out.`, {
      data: { field: name },
    })
  }
}

const requestsQuerySchema = z.object({ ...requestsV2Fields, ...requestsV3Fields })
/** Query of either list; members that only v3 has are absent in v2. */
export type RequestsQuery = Partial<z.output<typeof requestsQuerySchema>> & PageQuery
type PageQuery = Pick<
  z.output<typeof requestsQuerySchema>,
  'limit' | 'continuation' | 'sortBy' | 'sortDirection' | 'includeOrderData'
>

/** Period and grouping of a statement; read by `statementPeriod` and `statementGroupsOf`. */
export const statementQueryFields = {
  month: z.string().optional().describe('`2026-10`, or `from` and `to`'),
  from: z.string().optional().describe('`2026-10-01`, UTC'),
  to: z.string().optional().describe('The last day; default today'),
  groupBy: z.string().optional().describe('Of day, user, route, key, request; default day'),
}
