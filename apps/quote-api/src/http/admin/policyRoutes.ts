import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { adminActor } from '../../access/adminActor.ts'
import { keyIdText } from '../../access/keys/keyFields.ts'
import type { PolicyAdministration } from '../../operate/admin/policyAdministration.ts'
import { mergeErrors } from '../routeErrors.ts'
import {
  explanationToWire,
  explanationWire,
  hypotheticalBody,
  policyToWire,
  policyWire,
} from '../wire/policies.ts'
import { adminOperation, keyErrors, usableKeyErrors } from './adminOperation.ts'

const params = z.object({ id: keyIdText })
const versionSchema = z.object({ id: z.string(), version: z.int() })

const set = {
  ...adminOperation(
    'policies set',
    'Say what a key may sponsor; replaces the rules before',
    mergeErrors(usableKeyErrors, { 400: ['INVALID_POLICY'] }),
  ),
  params,
  body: z.object({ rules: z.record(z.string(), z.unknown()) }),
  response: { 200: versionSchema, ...errorResponses },
}

const show = {
  ...adminOperation('policies show', 'Show the rules of a key and what it has used', keyErrors),
  params,
  response: { 200: policyWire, ...errorResponses },
}

const remove = {
  ...adminOperation('policies remove', 'Let a key sponsor everything again', usableKeyErrors),
  params,
  body: z.object({}),
  response: { 200: versionSchema, ...errorResponses },
}

const explain = {
  ...adminOperation(
    'policies explain',
    'Try a request against the rules, the caps and the balance; changes nothing',
    mergeErrors(usableKeyErrors, { 409: ['WALLET_NOT_LINKED'] }),
  ),
  params,
  body: hypotheticalBody,
  response: { 200: explanationWire, ...errorResponses },
}

/** `/admin/keys/:id/policy`: set, show, remove and explain what a key may sponsor. */
export function registerPolicyRoutes(app: HttpApp, policies: PolicyAdministration): void {
  const path = '/admin/keys/:id/policy'
  app.put(path, { schema: set }, async ({ params: { id }, body }) => {
    const version = await policies.set({ actor: adminActor, apiKeyId: id, rules: body.rules })
    return { id, version }
  })
  app.get(path, { schema: show }, async ({ params: { id } }) => policyToWire(await policies.show(id)))
  app.post(`${path}/remove`, { schema: remove }, async ({ params: { id } }) => {
    return { id, version: await policies.remove({ actor: adminActor, apiKeyId: id }) }
  })
  app.post(`${path}/explain`, { schema: explain }, async ({ params: { id }, body }) =>
    explanationToWire(await policies.explain({ apiKeyId: id, ...body })),
  )
}
