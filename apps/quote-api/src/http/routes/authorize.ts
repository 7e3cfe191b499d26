import type { Hex } from '@causeway/core'
import { callerOf, errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { QuoteError } from '../../pricing/errors.ts'
import type { MapNonce } from '../../requests/authorize/mapNonce.ts'
import { databaseErrors, keylessErrors, mergeErrors } from '../routeErrors.ts'
import { id32 } from '../wire/id32.ts'
import { parseWallet, signatureText, walletText } from '../wire/walletText.ts'

const chainNumber = z.number().int().positive().max(Number.MAX_SAFE_INTEGER)

const schema = {
  operationId: 'authorize',
  tags: ['execution'],
  errors: mergeErrors(databaseErrors, keylessErrors, {
    400: [
      'INSUFFICIENT_FUNDS',
      'INVALID_ADDRESS',
      'INVALID_SIGNATURE',
      'NONCE_MAPPED_BEFORE',
      'SANCTIONED_WALLET_ADDRESS',
      'UNSUPPORTED_CHAIN',
    ],
    404: ['REQUEST_NOT_FOUND'],
    503: ['CHAIN_STOPPED', 'RPC_HTTP_ERROR', 'UPSTREAM_DISAGREEMENT'],
  }),
  summary: 'Send the signature of an authorize step',
  querystring: z.object({
    signature: signatureText.describe('Of the wallet, over the typed data of the step'),
  }),
  body: z.object({
    type: z.literal('nonce-mapping'),
    walletChainId: chainNumber.describe('Chain of the transfer'),
    wallet: walletText.describe('Who makes the transfer'),
    depositor: walletText.describe('Whose deposit it is: the same'),
    nonce: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).describe('Of the transfer'),
    id: id32.describe('Order id'),
    signatureChainId: chainNumber.describe('Chain that the wallet was on when it signed'),
  }),
  response: { 200: z.object({ message: z.string() }), ...errorResponses },
}

/**
 * POST /authorize: takes the signature of an `authorize` step, which comes in the query. On chains whose transfers name no
 * order, it binds the user's transfer with one nonce to an order. @source rule F-153
 * @param options.mapNonce undefined where no quoted chain needs it
 */
export function registerAuthorize(
  app: HttpApp,
  { mapNonce }: { readonly mapNonce?: MapNonce | undefined },
): void {
  app.post('/authorize', { schema, config: { rateLimitClass: 'quote' } }, async (request) => {
    const { query, body, apiKey } = request
    const { walletChainId, wallet, depositor, nonce, id, signatureChainId } = body
    if (mapNonce === undefined) {
      const message = 'Transfers of all chains here name their orders themselves.'
      const data = { field: 'walletChainId', chainId: walletChainId }
      throw new QuoteError('UNSUPPORTED_CHAIN', message, { data })
    }
    await mapNonce({
      walletChainId,
      wallet: parseWallet(wallet),
      depositor: parseWallet(depositor, 'depositor'),
      nonce,
      id,
      signatureChainId,
      signature: query.signature.toLowerCase() as Hex, // CAST: the schema wants 0x and whole bytes.
      keylessCaller: apiKey === null ? callerOf(request) : undefined,
    })
    return { message: 'Success' }
  })
}
