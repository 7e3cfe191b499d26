import {
  describeFinality,
  type FinalityRule,
  type FinalPin,
  type Heads,
  pinFinalHeight,
} from '../../ethereum/reading/finality.ts'
import type { TronHeader } from './answers.ts'

/** The chain's end as one endpoint sees it: the newest block, and the newest that cannot be replaced. */
export type TronHeads = { readonly latest: TronHeader; readonly solid: TronHeader }

/**
 * No block above what enough endpoints have solidified is final; blocks and seconds of the chain's rule
 * come on top. Mode `tag` asks for nothing more. @source TRON developer documentation, "Solidified block"
 */
export function pinSolidHeight(rule: FinalityRule, threshold: number, heads: readonly TronHeads[]): FinalPin {
  const views = heads.map(({ latest, solid }): Heads => ({ latest, tagged: solid }))
  const pin = pinFinalHeight(rule, threshold, views)
  const solid = pinFinalHeight({ ...rule, mode: 'tag' }, threshold, views).height
  return pin.height < solid ? pin : { ...pin, height: solid }
}

/** For evidence. */
export function describeSolidity(rule: FinalityRule): string {
  return rule.mode === 'tag' ? 'solidified' : `solidified, ${describeFinality(rule)}`
}
