import type { Hex, HoldRequest, SqlTx } from '@causeway/core'
import { type Usage, usersOf } from '../policies/checkPolicy.ts'
import { type PolicyRules, policyRulesSchema } from '../policies/policySchema.ts'
import { hexToBuffer } from '../transfers/transfers.ts'

/** Unpinned holds and their sum. */
export type Load = { readonly holds: number; readonly amountMicroUsd: bigint }

/** The newest hold of a request id that was used before. */
export type KnownHold = {
  readonly id: string
  readonly attempt: number
  /** Hex of the body's hash, without `0x`. */
  readonly bodyHash: string
  readonly isPosted: boolean
  /** Reserved, and not past its expiry. */
  readonly lives: boolean
}

/** An unpinned hold that a re-quote may take the place of. */
export type OpenHold = {
  readonly id: string
  readonly requoteKey: string
  readonly apiKeyId: string
  readonly user: string
  readonly recipient: string
  readonly amountMicroUsd: bigint
  /** Whether it counts in the key's usage, and whether on the day of the decision. */
  readonly isCounted: boolean
  readonly isToday: boolean
  /** Its user had no settled request when it was made. */
  readonly isUnsettled: boolean
}

/** What decides about new holds of one sponsor, at one moment of the database's clock. */
export type HoldFacts = {
  /** The books do not add up: nothing new is reserved. */
  readonly isHalted: boolean
  /** As the database wrote it, with microseconds. */
  readonly at: string
  /** Absent for a wallet that never had a balance. */
  readonly account:
    | {
        readonly id: bigint
        readonly isFrozen: boolean
        readonly postedMicroUsd: bigint
        readonly heldMicroUsd: bigint
      }
    | undefined
  /** Holds past their expiry wait for the sweeper and still count. */
  readonly hasDue: boolean
  /** Unpinned holds of users without a settled request. */
  readonly unsettledMicroUsd: bigint
  readonly keys: ReadonlyMap<string, Load>
  readonly users: ReadonlyMap<string, Load>
  /** Of the users asked about, those with a request that this sponsor paid for. */
  readonly settledUsers: ReadonlySet<string>
  /** Request ids that hold nothing before their deposit. */
  readonly atDeposit: ReadonlySet<string>
  /** By request id. */
  readonly known: ReadonlyMap<string, KnownHold>
  readonly open: readonly OpenHold[]
  readonly policies: ReadonlyMap<string, { readonly version: number; readonly rules: PolicyRules }>
  /** By `usageKey`. */
  readonly usage: ReadonlyMap<string, Usage>
}

/** Key of one row of usage. Api key ids hold no space. */
export function usageKey(apiKeyId: string, window: 'lifetime' | '24h', subject: string): string {
  return `${apiKeyId} ${window} ${subject}`
}

type LoadRow = readonly [subject: string, holds: number, amount: string]

type FactsRow = {
  readonly at: string
  readonly account: { id: string; frozen: boolean; posted: string; held: string } | null
  readonly hasDue: boolean
  readonly total: readonly [holds: number, amount: string, unsettled: string]
  readonly keys: readonly LoadRow[]
  readonly users: readonly LoadRow[]
  readonly settled: readonly string[]
  readonly atDeposit: readonly string[]
  readonly known: readonly {
    request: string
    id: string
    attempt: number
    hash: string
    posted: boolean
    lives: boolean
  }[]
  readonly open: readonly {
    id: string
    requote: string
    key: string
    user: string
    recipient: string
    amount: string
    counted: boolean
    today: boolean
    unsettled: boolean
  }[]
  readonly policies: readonly { key: string; version: number; rules: unknown }[]
  readonly usage: readonly (readonly [
    key: string,
    subject: string,
    isDay: boolean,
    used: string,
    count: number,
  ])[]
}

/** In this order: the second function sees what was committed before the first took its lock. */
const select = 'select ledger_hold_facts($1, $2, $3, $4, $5, $6) as facts, ledger_is_halted() as halted'

/**
 * Reads what decides about requests of one sponsor. `lock: true` takes the sponsor's row first, so that
 * the facts stay true until the transaction ends; a dry run leaves it.
 */
export async function readHoldFacts(
  tx: SqlTx,
  sponsor: string,
  requests: readonly HoldRequest[],
  { lock }: { lock: boolean },
): Promise<HoldFacts> {
  const [row] = await tx.query<{ facts: FactsRow; halted: boolean }>(select, [
    sponsor,
    distinct(requests.map(({ apiKeyId }) => apiKeyId)),
    distinct(requests.flatMap(usersOf)),
    // CAST: the port demands `0x` and hex digits; the table refuses every other length.
    requests.map(({ requestId }) => hexToBuffer(requestId as Hex)),
    distinct(requests.map(({ requoteKey }) => requoteKey)),
    lock,
  ])
  if (row === undefined) throw new Error('no facts about a sponsor')
  return fromRow(row.facts, row.halted)
}

function fromRow(facts: FactsRow, isHalted: boolean): HoldFacts {
  const { at, account, hasDue, total, known, open, policies, usage } = facts
  return {
    isHalted,
    at,
    account:
      account === null
        ? undefined
        : {
            id: BigInt(account.id),
            isFrozen: account.frozen,
            postedMicroUsd: BigInt(account.posted),
            heldMicroUsd: BigInt(account.held),
          },
    hasDue,
    unsettledMicroUsd: BigInt(total[2]),
    keys: toLoads(facts.keys),
    users: toLoads(facts.users),
    settledUsers: new Set(facts.settled),
    atDeposit: new Set(facts.atDeposit.map((request) => `0x${request}`)),
    known: new Map(
      known.map(({ request, id, attempt, hash, posted, lives }) => [
        `0x${request}`,
        { id, attempt, bodyHash: hash, isPosted: posted, lives },
      ]),
    ),
    open: open.map((hold) => ({
      id: hold.id,
      requoteKey: hold.requote,
      apiKeyId: hold.key,
      user: hold.user,
      recipient: hold.recipient,
      amountMicroUsd: BigInt(hold.amount),
      isCounted: hold.counted,
      isToday: hold.today,
      isUnsettled: hold.unsettled,
    })),
    policies: new Map(
      policies.map(({ key, version, rules }) => [key, { version, rules: policyRulesSchema.parse(rules) }]),
    ),
    usage: new Map(
      usage.map(([key, subject, isDay, used, count]) => [
        usageKey(key, isDay ? '24h' : 'lifetime', subject),
        { usedMicroUsd: BigInt(used), count: BigInt(count) },
      ]),
    ),
  }
}

function toLoads(rows: readonly LoadRow[]): ReadonlyMap<string, Load> {
  return new Map(rows.map(([subject, holds, amount]) => [subject, { holds, amountMicroUsd: BigInt(amount) }]))
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)]
}
