import type { DepthRule } from '@causeway/core'
import type { Finality } from '@causeway/core/config'
import type { OpenFamilyChain } from './familyChain.ts'
import type { PayingChainFamily } from './payingChain.ts'
import type { QuotingChainFamily } from './quotingChain.ts'
import type { RegisteredChain } from './registeredChain.ts'
import type { SettlingChainFamily } from './settlingChain.ts'

/**
 * One VM family as services see it: a line in `chainFamilies`. `Line` is what pays on chains whose wallets spend
 * outputs, `Contract` what pays where nonces order transactions; each stands in the folder of its one family.
 * @source F-167
 */
export type ChainFamily<Line = never, Contract = never> = {
  readonly open: OpenFamilyChain
  /** Settings beside the depository without which a chain cannot be read; empty when all are there. */
  readonly missing: (chain: RegisteredChain) => readonly string[]
  /** Absent: its chains are read, and not quoted. */
  readonly quoting?: QuotingChainFamily
  readonly settling: SettlingChainFamily
  /** Absent: nobody is paid there. */
  readonly paying?: FamilyPaying<Line, Contract>
  /** Rules of finality that all hold where a block is as deep; absent where the chain itself says what is final. */
  readonly depthOf?: (rule: DepthRule) => readonly Finality[]
}

/** A fill contract pays, or transactions that mark what they pay, or one line of transactions that spends outputs. */
export type FamilyPaying<Line = never, Contract = never> =
  | { readonly by: 'fill-contract'; readonly family: Contract }
  | { readonly by: 'marked-transactions'; readonly family: PayingChainFamily }
  | { readonly by: 'outputs'; readonly family: Line }

/** For families whose chains need their endpoints and nothing else. */
export function missingEndpoints({ ready }: RegisteredChain): readonly string[] {
  return ready ? [] : ['httpRpcUrl']
}

/** Finalities of families whose blocks tell their times and that have a tag for what is final. */
export function finalitiesOf({ blocks, seconds, isFinalized }: DepthRule): readonly Finality[] {
  const byDepth: Finality =
    seconds > 0 ? { mode: 'depth-and-time', blocks, seconds } : { mode: 'depth', blocks }
  return isFinalized ? [byDepth, { mode: 'tag', tag: 'finalized' }] : [byDepth]
}
