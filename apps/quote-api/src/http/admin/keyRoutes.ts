import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { adminActor } from '../../access/adminActor.ts'
import type { KeyAdministration } from '../../access/keys/keyAdministration.ts'
import { keyIdText, keyLabelText, keyOverlapSeconds } from '../../access/keys/keyFields.ts'
import type { WalletAdministration } from '../../access/wallets/walletAdministration.ts'
import { adminOperation, keyErrors, usableKeyErrors } from './adminOperation.ts'

const issuedSchema = z.object({
  id: z.string().describe('Names the key; stays when its secret changes'),
  label: z.string(),
  apiKey: z.string().describe('Shown once; send it as x-api-key'),
})

const listedSchema = z.object({
  id: z.string(),
  label: z.string(),
  status: z.enum(['active', 'revoked']),
  wallet: z.string().optional().describe('Linked sponsorship wallet, lower case'),
  secrets: z
    .array(z.object({ handle: z.string(), worksUntil: z.iso.datetime().optional() }))
    .describe('Public parts of the secrets that work now, newest first'),
  createdAt: z.iso.datetime(),
  revokedAt: z.iso.datetime().optional(),
})

const params = z.object({ id: keyIdText })

/** `/admin/keys`: create, list, rotate, revoke. */
export function registerKeyRoutes(app: HttpApp, keys: KeyAdministration): void {
  registerCreate(app, keys)
  registerList(app, keys)
  registerRotate(app, keys)
  registerRevoke(app, keys)
}

function registerCreate(app: HttpApp, keys: KeyAdministration): void {
  const schema = {
    ...adminOperation('keys create', 'Create an API key; its text is shown this once'),
    body: z.object({ label: keyLabelText }),
    response: { 201: issuedSchema, ...errorResponses },
  }
  app.post('/admin/keys', { schema }, async ({ body }, reply) => {
    reply.code(201)
    return keys.create({ actor: adminActor, label: body.label })
  })
}

function registerList(app: HttpApp, keys: KeyAdministration): void {
  const schema = {
    ...adminOperation('keys list', 'List all keys, never their texts'),
    response: { 200: z.object({ keys: z.array(listedSchema) }), ...errorResponses },
  }
  app.get('/admin/keys', { schema }, async () => {
    const storedKeys = await keys.list()
    return {
      keys: storedKeys.map((key) => ({
        ...key,
        secrets: key.secrets.map(({ handle, worksUntil }) => ({
          handle,
          worksUntil: worksUntil?.toISOString(),
        })),
        createdAt: key.createdAt.toISOString(),
        revokedAt: key.revokedAt?.toISOString(),
      })),
    }
  })
}

function registerRotate(app: HttpApp, keys: KeyAdministration): void {
  const schema = {
    ...adminOperation(
      'keys rotate',
      'Give a key a new text; the one before works for a while',
      usableKeyErrors,
    ),
    params,
    body: z.object({ overlapSeconds: keyOverlapSeconds }),
    response: {
      200: issuedSchema.extend({
        previousWorkUntil: z.iso.datetime().describe('Until then the secrets before work as well'),
      }),
      ...errorResponses,
    },
  }
  app.post('/admin/keys/:id/rotate', { schema }, async ({ params: { id }, body }) => {
    const { overlapSeconds } = body
    const { previousWorkUntil, ...issued } = await keys.rotate({ actor: adminActor, id, overlapSeconds })
    return { ...issued, previousWorkUntil: previousWorkUntil.toISOString() }
  })
}

function registerRevoke(app: HttpApp, keys: KeyAdministration): void {
  const schema = {
    ...adminOperation(
      'keys revoke',
      'End a key for good; every process refuses it within 5 seconds',
      keyErrors,
    ),
    params,
    body: z.object({}),
    response: { 200: z.object({ id: z.string() }), ...errorResponses },
  }
  app.post('/admin/keys/:id/revoke', { schema }, async ({ params: { id } }) => {
    await keys.revoke({ actor: adminActor, id })
    return { id }
  })
}

const linkedSchema = z.object({
  wallet: z.string().describe('Lower case'),
  keys: z.array(z.object({ id: z.string(), label: z.string(), linkedAt: z.iso.datetime() })),
})

/** `/admin/wallets`: which wallet sponsors which keys, and how a key loses its wallet. */
export function registerWalletRoutes(app: HttpApp, wallets: WalletAdministration): void {
  const list = {
    ...adminOperation('wallets list', 'List sponsorship wallets and the keys that draw on them'),
    response: { 200: z.object({ wallets: z.array(linkedSchema) }), ...errorResponses },
  }
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
    ...adminOperation('wallets unlink', 'Take the wallet from a key; its balance stays with the wallet', {
      ...keyErrors,
      409: ['WALLET_NOT_LINKED'],
    }),
    params: z.object({ id: keyIdText }),
    body: z.object({}),
    response: { 200: z.object({ id: z.string(), wallet: z.string() }), ...errorResponses },
  }
  app.post('/admin/keys/:id/unlink-wallet', { schema: unlink }, async ({ params: { id } }) => {
    const { wallet } = await wallets.unlink({ actor: adminActor, apiKeyId: id })
    return { id, wallet }
  })
}
