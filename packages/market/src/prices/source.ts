/**
 * Kinds of sources of a price. Feeds are primary. HTTP services are second sources: `signed`, whose signatures are
 * checked, rank before `http`. Pools only guard a price that rests on a single source.
 */
export const sourceKinds = ['feed', 'pool', 'http', 'signed'] as const
export type SourceKind = (typeof sourceKinds)[number]

/** Reason for which a source does not count, however recent its answer is. */
export type SourceFault =
  | 'no_answer'
  | 'not_positive'
  | 'no_timestamp'
  | 'from_the_future'
  /** A feed whose description and decimals were not read yet. */
  | 'unverified'
  /** A feed that is not the one that configuration describes. */
  | 'misdescribed'
  // A feed of a rollup whose sequencer, by its uptime feed, is down, came back within the hour, or has an unknown
  // status.
  | 'sequencer_down'
  | 'sequencer_recovering'
  | 'sequencer_unknown'
  /** A round from before the chain stood still: it was not updated since the chain went on. */
  | 'older_than_stop'
  /** The source states a too wide confidence interval, or too little confidence. */
  | 'wide_confidence'
  /** A signed update of another format, or one that ends too early. */
  | 'malformed_update'
  /** Signed by a guardian set that the quote file does not list. */
  | 'unknown_guardian_set'
  /** Not more than half of its guardian set signed it. */
  | 'not_signed'
  /** Signed, but published by another emitter. */
  | 'wrong_emitter'
  /** Signed, but the proof does not lead from a price to the signed root. */
  | 'wrong_proof'
  /** A pool that is too cheap to move to guard a price. */
  | 'thin_pool'
  /** The pool's other token has no price of its own. */
  | 'unpriced_pair'

/** A valid price of one source. */
export type SourceValue = {
  /** Above zero. */
  readonly usdX18: bigint
  /** By the source itself. */
  readonly updatedAtMs: number
  /** The last moment at which this value counts. */
  readonly freshUntilMs: number
}

/** Last reading of one price by one source. */
export type SourceReading = {
  /** Unique per price, and what operators see: `feed base 0x…`, `http defillama`. */
  readonly source: string
  readonly kind: SourceKind
  /** Unix milliseconds of its last answer; absent before the first. Two different times are two samples. */
  readonly readAtMs?: number
  /** Block at which it was read, for sources on a chain. */
  readonly block?: bigint
  readonly result: SourceValue | { readonly fault: SourceFault }
}

export type FreshReading = SourceReading & { readonly readAtMs: number; readonly result: SourceValue }

export function isFresh(reading: SourceReading, nowMs: number): reading is FreshReading {
  const { readAtMs, result } = reading
  return readAtMs !== undefined && 'usdX18' in result && nowMs <= result.freshUntilMs
}
