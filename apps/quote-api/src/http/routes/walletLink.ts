import { errorResponses, type HttpApp, unauthorized } from '@causeway/http'
import { z } from 'zod'
import type { WalletLinking } from '../../access/wallets/walletLinking.ts'
import { databaseErrors, mergeErrors } from '../routeErrors.ts'
import { parseWallet, signatureText, walletText } from '../wire/walletText.ts'

/** POST /sponsorship/wallets/challenge: the text that a wallet signs to be linked. @source rule L-88 */
export function registerWalletChallenge(app: HttpApp, { linking }: { linking: WalletLinking }): void {
  const schema = {
    operationId: 'challengeWallet',
    tags: ['sponsorship'],
    security: [{ apiKey: [] }],
    errors: databaseErrors,
    summary: 'Ask for the message that links a sponsorship wallet to your key',
    body: z.object({ wallet: walletText }),
    response: {
      200: z.object({
        message: z.string().describe('EIP-4361 text; sign it unchanged with personal_sign'),
        nonce: z.string().describe('Good for one try'),
        expiresAt: z.int().describe('Unix seconds'),
      }),
      ...errorResponses,
    },
  }
  app.post('/sponsorship/wallets/challenge', { schema }, async ({ body, apiKey }) => {
    if (apiKey === null) throw unauthorized()
    const wallet = parseWallet(body.wallet)
    const { expiresAt, ...challenge } = await linking.challenge({ apiKeyId: apiKey.keyId, wallet })
    return { ...challenge, expiresAt: Math.floor(expiresAt.getTime() / 1_000) }
  })
}

/** POST /sponsorship/wallets/link: makes a wallet the sponsor of the caller's key. @source rule L-88 */
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
