import { errorResponses, type HttpApp } from '@causeway/http'
import type { MarketSnapshot } from '@causeway/market'
import { z } from 'zod'
import type { QuoteRegistry } from '../../pricing/registry.ts'
import { decodeSequence, encodeSequence } from '../../requests/history/cursor.ts'
import type { MoneyHistory } from '../../requests/history/moneyHistory.ts'
import { databaseErrors, mergeErrors } from '../routeErrors.ts'
import { appFeeAmountSchema, appFeeAmountToWire } from '../wire/appFeeAmount.ts'
import { cursorText, pageLimit } from '../wire/historyQuery.ts'
import { parseWallet, walletText } from '../wire/walletText.ts'

type Dependencies = {
  readonly moneyHistory: MoneyHistory
  readonly registry: QuoteRegistry
  readonly snapshot: () => MarketSnapshot
}

const claimLimit = 20
const claimLimitMax = 50
const config = { rateLimitClass: 'read' }
const params = z.object({ wallet: walletText })

const claims = {
  operationId: 'listAppFeeClaims',
  tags: ['app fees'],
  errors: mergeErrors(databaseErrors, { 400: ['INVALID_CURSOR'] }),
  summary: 'Claims of app fees, newest first',
  params,
  querystring: z.object({
    limit: pageLimit(claimLimit, claimLimitMax),
    continuation: cursorText.optional(),
  }),
  response: {
    200: z.object({
      claims: z.array(
        z.object({
          claimId: z.string(),
          wallet: z.string(),
          recipient: z.string(),
          currency: appFeeAmountSchema,
          txHash: z.string().nullable(),
          status: z.enum(['pending', 'paid', 'failed']),
          createdAt: z.string(),
        }),
      ),
      continuation: z.string().optional().describe('Send it back for the next page; absent on the last'),
    }),
    ...errorResponses,
  },
}

const claimable = {
  operationId: 'listClaimableAppFees',
  tags: ['app fees'],
  errors: databaseErrors,
  summary: 'App fees that can be claimed, per currency',
  params,
  response: {
    200: z.object({ wallet: z.string(), balances: z.array(appFeeAmountSchema) }),
    ...errorResponses,
  },
}

/**
 * GET /app-fees/{wallet}/claims and /claimable: what app fees a wallet claimed, and what it can claim.
 * @source rules L-77, Q-fees-05
 */
export function registerAppFees(app: HttpApp, { moneyHistory, registry, snapshot }: Dependencies): void {
  app.get('/app-fees/:wallet/claims', { schema: claims, config }, async ({ params: { wallet }, query }) => {
    const { limit, continuation } = query
    const page = await moneyHistory.claims({
      wallet: parseWallet(wallet),
      limit,
      ...(continuation !== undefined && { cursor: decodeSequence(continuation) }),
    })
    const pricing = { registry, snapshot: snapshot() }
    return {
      claims: page.claims.map(({ asset, amount, transactionHash, createdAt, ...claim }) => ({
        ...claim,
        currency: appFeeAmountToWire(pricing, asset, amount),
        txHash: transactionHash ?? null,
        createdAt: createdAt.toISOString(),
      })),
      ...(page.cursor !== undefined && { continuation: encodeSequence(page.cursor) }),
    }
  })
  app.get('/app-fees/:wallet/claimable', { schema: claimable, config }, async ({ params: { wallet } }) => {
    const owner = parseWallet(wallet)
    const pricing = { registry, snapshot: snapshot() }
    const balances = await moneyHistory.claimable(owner)
    return {
      wallet: owner,
      balances: balances.map(({ asset, amount }) => appFeeAmountToWire(pricing, asset, amount)),
    }
  })
}
