import type { SqlTx } from '@causeway/core'
import { type PolicyRules, parsePolicyRules, policyRulesSchema } from './policySchema.ts'

/** One version of an API key's policy. */
export type StoredPolicy = {
  readonly apiKeyId: string
  readonly version: number
  readonly rules: PolicyRules
  readonly actor: string
  readonly createdAt: Date
}

type PolicyRow = {
  readonly api_key_id: string
  readonly version: number
  readonly rules: unknown
  readonly actor: string
  readonly created_at: Date
}

/**
 * Gives a key its next policy version; earlier ones stay readable. A concurrent reservation uses the old version or the
 * new.
 * @returns the version
 * @throws InvalidPolicyError
 */
export async function setPolicy(
  tx: SqlTx,
  { apiKeyId, rules, actor }: { apiKeyId: string; rules: unknown; actor: string },
): Promise<number> {
  parsePolicyRules(rules)
  const [row] = await tx.query<{ version: number }>('select policy_set($1, $2, $3) as version', [
    apiKeyId,
    JSON.stringify(rules),
    actor,
  ])
  if (row === undefined) throw new Error('a policy got no version')
  return row.version
}

/** The version that decides now; `undefined` for a key that may sponsor everything. */
export async function readPolicy(tx: SqlTx, apiKeyId: string): Promise<StoredPolicy | undefined> {
  return (await readPolicyVersions(tx, apiKeyId))[0]
}

/** All versions of a key's policy, the newest first. */
export async function readPolicyVersions(tx: SqlTx, apiKeyId: string): Promise<readonly StoredPolicy[]> {
  const rows = await tx.query<PolicyRow>(
    'select api_key_id, version, rules, actor, created_at from policy where api_key_id = $1 order by version desc',
    [apiKeyId],
  )
  return rows.map((row) => ({
    apiKeyId: row.api_key_id,
    version: row.version,
    rules: policyRulesSchema.parse(row.rules),
    actor: row.actor,
    createdAt: row.created_at,
  }))
}

/** Usage by a key's holds, of one user or of all, in one period. */
export type PolicyUsage = {
  /** `undefined` for all users together. */
  readonly user: string | undefined
  /** Start of the UTC day; `undefined` for the sum of all days. */
  readonly day: Date | undefined
  readonly usedMicroUsd: bigint
  readonly count: bigint
}

/** Usage of a key with a policy: live holds and posted amounts. */
export async function readPolicyUsage(tx: SqlTx, apiKeyId: string): Promise<readonly PolicyUsage[]> {
  // The sum of all days has the start `-infinity`.
  const rows = await tx.query<{ subject: string; day: Date | null; used: bigint; used_count: bigint }>(
    `select subject, nullif(window_start, '-infinity') as day, used, used_count
     from policy_usage where api_key_id = $1 order by subject, window_start`,
    [apiKeyId],
  )
  return rows.map(({ subject, day, used, used_count }) => ({
    user: subject === '' ? undefined : subject,
    day: day ?? undefined,
    usedMicroUsd: used,
    count: used_count,
  }))
}
