import type { NetworkOf } from '@causeway/core'
import type { AddressPayments, LargestTransfer, PaymentRange } from '@causeway/families'
import type { Logger } from 'pino'
import type { WatchSteps } from '../../chainReadings/blockCursor.ts'
import type { QuotableChain } from '../../pricing/registry.ts'
import type { SponsoredQuoteDependencies } from '../draft/createSponsoredQuote.ts'
import type { SettlementContext } from '../settlement/settlementContext.ts'
import type { HeldBalances } from './balanceReading.ts'

/** Readings of one chain for the jobs of its deposit addresses, each agreed on by a quorum of endpoints. */
export type AddressChain = {
  readonly chain: QuotableChain
  /** Newest block that a quorum has. */
  head(signal: AbortSignal): Promise<bigint>
  /** The head that another reader saw a moment ago, if one did. */
  seenHead?(): bigint | undefined
  /** Newest block that no reorganization takes back. */
  finalHeight(signal: AbortSignal): Promise<bigint>
  /** Absent where blocks do not show payments, so that all addresses are looked at in turn. */
  readonly blocks?: {
    readonly steps: AddressSteps
    /** Reads all payments in a range of blocks, not only those to deposit addresses. */
    payments(range: PaymentRange, signal: AbortSignal): Promise<AddressPayments>
  }
  /** True if blocks show every payment to an address, so that only paid addresses need a look. */
  readonly isSeenInBlocks: boolean
  /**
   * Accounts that paid an address up to a height: 'reading' while they are being looked up, undefined if the chain cannot
   * tell. Absent where `payments` tells them.
   */
  payers?(
    address: string,
    height: bigint,
    signal: AbortSignal,
  ): Promise<readonly string[] | 'reading' | undefined>
  /** Largest transfer of a currency to an address, which its request shows; absent where `payments` has it. */
  transfer?(
    address: string,
    question: { readonly currency: string; readonly height: bigint },
    signal: AbortSignal,
  ): Promise<LargestTransfer | undefined>
  /** Balances at a block height, in the order of `addresses`; undefined where no endpoint answers. */
  balances(
    addresses: readonly string[],
    height: bigint,
    signal: AbortSignal,
  ): Promise<readonly (HeldBalances | undefined)[]>
}

/** Numbers of blocks in which a chain is searched for payments. */
export type AddressSteps = WatchSteps & {
  /** Number of blocks before the head at which the very first search begins. */
  readonly firstBlocks: bigint
}

/** Dependencies of the jobs of deposit addresses. */
export type DepositAddressContext = Pick<
  SettlementContext,
  'database' | 'ledger' | 'now' | 'chains' | 'screening' | 'signatures' | 'announce'
> & {
  /** Dependencies of quoting a payment anew. */
  readonly quoting: SponsoredQuoteDependencies
  readonly networkOf: NetworkOf
  readonly logger: Logger
}
