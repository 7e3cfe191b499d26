import type { DepthRule } from '@causeway/core'
import type { Finality } from '@causeway/core/config'
import type { OpenFamilyChain } from './familyChain.ts'
import type { PayingChainFamily } from './payingChain.ts'
import type { QuotingChainFamily } from './quotingChain.ts'
import type { RegisteredChain } from './registeredChain.ts'
import type { SettlingChainFamily } from './settlingChain.ts'

/**
 * The code of one VM family that reads and pays chains, as services see it: an entry of `chainFamilies`. `LineFamily`
 * and `ContractFamily` are types of payers, see `FamilyPaying`: `never` unless the family pays that way. They are
 * parameters, because they are defined in the folders of single families, which this folder does not import.
 * @source F-167
 */
export type ChainFamily<LineFamily = never, ContractFamily = never> = {
  readonly open: OpenFamilyChain
  /** Names of missing settings, beside the depository, without which a chain cannot be read. */
  readonly missing: (chain: RegisteredChain) => readonly string[]
  /** Absent: its chains are read, but not quoted. */
  readonly quoting?: QuotingChainFamily
  readonly settling: SettlingChainFamily
  /** Absent: solvers cannot pay on its chains. */
  readonly paying?: FamilyPaying<LineFamily, ContractFamily>
  /** Finality rules, all of which a block of this depth meets; absent if only the chain itself decides finality. */
  readonly depthOf?: (rule: DepthRule) => readonly Finality[]
}

/**
 * Way in which solvers pay on chains of the family: by a fill contract, by transactions that leave a mark of
 * the payment id, or by one line of transactions, each of which spends an output of the one before.
 */
export type FamilyPaying<LineFamily = never, ContractFamily = never> =
  | { readonly by: 'fill-contract'; readonly family: ContractFamily }
  | { readonly by: 'marked-transactions'; readonly family: PayingChainFamily }
  | { readonly by: 'outputs'; readonly family: LineFamily }

/** `missing` of families whose chains need only endpoints. */
export function missingEndpoints({ ready }: RegisteredChain): readonly string[] {
  return ready ? [] : ['httpRpcUrl']
}

/** `depthOf` of families whose blocks have timestamps and whose nodes know the tag `finalized`. */
export function finalitiesOf({ blocks, seconds, isFinalized }: DepthRule): readonly Finality[] {
  const byDepth: Finality =
    seconds > 0 ? { mode: 'depth-and-time', blocks, seconds } : { mode: 'depth', blocks }
  return isFinalized ? [byDepth, { mode: 'tag', tag: 'finalized' }] : [byDepth]
}
