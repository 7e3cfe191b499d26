import type { HoldRequest } from '@causeway/core'
import type { Usage } from '../policies/checkPolicy.ts'
import type { PolicyRules } from '../policies/policySchema.ts'

/** The newest hold of a request id that was used before. */
export type KnownHold = {
  readonly id: string
  /** As in `NewHold`. */
  readonly attempt: number
  /** Hex of the body's hash, without `0x`. */
  readonly bodyHash: string
  readonly isPosted: boolean
  /** Reserved, and not past its expiry. */
  readonly isLive: boolean
}

/** An unpinned hold with the re-quote key of a request in question, which may replace it. */
export type RequotableHold = {
  readonly id: string
  readonly requoteKey: string
  readonly apiKeyId: string
  readonly user: string
  readonly recipient: string
  readonly amountMicroUsd: bigint
  /** True if it counts in the key's usage, because the key had a policy when it was made. */
  readonly isCounted: boolean
  /** True if it was made on the day (UTC) of the decision. */
  readonly isToday: boolean
  /** Its user had no settled request when it was made. */
  readonly isUnsettled: boolean
}

/** Facts that decide about new holds of one sponsor, at one moment of the database's clock. `readHoldFacts` reads them. */
export type HoldFacts = {
  /** True while the ledger is halted: nothing new is reserved. */
  readonly isHalted: boolean
  /** The moment of the facts, as the database writes it, with microseconds. */
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
  /** True if there are holds past their expiry that still count, because they were not swept yet. */
  readonly hasDue: boolean
  /** Sum of the unpinned holds of users without a settled request. */
  readonly unsettledMicroUsd: bigint
  /** Numbers of unpinned holds by `openKey`, of API keys and of users. */
  readonly openByKey: ReadonlyMap<string, number>
  readonly openByUser: ReadonlyMap<string, number>
  /** Users of the requests for whom this sponsor has paid a settled request. */
  readonly settledUsers: ReadonlySet<string>
  /** Ids of requests that were told to hold nothing before their deposit. */
  readonly atDeposit: ReadonlySet<string>
  /** Earlier holds of the requests, by request id. */
  readonly known: ReadonlyMap<string, KnownHold>
  /** Holds that the requests may replace. */
  readonly open: readonly RequotableHold[]
  /** Newest policies, by API key id. */
  readonly policies: ReadonlyMap<string, { readonly version: number; readonly rules: PolicyRules }>
  /** By `usageKey`. */
  readonly usage: ReadonlyMap<string, Usage>
}

/** Key of one sum of usage. `subject`: a user, or '' for all users. API key ids contain no space. */
export function usageKey(apiKeyId: string, window: 'lifetime' | '24h', subject: string): string {
  return `${apiKeyId} ${window} ${subject}`
}

/** Key of a count of unpinned holds: of an API key or a user, to one chain. @source rule L-1 */
export function openKey(
  subject: string,
  { destinationChainId }: Pick<HoldRequest, 'destinationChainId'>,
): string {
  return `${destinationChainId} ${subject}`
}
