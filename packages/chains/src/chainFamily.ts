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
  /** Absent: chains of the family are not quoted. */
  readonly quoting?: QuotingChainFamily
  /** Absent: its chains have fill contracts, or are not paid on. */
  readonly paying?: PayingChainFamily
  /** In the place of `paying` where chains keep coins in outputs. */
  readonly linePaying?: LinePayingFamily
  /** Rules of finality that all hold where a block is as deep. Absent where the chain itself says what is final. */
  readonly depthOf?: (rule: DepthRule) => readonly Finality[]
  /** Absent: settlement reads events of contracts. */
  readonly settling?: SettlingChainFamily
}
