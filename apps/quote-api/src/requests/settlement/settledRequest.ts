import { type Hex, type Order, orderSchema, type SqlDatabase, type SqlTx, usdValueDown } from '@causeway/core'
import type { QuotableChain } from '../../pricing/registry.ts'
import { type DepositSwap, depositSwapSchema } from '../draft/depositAddress.ts'
import { type QuotedAmounts, quotedAmountsSchema } from '../history/quotedAmounts.ts'
import { toBytes, toHex } from '../orders/orderColumns.ts'
import { type Release, releasedColumn, senderDeniedColumn } from '../screening/screenedRequest.ts'
import type { RequestStatus, SettlementStage } from '../status/requestProgress.ts'
import { finalitySecondsOf } from './chain/depth.ts'
import type { RefundTerms } from './deposits/depositDecision.ts'
import type { DepositTerms, HoldView } from './deposits/pinDecision.ts'

/** A stored request that has an order, with its hold and settlement: what most jobs of settlement read and lock. */
export type SettledRequest = {
  readonly requestId: Hex
  readonly orderId: Hex
  readonly order: Order
  /** Undefined until the caller asked for it or the deposit was seen. */
  readonly orderSignature: Hex | undefined
  readonly quoted: QuotedAmounts
  /** Quoted input in smallest units of the fee currency, from which fees were computed. */
  readonly feeBasis: bigint
  readonly status: RequestStatus
  readonly failReason: string | undefined
  readonly user: string
  /** Recipient of the quote. With calls the order pays a clone, and what they leave over goes to this recipient. */
  readonly recipient: string
  /** API key of the caller that asked for the quote. */
  readonly apiKeyId: string | undefined
  /** Operator's decision on a request that the deny list held. */
  readonly released: Release | undefined
  /** True if a denied or unknown account paid its deposit address. */
  readonly isSenderDenied: boolean
  /** True if an operator gave the order up, so that it is neither filled nor refunded any more. */
  readonly isRecovered: boolean
  readonly originChainId: number
  readonly destinationChainId: number
  readonly expiresAtSeconds: number
  readonly deadlineSeconds: number
  /** Whole micro-USDC that the sponsor pays; 0n where the user does. */
  readonly debitMicroUsd: bigint
  readonly hold: HoldView
  /** Swap at the deposit address before the deposit; undefined without one. */
  readonly depositSwap: DepositSwap | undefined
  /** Unix time of the first sweep that was asked for; undefined without one. */
  readonly sweepAskedAtSeconds: number | undefined
  /** Transaction by which the solver makes the deposit; undefined if the user makes it. */
  readonly relayedBy: 'permit' | 'deposit_address' | undefined
  /** Undefined before any deposit was acted on. */
  readonly settlement:
    | {
        readonly stage: SettlementStage
        /** True if the request is bound to the deposit, which is on its chain and pays the order. */
        readonly isBound: boolean
        readonly depositId: bigint
        /** Transaction id of the fill, in its canonical spelling. */
        readonly fillTx: string | undefined
        /** Looks at this stage so far. */
        readonly attempts: number
        /** Consecutive contradictions between oracles and our own endpoints. */
        readonly contradictions: number
      }
    | undefined
}

const select = `
  select o.request_id, o.order_id, o.order_data, o.order_signature, o.quoted, o.quoted ->> 'feeBasis' as fee_basis,
    o.status, o.fail_reason, o.user_address, o.recipient, o.api_key_id, ${releasedColumn} as released,
    ${senderDeniedColumn} as is_sender_denied, o.execution ->> 'by' as executed_by, o.deposit_address is not null as has_address,
    o.deposit_swap, o.origin_chain_id, o.destination_chain_id,
    extract(epoch from o.expires_at)::bigint as expires_at, extract(epoch from o.deadline)::bigint as deadline,
    (select p.debit_micro_usd from request_sponsorship p where p.request_id = o.request_id) as debit,
    (select json_build_object('state', h.state, 'pinned', h.pinned,
        'expiresAt', floor(extract(epoch from h.expires_at)))
      from hold h where h.request_id = o.request_id order by h.attempt desc limit 1) as hold,
    (select floor(extract(epoch from min(w.created_at)))::bigint from work_item w
      where w.request_id = o.request_id and w.kind = 'sweep') as sweep_asked_at,
    exists (select from order_recovery r where r.request_id = o.request_id) as is_recovered,
    exists (select from hold_at_deposit d where d.request_id = o.request_id) as holds_at_deposit,
    s.stage, s.is_bound, s.deposit_id, s.fill_tx, s.attempts, s.contradictions
  from orders o left join settlement s on s.request_id = o.request_id
  where o.order_id is not null and o.request_id = $1`

export async function readSettledRequest(
  database: Pick<SqlDatabase, 'query'>,
  requestId: Hex,
): Promise<SettledRequest | undefined> {
  const [row] = await database.query<RequestRow>(select, [toBytes(requestId)])
  return row === undefined ? undefined : fromRow(row)
}

/** Locks the request until the transaction ends, and then reads what other jobs have committed until now. */
export async function lockSettledRequest(tx: SqlTx, requestId: Hex): Promise<SettledRequest | undefined> {
  await tx.query('select 1 from orders where request_id = $1 for update', [toBytes(requestId)])
  return readSettledRequest(tx, requestId)
}

