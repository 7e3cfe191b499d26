import type { SponsoredComponent } from '../fees/feeRules.ts'
import type { SqlTx, SqlWriteTx } from '../sql/sqlTx.ts'

/** Integer micro-USDC: USDC with 6 decimals, 1 000 000 = 1 USD. The one asset of sponsor money. */
export type MicroUsd = bigint

export type HoldRequest = {
  /** The quote's request id: `0x` and 64 hex digits. Repeating it never reserves twice. */
  readonly requestId: string
  /** Lower-case wallet whose balance pays. */
  readonly sponsor: string
  readonly apiKeyId: string
  /** Lower-case where the family's addresses have no case. `user` and `recipient` both count as users. */
  readonly user: string
  readonly recipient: string
  readonly originChainId: number
  readonly destinationChainId: number
  /** Components that the hold pays for: what policies may restrict. */
  readonly components: readonly SponsoredComponent[]
  readonly amountMicroUsd: MicroUsd
  /** Lifetime by the database's clock; a pin ends it. @source design.md 6.3 */
  readonly lifetimeSeconds: number
  /**
   * Equal for quotes of one key, user, recipient, route, currencies and trade type: a new hold takes
   * the place of the unpinned one with the same key. @source rule L-44
   */
  readonly requoteKey: string
}

export type HoldOutcome =
  | { readonly status: 'reserved' | 'already_reserved'; readonly holdId: string }
  | { readonly status: 'insufficient_balance' | 'sponsor_frozen' }
  /** A cap on quotes without a deposit: nothing is held, and `reserveAgain` reserves when a deposit is pinned. */
  | { readonly status: 'at_deposit' }
  /** `rule` in SCREAMING_SNAKE, e.g. `MAX_PER_USER_24H`: the reason told is `POLICY_<rule>`. */
  | { readonly status: 'policy_refused'; readonly rule: string }
  /** The request id was used before: with another body, or by a hold that has ended. */
  | { readonly status: 'conflict' | 'already_resolved' }
  /** Only from `reserveAgain`: there never was a hold for this request. */
  | { readonly status: 'unknown_hold' }

/** Only from `reserveFree`: nothing was decided, `reserveBatch` will. */
export type BusySponsor = { readonly status: 'busy' }

export type ResolveOutcome =
  | { readonly status: 'resolved' }
  | { readonly status: 'already_posted' | 'already_voided' | 'expired' | 'exceeds_hold' | 'unknown_hold' }

export type BalanceRecord = {
  readonly sponsor: string
  /** posted − held: what a new hold may take. */
  readonly availableMicroUsd: MicroUsd
  readonly heldMicroUsd: MicroUsd
  /** Top-ups seen on chain but not final: visible, not spendable. */
  readonly pendingMicroUsd: MicroUsd
}

/**
 * The sponsorship ledger as the rest of the project sees it. Every method runs inside the caller's
 * transaction and owns no connection, so that a fill posts hold, order status, accrual and outbox
 * in one commit. Refusals are return values; only broken invariants and SQL failures throw.
 * @source design.md 2, 6; ledger-and-safety.md 1.3, 1.5
 */
export interface Ledger {
  /** Sends the hold without waiting: a write that the database refuses is the transaction's error. */
  reserve(tx: SqlWriteTx, request: HoldRequest): Promise<HoldOutcome>
  /** One commit for many quotes; outcomes in request order. Waits for who has a row of their sponsors. */
  reserveBatch(tx: SqlWriteTx, requests: readonly HoldRequest[]): Promise<readonly HoldOutcome[]>
  /**
   * Reserves as `reserveBatch` does, for quotes of unrelated sponsors, but never waits for a row that another
   * transaction has locked: `busy` instead, so that no sponsor waits for another.
   */
  reserveFree(
    tx: SqlWriteTx,
    requests: readonly HoldRequest[],
  ): Promise<readonly (HoldOutcome | BusySponsor)[]>
  /**
   * For a deposit on a quote whose hold expired, was superseded or was left to the deposit: a new hold with
   * the same body, pinned at once. Balance and policy decide again, the caps on unpinned holds do not. Answers
   * `already_reserved` while a hold of the request lives. @source rule L-45
   */
  reserveAgain(tx: SqlWriteTx, args: { requestId: string; until: Date }): Promise<HoldOutcome>
  /**
   * Ties a hold to a seen deposit: it no longer expires by itself until `until`. Repeating it moves
   * `until`. `expired` and `already_voided` leave `reserveAgain`.
   */
  pin(tx: SqlTx, args: { requestId: string; until: Date }): Promise<ResolveOutcome>
  /** Takes a pin back after its deposit was orphaned: the hold then ends at `expiresAt`. */
  unpin(tx: SqlTx, args: { requestId: string; expiresAt: Date }): Promise<ResolveOutcome>
  /** Debits `amountMicroUsd` (at most the hold) and frees the rest; `evidence` is stored with it. */
  post(
    tx: SqlTx,
    args: { requestId: string; amountMicroUsd: MicroUsd; evidence: Readonly<Record<string, unknown>> },
  ): Promise<ResolveOutcome>
  void(tx: SqlTx, args: { requestId: string; reason: string }): Promise<ResolveOutcome>
  /** Frees holds past their expiry (a pin moved it) by the database's clock. Returns how many. */
  expireDue(tx: SqlTx, args: { limit: number }): Promise<number>
  balance(tx: SqlTx, sponsor: string): Promise<BalanceRecord>
}
