import type { DepthRule, Finality } from '@causeway/core'
import type {
  LinePayingFamily,
  OpenFamilyChain,
  PayingChainFamily,
  QuotingChainFamily,
  RegisteredChain,
  SettlingChainFamily,
} from '@causeway/families'

/** One VM family as services see it: a line in `chainFamilies`. */
export type ChainFamily = {
  readonly open: OpenFamilyChain
  /** Settings beside the depository without which a chain cannot be read; empty when all are there. */
  readonly missing: (chain: RegisteredChain) => readonly string[]
  readonly quoting: QuotingChainFamily
  readonly settling: SettlingChainFamily
  readonly paying: FamilyPaying
  /** Rules of finality that all hold where a block is as deep; undefined where the chain itself says what is final. */
  readonly depthOf: ((rule: DepthRule) => readonly Finality[]) | undefined
}

/** A fill contract pays, or transactions that mark what they pay, or one line of transactions that spends outputs. */
export type FamilyPaying =
  | { readonly by: 'fill-contract' }
  | { readonly by: 'marked-transactions'; readonly family: PayingChainFamily }
  | { readonly by: 'outputs'; readonly family: LinePayingFamily }
