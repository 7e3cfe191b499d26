import type { QuoteChain } from '@causeway/core/config'
import type { ChainMoment, NetworkFacts } from '@causeway/families'
import { aboveBound } from '@causeway/families/rules'
import { everyChain } from './stopStore.ts'

/** A fact of a network that configuration files assume and that the network may change. */
export type AssumptionKind = 'block-time' | 'finality-lag' | 'gas' | 'guardian-set'

/** A fact that differs from what the files assume. */
export type BrokenAssumption = {
  readonly what: AssumptionKind
  /** `everyChain` where it belongs to no chain. */
  readonly chainId: number
  /** The observed value and that of the file, in words. */
  readonly text: string
  /** True if money depends on it, so that nothing new begins on the chain. */
  readonly isStopping: boolean
}

/** A chain whose assumptions were checked at the date in `seen`; without `seen` they are not judged. */
type DatedChain = { readonly chainId: number; readonly config: Pick<QuoteChain, 'blockTimeMs' | 'seen'> }

/** Two blocks of a chain, the earlier first. */
export type Span = { readonly from: ChainMoment; readonly to: ChainMoment }

/** Shortest span from which the block time is measured, because blocks may come in bursts. */
const spanMinSeconds = 30
/** Longest block time that is judged; slower chains use proof of work, whose block time varies too much. */
const judgedBlockMaxMs = 15_000

/** True if the span between two blocks is long enough to measure the block rate. */
export const tellsPace = ({ from, to }: Span): boolean =>
  to.timestampSeconds - from.timestampSeconds >= spanMinSeconds && to.number > from.number

/**
 * Judges the block time of a chain by two of its blocks. Faster blocks stop the chain, since every depth in blocks then covers
 * less time; slower ones only make users wait. Pure. @source F-108
 */
export function judgeBlockTime(
  { chainId, config: { blockTimeMs, seen } }: DatedChain,
  span: Span,
): readonly BrokenAssumption[] {
  if (seen === undefined || blockTimeMs > judgedBlockMaxMs || !tellsPace(span)) return []
  const { from, to } = span
  const measuredMs = ((to.timestampSeconds - from.timestampSeconds) * 1_000) / Number(to.number - from.number)
  // Too fast: less than two thirds of the file's time. Too slow: more than four times as much.
  const isFast = measuredMs * 3 < blockTimeMs * 2
  if (!isFast && measuredMs <= blockTimeMs * 4) return []
  const text = `a block comes every ${Math.round(measuredMs)} ms, and the quote file says ${blockTimeMs} ms`
  return [{ what: 'block-time', chainId, text, isStopping: isFast }]
}

/** Multiple of the assumed lag that is tolerated, because a network that misses a vote or two catches up. */
const finalityFactor = 2

/** Judges how far the newest final block lags behind the head. Pure. @source F-109 */
export function judgeFinality(
  { chainId, config: { seen } }: DatedChain,
  { head, final }: Pick<NetworkFacts, 'head' | 'final'>,
): readonly BrokenAssumption[] {
  const seconds = seen?.finalitySeconds
  if (seconds === undefined || head === undefined || final === undefined) return []
  const lagSeconds = head.timestampSeconds - final.timestampSeconds
  if (lagSeconds <= finalityFactor * seconds) return []
  const text = `the newest final block is ${lagSeconds} s behind, and the quote file says ${seconds} s`
  return [{ what: 'finality-lag', chainId, text, isStopping: true }]
}

/** Judges whether known transactions use more gas than prices may be raised for. Pure. @source F-110 */
export function judgeGas(
  { chainId, config: { seen, feeModel } }: DatedChain & { readonly config: Pick<QuoteChain, 'feeModel'> },
  { shapes }: Pick<NetworkFacts, 'shapes'>,
): readonly BrokenAssumption[] {
  const above = aboveBound(shapes, 'unitsTimesMax' in feeModel ? feeModel.unitsTimesMax : undefined)
  if (seen === undefined || above.length === 0) return []
  const excesses = above.map(({ shape, units, countedUnits }) => `${shape} takes ${units} of ${countedUnits}`)
  const bound = 'feeModel.unitsTimesMax of the quote file says how many times that prices may follow'
  const text = `gas: ${excesses.join(', ')} that are counted on: ${bound}`
  return [{ what: 'gas', chainId, text, isStopping: true }]
}

/**
 * Judges whether signed prices come from an unlisted guardian set. Such prices are ignored, and currencies that
 * need them are not quoted, so nothing has to be stopped. Pure.
 * @param faults of sources with signed prices
 * @source F-111
 */
export function judgeGuardians(faults: readonly (string | undefined)[]): readonly BrokenAssumption[] {
  if (!faults.includes('unknown_guardian_set')) return []
  const text = 'prices are signed by a guardian set that guardianSets of the quote file does not list'
  return [{ what: 'guardian-set', chainId: everyChain, text, isStopping: false }]
}
