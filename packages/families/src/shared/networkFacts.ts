import type { QuoteChain } from '@causeway/core/config'
import type { ChainClient } from '@causeway/rpc'
import type { ShapeUnits } from '../rules/measuredUnits.ts'

/** Chain to examine, for `networkFacts` of its family. */
export type NetworkQuestion = {
  readonly client: Pick<ChainClient, 'askEach' | 'electorate'>
  readonly config: Pick<QuoteChain, 'feeModel' | 'wrappedNative'>
  /** Sender of the estimated transactions; without one, `shapes` stays empty. */
  readonly fillWallet: string | undefined
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Height and time of a block. */
export type ChainMoment = { readonly number: bigint; readonly timestampSeconds: number }

/** Current facts of a network; each is read only as far as enough endpoints agree on it. */
export type NetworkFacts = {
  readonly head: ChainMoment | undefined
  /** The newest block that the network itself calls final. */
  readonly final: ChainMoment | undefined
  /** Kinds of transactions whose gas units are constants of this release, with their current units. */
  readonly shapes: readonly ShapeUnits[]
}
