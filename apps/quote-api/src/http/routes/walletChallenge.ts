import { errorResponses, type HttpApp, unauthorized } from '@causeway/http'
import { z } from 'zod'
import type { WalletLinking } from '../../access/wallets/walletLinking.ts'
import { databaseErrors } from '../routeErrors.ts'
import { parseWallet, walletText } from '../wire/walletText.ts'

/** POST /sponsorship/wallets/challenge: the text that a wallet signs to be linked. @source quote-api.md 7 */
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
