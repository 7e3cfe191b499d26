// Types of the stored facts from which `timeline.ts` makes the timeline of a request.
import type { Hex } from '@causeway/core'
import type { MarketBasis } from '../orders/marketBasis.ts'
import type { DepositRowState } from '../settlement/deposits/depositStore.ts'
import type { ListedStandstill } from '../status/readStanding.ts'
import type { RequestStatus, SettlementStage } from '../status/requestProgress.ts'
import type { WorkKind, WorkState } from '../work/workItem.ts'

/** One row of `request_event`: a change of a part of a request. `said`: a reported transaction. @source migration 0061 */
export type RequestEvent = { readonly atMs: number; readonly reason: string | undefined } & (
  | {
      readonly part: 'deposit'
      /** `lost`: a loss is booked, because it was paid for and left its chain; `found`: the booking is reversed. */
      readonly state: DepositRowState | 'final' | 'lost' | 'found'
      readonly deposit: {
        readonly chainId: number
        readonly transaction: string
        readonly currency: string
        readonly amount: bigint
      }
    }
  | {
      readonly part: 'work'
      readonly state: WorkState | 'open_again' | 'withheld' | 'reverted'
      readonly work: {
        readonly kind: WorkKind
        readonly chainId: number
        readonly transaction: string | undefined
        /** Last report of the solver. */
        readonly said?: string | undefined
      }
    }
  | {
      readonly part: 'stage'
      readonly state: SettlementStage
      /** Attestation of the fill that the ledger relied on; absent if there was none. */
      readonly proof: { readonly kind: string; readonly signatures: readonly Signature[] } | undefined
    }
  | { readonly part: 'status'; readonly state: RequestStatus }
  | {
      readonly part: 'transaction'
      readonly state: 'deposit' | 'fill' | 'refund'
      readonly transaction: { readonly chainId: number; readonly hash: string }
    }
  | {
      readonly part: 'said'
      readonly state: 'said' | 'executed' | 'reverted' | 'other'
      readonly transaction: { readonly chainId: number; readonly hash: string }
    }
  | { readonly part: 'release'; readonly state: 'release' | 'refund' }
)

type Signature = { readonly signer: string; readonly signature: string }

/** Present or past hold of a sponsor for a request. */
export type Hold = {
  readonly createdAtMs: number
  readonly resolvedAtMs: number | undefined
  readonly state: 'reserved' | 'posted' | 'voided' | 'expired'
  readonly amountMicroUsd: bigint
  readonly postedMicroUsd: bigint | undefined
}

/** Facts of a request. Amounts in smallest units, prices in USD with 18 decimals per whole unit. */
export type RequestFacts = {
  readonly requestId: Hex
  readonly orderId: Hex | undefined
  readonly status: RequestStatus
  readonly createdAtMs: number
  /** Deadline of the order, after which no deposit is filled. */
  readonly deadlineMs: number
  readonly origin: QuotedSide
  readonly destination: QuotedSide
  /** Market data behind its prices; absent in requests older than this record. */
  readonly market: MarketBasis | undefined
  /** Newer request that replaced it before it was paid. */
  readonly supersededBy: { readonly requestId: string; readonly atMs: number } | undefined
  readonly holds: readonly Hold[]
  readonly events: readonly RequestEvent[]
  /** Its present standstill; undefined while it makes progress. */
  readonly standing:
    | Pick<
        ListedStandstill,
        'reason' | 'meaning' | 'endsBy' | 'report' | 'transaction' | 'listedAt' | 'needsOperator'
      >
    | undefined
  /** Since `atMs` the hub has its deposits and the promise; from `fromMs` on oracles release them. */
  readonly recoverable: { readonly atMs: number; readonly fromMs: number } | undefined
  /** Money that stays at its deposit address, and why. */
  readonly left: { readonly atMs: number; readonly reason: string } | undefined
}

/** One side of a quote: `amount` in smallest units of `currency`. */
export type QuotedSide = {
  readonly chainId: number
  readonly currency: string
  readonly amount: bigint
  readonly decimals: number
  readonly usdX18: bigint
}
