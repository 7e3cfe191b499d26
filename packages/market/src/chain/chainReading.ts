import type { TipSource } from '@causeway/chains'
import type { CurrencyKey, Hex, PoolState } from '@causeway/core'
import type { GasShape } from '../gas/gasUnits.ts'
import type { FeedReading } from '../prices/feedReader.ts'
import type { ChainMarket, GasPrice } from '../snapshot.ts'

/** Everything read of one chain in one refresh. */
export type ChainReading = {
  readonly head: ChainMarket['head']
  /** Absent while endpoints contradict each other about it. */
  readonly gasPrice: GasPrice | undefined
  /** What the chain's last blocks allow a gas price to be. */
  readonly gasCeilingWei: bigint
  readonly tipFrom: TipSource
  readonly l1DataFeeWei: Readonly<Record<GasShape, bigint>>
  readonly inventory: ReadonlyMap<CurrencyKey, bigint>
  /** By feed address, as of `contractsAt`. */
  readonly feeds: ReadonlyMap<Hex, FeedReading>
  /** Block at which feeds and balances were read. */
  readonly contractsAt: { readonly block: bigint; readonly timestampSeconds: number }
  /** All at the head's hash; empty while they could not be read for it. */
  readonly pools: readonly PoolState[]
  /** True when the mirror answered for this head, or there is nothing to mirror. */
  readonly poolsLive: boolean
  /** Configured pools that the mirror leaves out, and why. */
  readonly poolProblems: ReadonlyMap<Hex, string>
}

/** The kinds of values that endpoints agree on, each by itself. */
export const agreedKinds = ['head', 'state', 'pools'] as const
export type AgreedKind = (typeof agreedKinds)[number]

/** Where readings come from. One per chain. */
export interface ChainSource {
  /**
   * The chain at the newest head that enough endpoints share; the same object while that head stays.
   * @throws DomainError when the chain gives no usable answer
   */
  read(signal: AbortSignal): Promise<ChainReading>
}
