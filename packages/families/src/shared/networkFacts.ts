import type { QuoteChain } from '@causeway/core/config'
import type { ChainClient } from '@causeway/rpc'
import type { ShapeUnits } from '../ethereum/rules/quoting/dearerState.ts'

export type NetworkQuestion = {
  readonly client: Pick<ChainClient, 'askEach' | 'electorate'>
  readonly config: Pick<QuoteChain, 'feeModel' | 'wrappedNative'>
  /** From which transactions are estimated; without one none are. */
  readonly fillWallet: string | undefined
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** A place in a chain. */
export type ChainMoment = { readonly number: bigint; readonly timestampSeconds: number }

/** Facts of a network by one look at its chain, each as far as enough endpoints say it. */
export type NetworkFacts = {
  readonly head: ChainMoment | undefined
  /** The newest block that the network itself calls final. */
  readonly final: ChainMoment | undefined
  /** Transactions whose units the service has as a constant, with what they take now. */
  readonly shapes: readonly ShapeUnits[]
}
