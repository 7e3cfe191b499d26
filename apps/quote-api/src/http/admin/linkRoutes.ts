import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { adminActor } from '../../access/adminActor.ts'
import { keyIdText } from '../../access/keys/keyFields.ts'
import type { WalletLinking } from '../../access/wallets/walletLinking.ts'
import { parseWallet, signatureText, walletText } from '../wire/walletText.ts'

const params = z.object({ id: keyIdText })
/** The OpenAPI description leaves these routes out, since it lists what commands do. */
const hide = true
const text = z.string()

/**
 * `/admin/keys/{id}/link…`, for the console: the text that a wallet's owner signs so that the wallet pays for a key, and
 * the link itself. The command line has no such command, because it cannot ask a wallet for a signature.
 */
export function registerLinkRoutes(app: HttpApp, linking: WalletLinking): void {
  const challenge = {
    hide,
    params,
    body: z.object({ wallet: walletText }),
    response: { 200: z.object({ message: text, nonce: text, expiresAt: text }), ...errorResponses },
  }
  app.post('/admin/keys/:id/link-text', { schema: challenge }, async ({ params: { id }, body }) => {
    const { expiresAt, ...linkText } = await linking.challenge({
      apiKeyId: id,
      wallet: parseWallet(body.wallet),
    })
    return { ...linkText, expiresAt: expiresAt.toISOString() }
  })

  const link = {
    hide,
    params,
    body: z.object({ wallet: walletText, nonce: z.string().min(1).max(64), signature: signatureText }),
    response: { 200: z.object({ id: text, wallet: text }), ...errorResponses },
  }
  app.post('/admin/keys/:id/link-wallet', { schema: link }, async ({ params: { id }, body }) => {
    const { nonce, signature } = body
    const wallet = parseWallet(body.wallet)
    await linking.link({ apiKeyId: id, wallet, nonce, signature, actor: adminActor })
    return { id, wallet }
  })
}
