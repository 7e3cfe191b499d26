import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { QuoteError } from '../../pricing/errors.ts'
import type { DepositAddressLookup } from '../../requests/depositAddresses/addressLookup.ts'
import type { Reindex } from '../../requests/depositAddresses/arrivals/reindex.ts'
import { requireKey } from '../../requests/history/historyAccess.ts'
import { databaseErrors, mergeErrors } from '../routeErrors.ts'
import { id32Text, lookupText } from '../wire/historyQuery.ts'

const lookupSchema = {
  operationId: 'getDepositAddress',
  tags: ['history'],
  summary: 'Look a deposit address up that your key had quoted',
  security: [{ apiKey: [] }],
  errors: mergeErrors(databaseErrors, { 404: ['DEPOSIT_ADDRESS_NOT_FOUND'] }),
  querystring: z.object({
    address: lookupText.optional().describe('Give this or requestId'),
    requestId: id32Text.optional().describe('Any request of the address'),
  }),
  response: {
    200: z.object({
      depositAddress: z.string(),
      // `strict`: the quote asked for an address of one use (`strict` of POST /quote).
      type: z.enum(['open', 'strict']),
      requestId: z.string().describe('The request that it was made for'),
      chainId: z.int(),
      createdAt: z.iso.datetime(),
      currency: z.string().describe('What is to be paid'),
      refundTo: z.string().describe('Who gets back what cannot be filled'),
    }),
    ...errorResponses,
  },
}

const reindexSchema = {
  operationId: 'reindexDepositAddress',
  tags: ['status'],
  summary: 'Look at a deposit address now',
  errors: mergeErrors(databaseErrors, {
    400: ['UNSUPPORTED_CURRENCY'],
    404: ['DEPOSIT_ADDRESS_NOT_FOUND'],
    429: ['REINDEXED_TOO_RECENTLY'],
  }),
  body: z.object({
    chainId: z.int().positive().describe('Of the quote'),
    depositAddress: lookupText,
    targetChainId: z.int().positive().optional().describe('No other chain is watched'),
    currency: lookupText.optional().describe('Tells of this one alone'),
    sweep: z.literal(false).optional().describe('Deprecated: what can be swept is'),
  }),
  response: {
    200: z.object({
      message: z.string(),
      triggeredCurrencies: z.array(
        z.object({
          currency: z.string(),
          symbol: z.string(),
          balance: z.string().describe('Smallest units'),
        }),
      ),
      checkedCurrencies: z.int(),
      failedCurrencies: z.int().describe('Always 0: endpoints agree on all or on nothing'),
    }),
    ...errorResponses,
  },
}

/**
 * GET /deposit-addresses/v1: what a deposit address of the caller's key was made for.
 * POST /transactions/deposit-address/reindex: look at a deposit address now.
 * @source rule Q-214
 */
export function registerDepositAddresses(
  app: HttpApp,
  { addressLookup, reindex }: { addressLookup: DepositAddressLookup; reindex: Reindex },
): void {
  app.get('/deposit-addresses/v1', { schema: lookupSchema }, async ({ query, apiKey }) => {
    const keyId = requireKey(apiKey)
    const { createdAt, isStrict, ...record } = await addressLookup.find(lookupKeyOf(query), keyId)
    const type = isStrict ? ('strict' as const) : ('open' as const)
    return { ...record, type, createdAt: createdAt.toISOString() }
  })
  app.post('/transactions/deposit-address/reindex', { schema: reindexSchema }, async ({ body }) => {
    const { chainId, targetChainId = chainId } = body
    if (targetChainId !== chainId) {
      throw new QuoteError(
        'INVALID_REQUEST',
        'An address is watched on its own chain; what lies at it on another one is withdrawn by its depositor.',
        { data: { field: 'targetChainId' } },
      )
    }
    const { triggered, checkedCount } = await reindex(body)
    return {
      message: triggered.length > 0 ? 'What lies there is looked at now.' : 'Nothing lies there.',
      triggeredCurrencies: triggered.map(({ balance, ...currency }) => ({
        ...currency,
        balance: balance.toString(),
      })),
      checkedCurrencies: checkedCount,
      failedCurrencies: 0,
    }
  })
}

/** The address or the request id, whichever the query names. @throws QuoteError INVALID_REQUEST */
function lookupKeyOf({
  address,
  requestId,
}: {
  address?: string | undefined
  requestId?: `0x${string}` | undefined
}) {
  if (address !== undefined && requestId === undefined) return { address }
  if (requestId !== undefined && address === undefined) return { requestId }
  throw new QuoteError('INVALID_REQUEST', 'Name either address or requestId.', { data: { field: 'address' } })
}
