import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { adminActor } from '../../access/adminActor.ts'
import { keyIdText } from '../../access/keys/keyFields.ts'
import type { WalletAdministration } from '../../access/wallets/walletAdministration.ts'

const linkedSchema = z.object({
  wallet: z.string().describe('Lower case'),
  keys: z.array(z.object({ id: z.string(), label: z.string(), linkedAt: z.iso.datetime() })),
})

/** `/admin/wallets`: which wallet sponsors which keys, and how a key loses its wallet. */
export function registerWalletRoutes(app: HttpApp, wallets: WalletAdministration): void {
  const list = { response: { 200: z.object({ wallets: z.array(linkedSchema) }), ...errorResponses } }
  app.get('/admin/wallets', { schema: list }, async () => {
    const linked = await wallets.list()
    return {
      wallets: linked.map(({ wallet, keys }) => ({
        wallet,
        keys: keys.map((key) => ({ ...key, linkedAt: key.linkedAt.toISOString() })),
      })),
    }
  })

  const unlink = {
    params: z.object({ id: keyIdText }),
    body: z.object({}),
    response: { 200: z.object({ id: z.string(), wallet: z.string() }), ...errorResponses },
  }
  app.post('/admin/keys/:id/unlink-wallet', { schema: unlink }, async ({ params: { id } }) => {
    const { wallet } = await wallets.unlink({ actor: adminActor, apiKeyId: id })
    return { id, wallet }
  })
}
