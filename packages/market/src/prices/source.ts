/**
 * Feeds are primary; HTTP services are second sources, those before the others whose prices are `signed`; pools
 * stand guard over a lonely source.
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
  /** A feed of a rollup whose sequencer is down by its uptime feed, came back within the hour, or is not known to be up. */
  | 'sequencer_down'
  | 'sequencer_recovering'
  | 'sequencer_unknown'
  /** A round from before its chain went on after it had stood. */
  | 'older_than_stop'
  | 'wide_confidence'
  /** A signed update that is not one, or ends too early. */
  | 'malformed_update'
  /** Signed by a guardian set that the quote file does not list. */
  | 'unknown_guardian_set'
  /** Not more than half of its guardian set signed it. */
  | 'not_signed'
  /** Signed, but published by another emitter. */
  | 'wrong_emitter'
  /** Signed, and a price is not a part of what was. */
  | 'wrong_proof'
  /** Too cheap to move: it guards nothing. */
  | 'thin_pool'
  /** The pool's other token has no price of its own. */
  | 'unpriced_pair'

export type SourceValue = {
  /** Above zero. */
  readonly usdX18: bigint
  readonly updatedAtMs: number
  /** The last moment at which this value counts. */
  readonly freshUntilMs: number
}

/** Last reading of one price by one source. */
export type SourceReading = {
  /** Unique per price, and what operators see: `feed base 0x…`, `http defillama`. */
  readonly source: string
  readonly kind: SourceKind
  /** When it last answered: a later one is another sample. Absent before the first answer. */
  readonly readAtMs?: number
  readonly block?: bigint
  readonly result: SourceValue | { readonly fault: SourceFault }
}

export type FreshReading = SourceReading & { readonly readAtMs: number; readonly result: SourceValue }

export function isFresh(reading: SourceReading, nowMs: number): reading is FreshReading {
  const { readAtMs, result } = reading
  return readAtMs !== undefined && 'usdX18' in result && nowMs <= result.freshUntilMs
}
