import type { SqlTx } from '../sql/sqlTx.ts'

/** Integer micro-USDC: USDC with 6 decimals, 1 000 000 = 1 USD. The one asset of sponsor money. */
export type MicroUsd = bigint

export type HoldRequest = {
  /** The quote's request id: `0x` and 64 hex digits. Repeating it never reserves twice. */
  readonly requestId: string
  /** Lower-case wallet whose balance pays. */
  readonly sponsor: string
  readonly apiKeyId: string
  readonly user: string
  readonly amountMicroUsd: MicroUsd
  readonly expiresAt: Date
  /** A still unpinned hold that this one replaces (re-quote). @source design.md 6.4 */
  readonly replacesRequestId?: string
}

export type HoldOutcome =
  | { readonly status: 'reserved' | 'already_reserved'; readonly holdId: string }
  | { readonly status: 'insufficient_balance' | 'cap_reached' | 'sponsor_frozen' }
  | { readonly status: 'policy_refused'; readonly rule: string }

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
  reserve(tx: SqlTx, request: HoldRequest): Promise<HoldOutcome>
  /** One commit for many quotes of one hot sponsor; outcomes in request order. */
  reserveBatch(tx: SqlTx, requests: readonly HoldRequest[]): Promise<readonly HoldOutcome[]>
  /** Ties a hold to a seen deposit: it no longer expires by itself until `until`. */
  pin(tx: SqlTx, args: { requestId: string; until: Date }): Promise<ResolveOutcome>
  unpin(tx: SqlTx, args: { requestId: string; expiresAt: Date }): Promise<ResolveOutcome>
  /** Debits `amountMicroUsd` (at most the hold) and frees the rest; `evidence` is stored with it. */
  post(
    tx: SqlTx,
    args: { requestId: string; amountMicroUsd: MicroUsd; evidence: Readonly<Record<string, unknown>> },
  ): Promise<ResolveOutcome>
  void(tx: SqlTx, args: { requestId: string; reason: string }): Promise<ResolveOutcome>
  /** Frees unpinned holds past their expiry by the database's clock. Returns how many. */
  expireDue(tx: SqlTx, args: { limit: number }): Promise<number>
  balance(tx: SqlTx, sponsor: string): Promise<BalanceRecord>
}
