/** I10 and I11 are of the requests behind the books, which quote-api keeps. */
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

/** One place where the books do not add up. Money as exact decimal strings. */
export type LedgerFinding = {
  readonly invariant: Invariant
  /** The problem, in one sentence without figures. */
  readonly problem: string
  /** Location of the problem, and the figures that should be equal or bounded. */
  readonly figures: Readonly<Record<string, string>>
}
