/**
 * Invariants of the books, described in docs/concepts/ledger.md; `chain` is the hash chain of checkpoints. quote-api
 * checks I10 and I11, since they compare the books with its requests; `verifyLedger` checks all others.
 */
export const invariants = [
  'I1',
  'I2',
  'I3',
  'I4',
  'I5',
  'I6',
  'I7',
  'I8',
  'I9',
  'I10',
  'I11',
  'chain',
] as const
export type Invariant = (typeof invariants)[number]

/** One violation of an invariant. Money as exact decimal strings. */
export type LedgerFinding = {
  readonly invariant: Invariant
  /** The problem, in one sentence without figures. */
  readonly problem: string
  /** Location of the problem, and the figures that should be equal or bounded. */
  readonly figures: Readonly<Record<string, string>>
}
