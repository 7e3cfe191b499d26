import { errorResponses, type HttpApp, unauthorized } from '@causeway/http'
import { z } from 'zod'
import type { WalletLinking } from '../../access/wallets/walletLinking.ts'
import { databaseErrors, mergeErrors } from '../routeErrors.ts'
import { parseWallet, signatureText, walletText } from '../wire/walletText.ts'

/** POST /sponsorship/wallets/link: makes a wallet the sponsor of the caller's key. @source quote-api.md 7 */
export function registerWalletLink(app: HttpApp, { linking }: { linking: WalletLinking }): void {
  const schema = {
    operationId: 'linkWallet',
    tags: ['sponsorship'],
    security: [{ apiKey: [] }],
    errors: mergeErrors(databaseErrors, {
      400: ['INVALID_NONCE', 'INVALID_SIGNATURE'],
      503: ['RPC_HTTP_ERROR', 'UPSTREAM_DISAGREEMENT'],
    }),
    summary: 'Link a sponsorship wallet to your key by its signature',
    body: z.object({
      wallet: walletText,
      nonce: z.string().min(1).max(64).describe('Of the challenge; used up by this call'),
      signature: signatureText,
    }),
    response: {
      200: z.object({
        wallet: z.string().describe('Lower case'),
        apiKeyId: z.string().describe('Public id of your key'),
      }),
      ...errorResponses,
    },
  }
  app.post('/sponsorship/wallets/link', { schema }, async ({ body, apiKey }) => {
    if (apiKey === null) throw unauthorized()
    const { nonce, signature } = body
    const wallet = parseWallet(body.wallet)
    await linking.link({ apiKeyId: apiKey.keyId, wallet, nonce, signature })
    return { wallet, apiKeyId: apiKey.keyId }
  })
}
