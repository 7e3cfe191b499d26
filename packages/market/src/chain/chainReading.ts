import type { CurrencyKey, Hex, PoolState } from '@causeway/core'
import type { AgreedGas, NetworkFeeRefusal, ShownNetworkFee } from '@causeway/families'
import type { NetworkFees, ShapeUnits } from '@causeway/families/rules'
import type { FeedReading } from '../prices/feedReader.ts'
import type { SequencerStatus } from '../prices/sequencer.ts'
import type { ChainMarket } from '../snapshot.ts'

/** Network fees of a chain as its family read them, or the reason not to charge them. */
export type FeeReading = {
  readonly fees: NetworkFees | NetworkFeeRefusal
  /** Fees as health reports them; undefined while they are unknown. */
  readonly shown: ShownGas | ShownNetworkFee | undefined
}

/** Gas prices of a contract chain as health reports them: integers in decimal text. */
export type ShownGas = {
  readonly expectedWei: string
  readonly maxFeePerGasWei: string
  readonly maxPriorityFeePerGasWei: string
  /** Highest gas price that the chain's last blocks support. */
  readonly ceilingWei: string
  readonly tipFrom: AgreedGas['tipFrom']
}

/** Everything read of one chain in one refresh. */
export type ChainReading = {
  readonly head: ChainMarket['head']
  readonly fees: FeeReading
  /** Gas units of known kinds of transactions (shapes), on chains where these are measured. */
  readonly shapes?: readonly ShapeUnits[]
  readonly inventory: ReadonlyMap<CurrencyKey, bigint>
  /** By feed address, as of `contractsAt`. */
  readonly feeds: ReadonlyMap<Hex, FeedReading>
  /** As of `contractsAt`; absent where no uptime feed is read, or its answer cannot be read. */
  readonly sequencer?: SequencerStatus | undefined
  /** Block at which feeds and balances were read. */
  readonly contractsAt: { readonly block: bigint; readonly timestampSeconds: number }
  /** Pools of the mirror, our copy of their ticks and liquidity, all at the head's hash; empty while it lacks that head. */
  readonly pools: readonly PoolState[]
  /** True when the mirror of pools answered for this head, or no pool is configured. */
  readonly poolsLive: boolean
  /** Configured pools that the mirror leaves out, and why. */
  readonly poolProblems: ReadonlyMap<Hex, string>
}

/** The kinds of values that endpoints agree on, each by itself. */
export const agreedKinds = ['head', 'state', 'pools'] as const
export type AgreedKind = (typeof agreedKinds)[number]

/** Source of a chain's readings. One per chain; `runMarket` calls it for every refresh. */
export interface ChainSource {
  /**
   * Reads the chain at the newest head that enough endpoints share. Returns the same object while that head stays.
   * @throws DomainError when the chain gives no usable answer
   */
  read(signal: AbortSignal): Promise<ChainReading>
  /**
   * The newest head that enough endpoints share, though its state may not be read yet; `undefined` before the first.
   * Absent on chains that are not read by block hash.
   */
  agreedHead?(): AgreedHead | undefined
}

/** A block that others may read at, by its hash. */
export type AgreedHead = { readonly number: bigint; readonly hash: Hex }
