import { sponsoredComponents } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { adminActor } from '../../access/adminActor.ts'
import { keyIdText } from '../../access/keys/keyFields.ts'
import type { PolicyAdministration } from '../../operate/admin/policyAdministration.ts'

const params = z.object({ id: keyIdText })
const amount = z.string().regex(/^[0-9]{1,30}$/)
const versionSchema = z.object({ id: z.string(), version: z.int() })
const chainId = z.int().positive()
const user = z.string().min(1).max(128)

const shownSchema = z.object({
  policy: z
    .object({
      version: z.int(),
      actor: z.string(),
      createdAt: z.iso.datetime(),
      rules: z.record(z.string(), z.unknown()).describe('Amounts in micro-USDC, as text'),
    })
    .optional()
    .describe('Absent: the key may sponsor everything'),
  usage: z.array(
    z.object({
      user: z.string().optional().describe('Absent: all users'),
      day: z.iso.datetime().optional().describe('Start of a UTC day; absent: ever'),
      usedMicroUsd: amount,
      count: z.string(),
    }),
  ),
})

const explanationSchema = z.object({
  outcome: z.string().describe('What a hold like this would be answered now'),
  policyVersion: z.int().optional(),
  checks: z.array(
    z.object({
      kind: z.string(),
      rule: z.string(),
      passed: z.boolean(),
      limit: z.string().optional(),
      used: z.string().optional(),
      requested: z.string().optional(),
    }),
  ),
})

/** `/admin/keys/:id/policy`: set, show, remove and explain what a key may sponsor. */
export function registerPolicyRoutes(app: HttpApp, policies: PolicyAdministration): void {
  const path = '/admin/keys/:id/policy'
  const set = {
    params,
    body: z.object({ rules: z.record(z.string(), z.unknown()) }),
    response: { 200: versionSchema, ...errorResponses },
  }
  app.put(path, { schema: set }, async ({ params: { id }, body }) => {
    const version = await policies.set({ actor: adminActor, apiKeyId: id, rules: body.rules })
    return { id, version }
  })

  const show = { params, response: { 200: shownSchema, ...errorResponses } }
  app.get(path, { schema: show }, async ({ params: { id } }) => {
    const { policy, usage } = await policies.show(id)
    return {
      ...(policy !== undefined && {
        policy: { ...policy, createdAt: policy.createdAt.toISOString(), rules: toText(policy.rules) },
      }),
      usage: usage.map(({ user, day, usedMicroUsd, count }) => ({
        user,
        day: day?.toISOString(),
        usedMicroUsd: usedMicroUsd.toString(),
        count: count.toString(),
      })),
    }
  })

  const remove = { params, body: z.object({}), response: { 200: versionSchema, ...errorResponses } }
  app.post(`${path}/remove`, { schema: remove }, async ({ params: { id } }) => {
    return { id, version: await policies.remove({ actor: adminActor, apiKeyId: id }) }
  })

  const explain = {
    params,
    body: z.object({
      user,
      recipient: user,
      originChainId: chainId,
      destinationChainId: chainId,
      amountMicroUsd: amount.transform(BigInt),
      components: z
        .array(z.enum(sponsoredComponents))
        .min(1)
        .default([...sponsoredComponents]),
    }),
    response: { 200: explanationSchema, ...errorResponses },
  }
  app.post(`${path}/explain`, { schema: explain }, async ({ params: { id }, body }) => {
    const { outcome, policyVersion, checks } = await policies.explain({ apiKeyId: id, ...body })
    return {
      outcome,
      policyVersion,
      checks: checks.map(({ limit, used, requested, ...check }) => ({
        ...check,
        limit: limit?.toString(),
        used: used?.toString(),
        requested: requested?.toString(),
      })),
    }
  })
}

/** Rules as they are written: amounts as text. */
function toText(rules: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(rules).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? value.toString() : value,
    ]),
  )
}
