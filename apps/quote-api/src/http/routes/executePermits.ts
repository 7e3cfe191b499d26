import { permitKinds } from '@causeway/families/rules'
import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import type { TakeSignature } from '../../requests/permits/takePermit.ts'
import { databaseErrors, mergeErrors } from '../routeErrors.ts'
import { id32 } from '../wire/id32.ts'
import { signatureText } from '../wire/walletText.ts'

/** Kinds of signature: deposits by permit, and claims of app fees, for which `request` is an older name. */
const signedKinds = [...permitKinds, 'claim', 'request'] as const
type SignedKind = (typeof signedKinds)[number]

type Dependencies = { readonly takeSignature: Readonly<Record<SignedKind, TakeSignature>> }

/**
 * POST /execute/permits: takes the signature of a signature step, which comes in the query.
 * @source rule Q-193
 */
export function registerExecutePermits(app: HttpApp, { takeSignature }: Dependencies): void {
  const schema = {
    operationId: 'executePermit',
    tags: ['execution'],
    errors: mergeErrors(databaseErrors, {
      400: ['INVALID_SIGNATURE', 'PERMIT_FAILED', 'SANCTIONED_WALLET_ADDRESS'],
      404: ['APP_FEE_CLAIM_NOT_FOUND', 'REQUEST_NOT_FOUND'],
      503: ['CHAIN_STOPPED', 'RPC_HTTP_ERROR', 'UPSTREAM_DISAGREEMENT'],
    }),
    summary: 'Send the signature of a signature step',
    querystring: z.object({ signature: signatureText }),
    body: z.object({
      kind: z.enum(signedKinds),
      requestId: id32.describe('Of the step'),
      // Clients send the body of the step back, which has `api`; nothing depends on it.
      api: z.string().max(64).optional(),
    }),
    response: { 200: z.object({ message: z.string() }), ...errorResponses },
  }
  app.post('/execute/permits', { schema, config: { rateLimitClass: 'quote' } }, async ({ query, body }) => {
    const { kind, requestId } = body
    await takeSignature[kind]({ requestId, signature: query.signature })
    return { message: 'Success' }
  })
}
