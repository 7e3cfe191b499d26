import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { adminActor } from '../../access/adminActor.ts'
import { operatorReason } from '../../access/operatorReason.ts'
import type { ClaimAdministration } from '../../operate/admin/claimAdministration.ts'
import { id32 } from '../wire/id32.ts'
import { adminOperation } from './adminOperation.ts'

const limitMax = 1_000

const pendingSchema = z.object({
  claimId: z.string(),
  wallet: z.string(),
  recipient: z.string(),
  chainId: z.int(),
  currency: z.string(),
  amount: z.string(),
  createdAt: z.iso.datetime(),
})

/** `/admin/app-fee-claims`: claims that wait for their payout. */
export function registerClaimRoutes(app: HttpApp, claims: ClaimAdministration): void {
  const list = {
    ...adminOperation('claims pending', 'List claims of app fees that wait for their payout, longest first'),
    querystring: z.object({ limit: z.coerce.number().int().min(1).max(limitMax).default(limitMax) }),
    response: { 200: z.object({ claims: z.array(pendingSchema) }), ...errorResponses },
  }
  app.get('/admin/app-fee-claims/pending', { schema: list }, async ({ query }) => ({
    claims: (await claims.pending(query)).map(({ asset, amount, createdAt, ...claim }) => ({
      ...claim,
      chainId: asset.chainId,
      currency: asset.address,
      amount: amount.toString(),
      createdAt: createdAt.toISOString(),
    })),
  }))

  const end = {
    ...adminOperation(
      'claims end',
      'End a claim that nothing moves on: paid by its reported transaction, or failed (claimable again)',
      { 409: ['APP_FEE_CLAIM_NOT_PENDING'] },
    ),
    params: z.object({ id: id32 }),
    body: z.object({ ending: z.enum(['paid', 'failed']), reason: operatorReason }),
    response: { 200: z.object({ claimId: z.string(), ending: z.string() }), ...errorResponses },
  }
  app.post('/admin/app-fee-claims/:id/end', { schema: end }, async ({ params: { id }, body }) => {
    const { ending, reason } = body
    await claims.end(id, ending, { actor: adminActor, reason })
    return { claimId: id, ending }
  })
}
