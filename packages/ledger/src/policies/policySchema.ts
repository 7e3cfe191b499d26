import { DomainError, sponsoredComponents } from '@causeway/core'
import { z } from 'zod'

/** Amounts are decimal strings of micro-USDC: JSON numbers cannot hold money. */
const microUsd = z
  .string()
  .regex(/^[0-9]{1,30}$/, 'must be 1 to 30 digits')
  .transform((text) => BigInt(text))
const count = z.int().min(0).max(1_000_000_000)
const chainIds = z.array(z.int().positive()).max(200)
const evmAddress = /^0x[0-9a-fA-F]{40}$/
const users = z
  .array(
    z
      .string()
      .min(1)
      .max(128)
      // EVM addresses are compared in lower case; other names of users as they are.
      .transform((user) => (evmAddress.test(user) ? user.toLowerCase() : user)),
  )
  .max(1_000)

/**
 * Rules on what a key may sponsor; an absent rule does not restrict. `24h` counts per UTC day, the others since the key
 * has a policy. Rules about users hold for `user` and for `recipient`.
 * @source rules L-42, L-43
 */
export const policyRulesSchema = z.strictObject({
  /** False pauses sponsoring with this key. */
  active: z.boolean().default(true),
  startsAt: z.iso.datetime({ offset: true }).optional(),
  endsAt: z.iso.datetime({ offset: true }).optional(),
  originChains: chainIds.optional(),
  destinationChains: chainIds.optional(),
  components: z.array(z.enum(sponsoredComponents)).max(sponsoredComponents.length).optional(),
  userAllowlist: users.optional(),
  userBlocklist: users.optional(),
  maxPerRequest: microUsd.optional(),
  maxTotal: microUsd.optional(),
  maxTotal24h: microUsd.optional(),
  maxPerUser: microUsd.optional(),
  maxPerUser24h: microUsd.optional(),
  maxCount: count.optional(),
  maxCount24h: count.optional(),
  maxCountPerUser: count.optional(),
  maxCountPerUser24h: count.optional(),
  /** Limits of payments to one open deposit address: how many, how much together, and how long after its first quote. @source Q-45 */
  maxCountPerOpenAddress: count.optional(),
  maxTotalPerOpenAddress: microUsd.optional(),
  maxSecondsPerOpenAddress: count.optional(),
  /**
   * Share of the balance that quotes of users who never settled a request may hold together before their
   * deposits, in basis points; beyond it a quote holds nothing until its deposit is pinned.
   */
  unsettledShareBps: z.int().min(0).max(10_000).optional(),
})

export type PolicyRules = z.output<typeof policyRulesSchema>

/** The rules that an operator wrote do not fit the schema. */
export class InvalidPolicyError extends DomainError {
  readonly code = 'INVALID_POLICY'
  readonly kind = 'invalid_request'

  constructor(problems: string) {
    super(`The policy cannot be read: ${problems}.`, { data: { problems } })
  }
}

/** @throws InvalidPolicyError that names every field at fault */
export function parsePolicyRules(rules: unknown): PolicyRules {
  const parsed = policyRulesSchema.safeParse(rules)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  throw new InvalidPolicyError(problems.join('; '))
}
