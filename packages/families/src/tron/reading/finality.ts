import {
  describeFinality,
  type FinalHeight,
  type FinalityRule,
  type Heads,
  pinFinalHeight,
} from '../../ethereum/reading/finality.ts'
import type { TronHeader } from './answers.ts'

/** One endpoint's newest block, and its newest solidified block, which cannot be replaced. */
export type TronHeads = { readonly latest: TronHeader; readonly solid: TronHeader }

/**
 * The newest final height: by the chain's rule of blocks and seconds, but never above what enough endpoints have
 * solidified. Mode `tag` asks only for the latter. @source TRON developer documentation, "Solidified block"
 */
export function pinSolidHeight(
  rule: FinalityRule,
  threshold: number,
  heads: readonly TronHeads[],
): FinalHeight {
  const views = heads.map(({ latest, solid }): Heads => ({ latest, tagged: solid }))
  const pin = pinFinalHeight(rule, threshold, views)
  const solidHeight = pinFinalHeight({ ...rule, mode: 'tag' }, threshold, views).height
  return pin.height < solidHeight ? pin : { ...pin, height: solidHeight }
}

/** The finality rule as an attestation's evidence names it. */
export function describeSolidity(rule: FinalityRule): string {
  return rule.mode === 'tag' ? 'solidified' : `solidified, ${describeFinality(rule)}`
}
