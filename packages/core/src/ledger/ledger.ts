import type { SponsoredComponent } from '../fees/feeRules.ts'
import type { SqlTx, SqlWriteTx } from '../sql/sqlTx.ts'

/** Integer micro-USDC: USDC with 6 decimals, 1 000 000 = 1 USD. Sponsors' money is in no other asset. */
export type MicroUsd = bigint

/** A part of a sponsor's balance to reserve for one quote. */
export type HoldRequest = {
  /** The quote's request id: `0x` and 64 hex digits. Repeating it never reserves twice. */
  readonly requestId: string
  /** Lower-case wallet whose balance pays. */
  readonly sponsor: string
  readonly apiKeyId: string
  /** Lower-case where the family's addresses have no case. Caps per user count `user` and `recipient` alike. */
  readonly user: string
  readonly recipient: string
  readonly originChainId: number
  readonly destinationChainId: number
  /** Fees that the hold pays; policies may restrict them. */
  readonly components: readonly SponsoredComponent[]
  readonly amountMicroUsd: MicroUsd
  /**
   * The unpinned hold expires after this, by the database's clock.
   * @source docs/concepts/ledger.md, The life of a hold
   */
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
  /** The cap on unpinned holds is reached: nothing is held, and `reserveAgain` reserves once a deposit is seen. */
  | { readonly status: 'at_deposit' }
  /** `rule` in SCREAMING_SNAKE, e.g. `MAX_PER_USER_24H`: callers see the reason `POLICY_<rule>`. */
  | { readonly status: 'policy_refused'; readonly rule: string }
  /** The request id was used before: with another body, or by a hold that has ended. */
  | { readonly status: 'conflict' | 'already_resolved' }
  /** Only from `reserveAgain`: there never was a hold for this request. */
  | { readonly status: 'unknown_hold' }

/** Only from `reserveFree`: nothing was decided, so the caller asks `reserveBatch`. */
export type BusySponsor = { readonly status: 'busy' }

/** Result of changing a hold: anything but `resolved` says why nothing changed. */
export type ResolveOutcome =
  | { readonly status: 'resolved' }
  | { readonly status: 'already_posted' | 'already_voided' | 'expired' | 'exceeds_hold' | 'unknown_hold' }

export type BalanceRecord = {
  readonly sponsor: string
  /** Posted transfers less holds: the most that a new hold may reserve. */
  readonly availableMicroUsd: MicroUsd
  readonly heldMicroUsd: MicroUsd
  /** Top-ups seen on chain but not final: visible, not spendable. */
  readonly pendingMicroUsd: MicroUsd
}

/**
 * The sponsorship ledger as the rest of the project sees it. Every method runs inside the caller's
 * transaction and owns no connection, so that a fill posts hold, order status, accrual and outbox
 * in one commit. Refusals are return values; only broken invariants and SQL failures throw.
 * @source docs/concepts/ledger.md
 */
export interface Ledger {
  /** Reserves one hold. Its last write is sent without waiting, and fails the transaction where it is refused. */
  reserve(tx: SqlWriteTx, request: HoldRequest): Promise<HoldOutcome>
  /** Reserves for many quotes in one commit; outcomes in request order. Waits for locks on their sponsors' rows. */
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
   * Reserves when a deposit arrives for a quote whose hold expired, was superseded or was `at_deposit`: a new hold with
   * the same body, pinned at once. Balance and policy are checked again, the caps on unpinned holds are not. Answers
   * `already_reserved` while the request has a live hold. @source rule L-45
   */
  reserveAgain(tx: SqlWriteTx, args: { requestId: string; until: Date }): Promise<HoldOutcome>
  /**
   * Ties a hold to a deposit that was seen: the hold then lasts until `until`, and repeating it moves `until`. After
   * `expired` or `already_voided` the caller may use `reserveAgain`.
   */
  pin(tx: SqlTx, args: { requestId: string; until: Date }): Promise<ResolveOutcome>
  /** Takes a pin back after its deposit was orphaned: the hold then ends at `expiresAt`. */
  unpin(tx: SqlTx, args: { requestId: string; expiresAt: Date }): Promise<ResolveOutcome>
  /** Debits `amountMicroUsd` (at most the hold) and frees the rest; `evidence` is stored with it. */
  post(
    tx: SqlTx,
    args: { requestId: string; amountMicroUsd: MicroUsd; evidence: Readonly<Record<string, unknown>> },
  ): Promise<ResolveOutcome>
  /** Ends a hold without a debit. */
  void(tx: SqlTx, args: { requestId: string; reason: string }): Promise<ResolveOutcome>
  /** Frees holds whose expiry, which a pin moves, is past by the database's clock. Returns how many. */
  expireDue(tx: SqlTx, args: { limit: number }): Promise<number>
  balance(tx: SqlTx, sponsor: string): Promise<BalanceRecord>
}