export function refundTermsOf({ order }: SettledRequest): RefundTerms {
  const [input] = order.inputs
  const [refund] = input?.refunds ?? []
  if (input === undefined || refund === undefined) throw new Error('an order has one input with one refund')
  return { inputAmount: BigInt(input.payment.amount), refundMinimum: BigInt(refund.minimumAmount) }
}

/** Worth of the quoted input in micro-USD, rounded down, which decides the pin depth. */
export function orderValueMicroUsd({ quoted }: Pick<SettledRequest, 'quoted'>): bigint {
  return usdValueDown(quoted.amountIn, quoted.units.in) / usdX18PerMicroUsd
}

const usdX18PerMicroUsd = 10n ** 12n

/** Requirements that a deposit must fulfil to pay the order. */
export function depositTermsOf(request: SettledRequest, origin: QuotableChain): DepositTerms {
  const payment = request.order.inputs[0]?.payment
  if (payment === undefined) throw new Error('an order has one input')
  return {
    chainId: request.originChainId,
    currency: origin.codec.canonicalAddress(payment.currency),
    amountMin: BigInt(payment.amount),
    deadlineSeconds: request.deadlineSeconds,
    finalitySeconds: finalitySecondsOf(origin),
  }
}

type RequestRow = {
  readonly request_id: Buffer
  readonly order_id: Buffer
  readonly order_data: unknown
  readonly order_signature: Buffer | null
  readonly quoted: unknown
  readonly fee_basis: string
  readonly status: RequestStatus
  readonly fail_reason: string | null
  readonly user_address: string
  readonly recipient: string
  readonly api_key_id: string | null
  readonly released: Release | null
  readonly is_sender_denied: boolean
  readonly is_recovered: boolean
  readonly executed_by: string | null
  readonly has_address: boolean
  readonly deposit_swap: unknown
  readonly sweep_asked_at: bigint | null
  readonly origin_chain_id: bigint
  readonly destination_chain_id: bigint
  readonly expires_at: bigint
  readonly deadline: bigint
  readonly debit: bigint | null
  readonly hold: {
    readonly state: 'reserved' | 'posted' | 'voided' | 'expired'
    readonly pinned: boolean
    readonly expiresAt: number
  } | null
  readonly holds_at_deposit: boolean
  readonly stage: SettlementStage | null
  readonly is_bound: boolean | null
  readonly deposit_id: bigint | null
  readonly fill_tx: string | null
  readonly attempts: number | null
  readonly contradictions: number | null
}

function fromRow(row: RequestRow): SettledRequest {
  return {
    requestId: toHex(row.request_id),
    orderId: toHex(row.order_id),
    order: orderSchema.parse(row.order_data),
    orderSignature: row.order_signature === null ? undefined : toHex(row.order_signature),
    quoted: quotedAmountsSchema.parse(row.quoted),
    feeBasis: BigInt(row.fee_basis),
    status: row.status,
    failReason: row.fail_reason ?? undefined,
    user: row.user_address,
    recipient: row.recipient,
    apiKeyId: row.api_key_id ?? undefined,
    released: row.released ?? undefined,
    isSenderDenied: row.is_sender_denied,
    isRecovered: row.is_recovered,
    originChainId: Number(row.origin_chain_id),
    destinationChainId: Number(row.destination_chain_id),
    expiresAtSeconds: Number(row.expires_at),
    deadlineSeconds: Number(row.deadline),
    debitMicroUsd: row.debit ?? 0n,
    hold: holdOf(row),
    depositSwap: row.deposit_swap === null ? undefined : depositSwapSchema.parse(row.deposit_swap),
    sweepAskedAtSeconds: row.sweep_asked_at === null ? undefined : Number(row.sweep_asked_at),
    relayedBy: relayedBy(row),
    settlement:
      row.stage === null || row.deposit_id === null
        ? undefined
        : {
            stage: row.stage,
            isBound: row.is_bound === true,
            depositId: row.deposit_id,
            fillTx: row.fill_tx ?? undefined,
            attempts: Number(row.attempts ?? 0),
            contradictions: Number(row.contradictions ?? 0),
          },
  }
}

/** State of the newest hold. A voided hold of an unbound request was replaced by the hold of a newer quote. */
function holdOf({ hold, debit, deposit_id, is_bound, holds_at_deposit }: RequestRow): HoldView {
  if (debit === null || debit === 0n) return { state: 'none' }
  if (hold === null) return { state: holds_at_deposit ? 'at_deposit' : 'none' }
  if (hold.state === 'voided') return { state: is_bound === true ? 'voided' : 'superseded' }
  if (hold.state !== 'reserved') return { state: hold.state }
  // The settlement of a pinned hold names its deposit, so the empty id is only for the type.
  if (hold.pinned) return { state: 'pinned', depositId: String(deposit_id ?? '') }
  return { state: 'reserved', expiresAtSeconds: Number(hold.expiresAt) }
}

function relayedBy({ executed_by, has_address }: RequestRow): SettledRequest['relayedBy'] {
  if (has_address) return 'deposit_address'
  return executed_by === 'permit' ? 'permit' : undefined
}
