import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { adminActor } from '../../access/adminActor.ts'
import { keyIdText } from '../../access/keys/keyFields.ts'
import type { WebhookAdministration } from '../../webhooks/webhookAdministration.ts'
import { webhookHeaders, webhookUrlText } from '../../webhooks/webhookFields.ts'
import { mergeErrors } from '../routeErrors.ts'
import { adminOperation, usableKeyErrors } from './adminOperation.ts'

const params = z.object({ id: keyIdText })
const webhookErrors = mergeErrors(usableKeyErrors, {
  404: ['WEBHOOK_NOT_FOUND'],
  409: ['WEBHOOK_SECRETS_UNREADABLE'],
})
const secret = z.string().describe('Shown once; messages are signed with it')
const shownSchema = z.object({
  id: z.string(),
  url: z.string(),
  headerNames: z.array(z.string()),
  waiting: z.int().describe('Messages that are not delivered yet'),
  failed: z.int().describe('Messages given up after their last retry'),
  problem: z.string().optional().describe('Why the last attempt failed'),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})

const set = {
  ...adminOperation(
    'webhooks set',
    'Say where the messages of a key go; the secret of a new webhook is shown this once',
    mergeErrors(usableKeyErrors, { 400: ['INVALID_WEBHOOK_URL'], 409: ['WEBHOOK_SECRETS_UNREADABLE'] }),
  ),
  params,
  body: z.object({ url: webhookUrlText, headers: webhookHeaders.default({}) }),
  response: {
    200: z.object({
      id: z.string(),
      url: z.string(),
      secret: secret.optional().describe('Only of a new webhook, shown this once'),
    }),
    ...errorResponses,
  },
}

const show = {
  ...adminOperation(
    'webhooks show',
    'Show where the messages of a key go, and how many did not arrive',
    webhookErrors,
  ),
  params,
  response: { 200: shownSchema, ...errorResponses },
}

const rotate = {
  ...adminOperation(
    'webhooks rotate-secret',
    'Sign with a new secret from now on; it is shown this once',
    webhookErrors,
  ),
  params,
  body: z.object({}),
  response: { 200: z.object({ id: z.string(), secret }), ...errorResponses },
}

const remove = {
  ...adminOperation(
    'webhooks remove',
    'Send nothing more for a key; messages that wait are dropped',
    webhookErrors,
  ),
  params,
  body: z.object({}),
  response: { 200: z.object({ id: z.string() }), ...errorResponses },
}

const replay = {
  ...adminOperation(
    'webhooks replay',
    'Send again what was given up, under the same event ids',
    webhookErrors,
  ),
  params,
  body: z.object({}),
  response: { 200: z.object({ id: z.string(), messages: z.int() }), ...errorResponses },
}

/** `/admin/keys/:id/webhook`: where a key's messages go, and those that did not arrive. */
export function registerWebhookRoutes(app: HttpApp, webhooks: WebhookAdministration): void {
  const path = '/admin/keys/:id/webhook'
  app.put(path, { schema: set }, ({ params: { id }, body }) =>
    webhooks.set({ actor: adminActor, apiKeyId: id, ...body }),
  )
  app.get(path, { schema: show }, async ({ params: { id } }) => {
    const { headerNames, createdAt, updatedAt, ...webhook } = await webhooks.show(id)
    return {
      ...webhook,
      headerNames: [...headerNames],
      createdAt: createdAt.toISOString(),
      updatedAt: updatedAt.toISOString(),
    }
  })
  app.post(`${path}/rotate-secret`, { schema: rotate }, ({ params: { id } }) =>
    webhooks.rotateSecret({ actor: adminActor, apiKeyId: id }),
  )
  app.post(`${path}/remove`, { schema: remove }, async ({ params: { id } }) => {
    await webhooks.remove({ actor: adminActor, apiKeyId: id })
    return { id }
  })
  app.post(`${path}/replay`, { schema: replay }, async ({ params: { id } }) => {
    return { id, messages: await webhooks.replay({ actor: adminActor, apiKeyId: id }) }
  })
}
