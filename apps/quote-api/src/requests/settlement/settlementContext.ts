import type { Hex, Ledger, SqlDatabase } from '@causeway/core'
import type { PutAsideReason } from '@causeway/families'
import type { QuotableChain } from '../../pricing/registry.ts'
import type { OrderSignatures } from '../orders/orderSignatures.ts'
import type { Screening } from '../screening/screenedRequest.ts'
import type { Announce } from '../status/requestProgress.ts'
import type { BookingNotes } from './amounts/bookings.ts'
import type { LateDeposits } from './amounts/priceLateDeposit.ts'
import type { SettlementChain } from './chain/settlementChain.ts'
import type { OtherRefund } from './deposits/depositDecision.ts'
import type { SettledRequest } from './settledRequest.ts'

/** Dependencies of the jobs of settlement. */
export type SettlementContext = {
  readonly database: SqlDatabase
  readonly ledger: Ledger
  /** Chains that can be read, by chain id. */
  readonly chains: ReadonlyMap<number, SettlementChain>
  readonly lateDeposits: LateDeposits
  /** Current cost of refunding a deposit in a currency other than the order's. */
  readonly otherRefund: (
    chain: QuotableChain,
    currency: string,
    relayedBy: SettledRequest['relayedBy'],
  ) => OtherRefund
  /** Undefined where no deny list is configured. */
  readonly screening: Screening | undefined
  readonly announce: Announce
  readonly signatures: OrderSignatures
  /** Writes the note that a solver stores with each fill, from which it can be booked if the database is lost. */
  readonly bookings: Pick<BookingNotes, 'write'>
  /** Unix milliseconds. */
  readonly now: () => number
  /** Called for every event of requests and deposits. */
  readonly observe: (event: SettlementEvent) => void
}

/** Amount of a deposit, in smallest units of a currency that need not be configured. */
type DepositedMoney = { readonly chainId: number; readonly currency: string; readonly amount: bigint }

/** An event of a request or deposit, for logs and metrics. */
export type SettlementEvent =
  | { readonly event: 'deposit_seen' | 'deposit_orphaned'; readonly requestId: Hex }
  /** A paid deposit left its chain and is booked as a loss; or it returned, and the booking is reversed. */
  | { readonly event: 'deposit_lost' | 'deposit_found'; readonly requestId: Hex }
  | { readonly event: 'deposit_bound'; readonly requestId: Hex; readonly deposit: DepositedMoney }
  /** A refund of a deposit is asked for. */
  | {
      readonly event: 'deposit_refund'
      readonly requestId: Hex
      readonly reason: string
      readonly deposit: DepositedMoney
    }
  | { readonly event: 'deposit_ignored'; readonly requestId: Hex; readonly reason: string }
  /** A refund was paid for a deposit, whatever becomes of its request. */
  | { readonly event: 'deposit_refunded'; readonly requestId: Hex; readonly deposit: DepositedMoney }
  | { readonly event: 'submitted' | 'success' | 'refund'; readonly requestId: Hex }
  | {
      readonly event: 'settled'
      readonly requestId: Hex
      readonly originChainId: number
      readonly amountMicroUsd: bigint
    }
  | { readonly event: 'fill_reopened'; readonly requestId: Hex; readonly reason: string }
  /** A solver reported a final transaction that does not pay the work item. */
  | {
      readonly event: 'false_report'
      readonly requestId: Hex
      readonly kind: 'fill' | 'refund'
      readonly problem: string
      readonly txHash: string
    }
  /** A transaction of a depository cannot be read, and is tried again apart from the others. */
  | {
      readonly event: 'put_aside'
      readonly chainId: number
      readonly transactionId: string
      readonly reason: PutAsideReason
    }
  /** A request, claim or transaction has made no progress for the limit. */
  | { readonly event: 'stands_still'; readonly subject: string; readonly reason: string }
  /** Endpoints list a transaction but do not answer for it; it is read again with growing pauses. */
  | {
      readonly event: 'unanswered'
      readonly chainId: number
      readonly transactionId: string
      readonly error: Error
    }
  /** A request waits for an operator. */
  | { readonly event: 'parked'; readonly requestId: Hex; readonly reason: string }
  /** An oracle's answer about a fill; `code` tells why it did not sign. */
  | {
      readonly event: 'oracle'
      readonly requestId: Hex
      readonly oracle: string
      readonly said: string
      readonly code?: string
    }

/** The readers of a chain. @throws Error if it left the configuration while it has open requests */
export function chainOf(context: Pick<SettlementContext, 'chains'>, chainId: number): SettlementChain {
  const chain = context.chains.get(chainId)
  if (chain === undefined) throw new Error(`chain ${chainId} cannot be read`)
  return chain
}

export function nowSeconds({ now }: Pick<SettlementContext, 'now'>): number {
  return Math.floor(now() / 1_000)
}
