import { sponsoredComponents } from '@causeway/core'
import { z } from 'zod'
import type { PolicyAdministration } from '../../operate/admin/policyAdministration.ts'

const amount = z.string().regex(/^[0-9]{1,30}$/, 'must be 1 to 30 digits')
const chainId = z.int().positive()
const user = z.string().min(1).max(128)

/** The rules about what a key may sponsor, and how much of their limits is used. */
export const policyWire = z.object({
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

/** Result of trying a request against the policy. */
export const explanationWire = z.object({
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

/** A made-up sponsored request, to be tried against the policy. */
export const hypotheticalBody = z.object({
  user,
  recipient: user,
  originChainId: chainId,
  destinationChainId: chainId,
  amountMicroUsd: amount.transform(BigInt),
  components: z
    .array(z.enum(sponsoredComponents))
    .min(1)
    .default([...sponsoredComponents]),
})

export function policyToWire({
  policy,
  usage,
}: Awaited<ReturnType<PolicyAdministration['show']>>): z.input<typeof policyWire> {
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
}

export function explanationToWire({
  outcome,
  policyVersion,
  checks,
}: Awaited<ReturnType<PolicyAdministration['explain']>>): z.input<typeof explanationWire> {
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
