import { anyCaseHex32Pattern, type Hex } from '@causeway/core'
import { z } from 'zod'
import { requestStatuses } from '../../requests/status/requestProgress.ts'

/** 32 bytes; digits of any case, read as lower case. */
export const id32Text = z
  .string()
  .regex(anyCaseHex32Pattern, 'must be 0x and 64 hex digits')
  // CAST: the pattern admits nothing else.
  .transform((text) => text.toLowerCase() as Hex)

/** Printable ASCII: what no family's address or hash goes beyond, and no database refuses. */
export const lookupText = z
  .string()
  .max(128)
  .regex(/^[\x21-\x7e]+$/, 'must be printable characters without spaces')

export const cursorText = z
  .string()
  .max(64)
  .regex(/^[\w-]+$/, 'must be the continuation of an answer')
  .describe('`continuation` of the page before')

/** @param defaultLimit of a page, and the most that may be asked for */
export function pageLimit(defaultLimit: number, max: number) {
  return z.coerce.number().int().min(1).max(max).default(defaultLimit)
}

export const chainIdText = z.coerce.number().int().positive()
/** Until the year 9999. */
export const unixSeconds = z.coerce.number().int().min(0).max(253_402_300_799)
const flag = z.enum(['true', 'false']).transform((value) => value === 'true')

const requestLimit = 20
const requestLimitMax = 50

/** Filters of both request lists; other members are stripped. @source quote-api.md 3.4 */
export const requestsQueryFields = {
  id: id32Text.optional().describe('Request id'),
  orderId: id32Text.optional(),
  user: lookupText.optional(),
  recipient: lookupText.optional(),
  status: z.enum(requestStatuses).optional(),
  originChainId: chainIdText.optional(),
  destinationChainId: chainIdText.optional(),
  hash: lookupText.optional().describe('Hash of any transaction of the request'),
  depositAddress: lookupText.optional(),
  startTimestamp: unixSeconds.optional().describe('Unix seconds, included'),
  endTimestamp: unixSeconds.optional().describe('Unix seconds, included'),
  sortDirection: z.enum(['asc', 'desc']).default('desc'),
  includeOrderData: flag.default(false),
  limit: pageLimit(requestLimit, requestLimitMax),
  continuation: cursorText.optional(),
}

const requestsQuerySchema = z.object(requestsQueryFields)
export type RequestsQuery = z.output<typeof requestsQuerySchema>

/** Of which days a statement is, and by what its movements are summed; read by `statementPeriod` and `statementGroupsOf`. */
export const statementQueryFields = {
  month: z.string().optional().describe('`2026-10`, or `from` and `to`'),
  from: z.string().optional().describe('`2026-10-01`, UTC'),
  to: z.string().optional().describe('The last day; default today'),
  groupBy: z.string().optional().describe('Of day, user, route, key, request; default day'),
}
