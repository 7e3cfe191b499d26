import type { NetworkOf } from '@causeway/core'
import type { Logger } from 'pino'
import type { Reading } from '../../chainReadings/readings.ts'
import type { QuotableChain } from '../../pricing/registry.ts'
import type { SponsoredQuoteDependencies } from '../draft/createSponsoredQuote.ts'
import type { SettlementContext } from '../settlement/settlementContext.ts'

/** A chain as its deposit addresses are read; everything by quorum. */
export type AddressChain = {
  readonly chain: QuotableChain
  /** Newest block that a quorum has. */
  head(signal: AbortSignal): Promise<bigint>
  ask<T>(reading: Reading<T>, signal: AbortSignal): Promise<T>
}

/** What the jobs of deposit addresses work with. */
export type DepositAddressContext = Pick<
  SettlementContext,
  'database' | 'ledger' | 'now' | 'chains' | 'screening'
> & {
  /** What a new quote for arrived money is made with. */
  readonly quoting: SponsoredQuoteDependencies
  readonly networkOf: NetworkOf
  readonly logger: Logger
}
