import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'

const chainId = z.coerce.number().int().positive().describe('A number or its text')
const hash = z.string().min(1).max(256)
const transactionTextMax = 131_072
const done = z.object({ message: z.string() })

/** What the hints are handed to. Cheap, and never waited for. */
export type DepositHints = { readonly hint: (chainId: number) => void }

/**
 * POST /transactions/index and /transactions/single: a client tells that it sent something. Only hints:
 * deposits are found on their chains without them, and nothing is believed.
 * @source quote-api.md 3.5
 */
export function registerTransactions(app: HttpApp, { hint }: DepositHints): void {
  const config = { rateLimitClass: 'status' }
  const response = { 200: done, ...errorResponses }
  const index = {
    tags: ['status'],
    summary: 'Hint that a transaction was sent',
    body: z.object({ chainId, txHash: hash, requestId: z.string().max(256).optional() }),
    response,
  }
  app.post('/transactions/index', { schema: index, config }, async ({ body }) => {
    hint(body.chainId)
    return { message: 'Success' }
  })
  const single = {
    tags: ['status'],
    summary: 'Hint that a transaction of a request was sent',
    body: z.object({ requestId: z.string().max(256), chainId, tx: z.string().max(transactionTextMax) }),
    response,
  }
  app.post('/transactions/single', { schema: single, config }, async ({ body }) => {
    hint(body.chainId)
    return { message: 'Success' }
  })
}
