// One request of the service as a run keeps it, and what its order asks of deposits and refunds.
import { type DepositFact, type Hex, refundedDeposit, refundId } from '@causeway/core'
import type {
  HoldView,
  SeenDeposit,
} from '../../apps/quote-api/src/requests/settlement/deposits/pinDecision.ts'
import { chainNumbers, type UserChainId } from './network.ts'
import type { Quoted } from './quotes.ts'
import type { KnownOrder } from './world.ts'

export type WorkItem = {
  readonly kind: 'fill' | 'refund'
  readonly request: Request
  readonly chain: UserChainId
  /** True for what was deposited above the quoted input of a filled order. */
  readonly isSurplus?: boolean
  /** Another deposit may take the place of one that a reorganization dropped. */
  depositId: string
  payments: readonly { readonly recipient: Hex; readonly currency: Hex; readonly amount: bigint }[]
  state: 'open' | 'reported' | 'done' | 'failed' | 'cancelled'
  transaction: Hex | undefined
  attempts: number
}

export type TakenDeposit = {
  readonly id: string
  readonly transaction: Hex
  readonly fact: DepositFact
  /** Unix seconds of its block. */
  blockSeconds: number
  state: 'seen' | 'taken' | 'refund_due' | 'ignored' | 'orphaned'
}

export type Request = {
  readonly known: KnownOrder
  readonly quoted: Quoted
  readonly deposits: Map<string, TakenDeposit>
  readonly items: WorkItem[]
  stage: 'waiting' | 'filling' | 'filled' | 'settled' | 'refunding' | 'refunded' | 'parked'
  bound: TakenDeposit | undefined
  fillTransaction: Hex | undefined
  contradictions: number
  hold: HoldView
  /** Sum that it accrued when it was settled. */
  accrued: bigint
}

export const pinConfirmations = 1
export const finalitySeconds = 60

/** Nothing that a job would look at: it is over, every deposit has its end and no report is open. */
export function isAtRest({ stage, deposits, items }: Request, sent: readonly Hex[]): boolean {
  const isOver = stage === 'settled' || stage === 'refunded' || stage === 'parked'
  const isKnown = sent.every((id) => [...deposits.values()].some(({ transaction }) => transaction === id))
  const isOpen = items.some(({ state }) => state === 'reported')
  return isOver && isKnown && !isOpen && ![...deposits.values()].some(({ state }) => state === 'seen')
}

export const hexOf = (text: string): Hex => `0x${text.slice(2)}`

export function newItem(item: Omit<WorkItem, 'state' | 'transaction' | 'attempts'>): WorkItem {
  return { ...item, state: 'open', transaction: undefined, attempts: 0 }
}

export function seenAs({ id, fact }: TakenDeposit, chain: UserChainId, confirmations: number): SeenDeposit {
  const { currency, amount } = fact
  return {
    id,
    chainId: chainNumbers[chain],
    currency,
    amount,
    isDeep: confirmations >= pinConfirmations,
    isCanonical: true,
  }
}

export function depositTerms({ known }: Request) {
  const { order, origin } = known
  return {
    chainId: chainNumbers[origin],
    currency: order.inputs[0]?.payment.currency ?? '',
    amountMin: known.leastInput,
    deadlineSeconds: order.output.deadline,
    finalitySeconds,
  }
}

export function refundTerms({ known }: Request) {
  const refundMinimum = BigInt(known.order.inputs[0]?.refunds[0]?.minimumAmount ?? 0)
  return { inputAmount: known.leastInput, refundMinimum }
}

/** The id that the fill contract records for an item: the order's id, or that of the deposit's refund. */
export function recordIdOf({ kind, request, depositId, chain }: Omit<WorkItem, 'state'>): Hex {
  const { orderId } = request.known
  const all = [...request.deposits.values()]
  const taken = all.find(({ id }) => id === depositId)
  if (kind === 'fill' || taken === undefined) return orderId
  const { transaction: transactionId, fact } = taken
  const deposits = all.filter((one) => one.transaction === transactionId).map((one) => one.fact)
  return refundId(orderId, refundedDeposit(fact, { chainId: chainNumbers[chain], transactionId, deposits }))
}
