import type { NetworkOf } from '@causeway/core'
import type { AddressPayments, PaymentRange, Transfer } from '@causeway/families'
import type { Logger } from 'pino'
import type { WatchSteps } from '../../chainReadings/blockCursor.ts'
import type { QuotableChain } from '../../pricing/registry.ts'
import type { SponsoredQuoteDependencies } from '../draft/createSponsoredQuote.ts'
import type { SettlementContext } from '../settlement/settlementContext.ts'
import type { HeldBalances } from './balanceReading.ts'

/** A chain as its deposit addresses are read; everything by quorum. */
export type AddressChain = {
  readonly chain: QuotableChain
  /** Newest block that a quorum has. */
  head(signal: AbortSignal): Promise<bigint>
  /** Newest block that no reorganization takes back. */
  finalHeight(signal: AbortSignal): Promise<bigint>
  /** Absent where blocks tell nothing of payments, and all addresses are looked at in turn. */
  readonly blocks?: {
    readonly steps: AddressSteps
    /** Reads the payments in a range of blocks, to watched addresses and others. */
    payments(range: PaymentRange, signal: AbortSignal): Promise<AddressPayments>
  }
  /** Blocks show every payment as one to its address: nobody looks at others in turn. */
  readonly isSeenInBlocks: boolean
  /** Accounts that paid an address; undefined if the chain cannot tell, absent where `payments` tells it. */
  payers?(
    address: string,
    height: bigint,
    signal: AbortSignal,
  ): Promise<readonly string[] | 'reading' | undefined>
  /** The transfer that brought most of a currency; absent where `payments` tells it. */
  transfer?(
    address: string,
    question: { readonly currency: string; readonly height: bigint },
    signal: AbortSignal,
  ): Promise<Transfer | undefined>
  /** Balances of addresses, in their order, up to a block height; undefined as in `AddressReading.held`. */
  balances(
    addresses: readonly string[],
    height: bigint,
    signal: AbortSignal,
  ): Promise<readonly (HeldBalances | undefined)[]>
}

/** Steps in which blocks of a chain are searched for payments. */
export type AddressSteps = WatchSteps & {
  /** Number of blocks before the head at which the very first search begins. */
  readonly firstBlocks: bigint
}

/** Dependencies of the jobs of deposit addresses. */
export type DepositAddressContext = Pick<
  SettlementContext,
  'database' | 'ledger' | 'now' | 'chains' | 'screening' | 'signatures' | 'announce'
> & {
  /** Dependencies of a new quote for a payment. */
  readonly quoting: SponsoredQuoteDependencies
  readonly networkOf: NetworkOf
  readonly logger: Logger
}
