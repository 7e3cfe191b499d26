import { executionReverted, type Hex } from '@causeway/core'
import { InvalidAddressError } from '@causeway/core/encodings'
import { isUnderpaid } from '../judge/judgeRefund.ts'
import { isSameSpelling, refuseOrder, refuseTerms } from '../judge/signedOrder.ts'
import { fillTurn, isOwnClaim, refundTurn, refuseTurn, type Turn } from '../judge/turns.ts'
import { depositKey, refundIdOf, type SeenDeposit } from '../judge/verdict.ts'
import type { Charge } from '../wallet/budgets.ts'
import type { DeskWork, Subject } from '../wallet/chainDesk.ts'
import { needsOf } from '../wallet/fillTransaction.ts'
import { OrderClosedError } from '../wallet/records.ts'
import { hasFailed, type KeptRecord } from '../wallet/signedRecord.ts'
import type { PaidOrder } from '../work/workItems.ts'
import { paymentBound } from './costBound.ts'
import { exposureOf } from './exposureOf.ts'
import type { Filling, Payment, SolverChain } from './filling.ts'
import { begin, type Handled, isTooLate, later, refused, refusedForGood } from './handled.ts'
import { contractNamed, judge, recordsOfOthers } from './judgeItem.ts'

/**
 * Pays a fill, a refund or a claim. Cheap checks come first, then the solver's records, then chains; what depends on time
 * and balances is checked right before the transaction is signed.
 */
export async function pay(
  id: string,
  paidOrder: PaidOrder,
  chain: SolverChain,
  filling: Filling,
): Promise<Handled> {
  const misspelled = findMisspelled(paidOrder, chain)
  if (misspelled !== undefined) return refused(`the payload is wrong at ${misspelled}`)
  const fillContract = await contractOf(paidOrder, chain)
  if (fillContract === 'unknown') return refusedForGood('the fill contract is another one')
  const order = { ...paidOrder, fillContract }
  const payeeRefusal = refusePayees(order, chain)
  if (payeeRefusal !== undefined) return refused(payeeRefusal)
  const forged = refuseForged(order, chain, filling)
  if (forged !== undefined) return refusedForGood(forged)
  if (await filling.records.isClosed(order.orderId)) throw new OrderClosedError()
  const chainTime = await chain.desk.chainTime()
  if (isTooLate(chain, chainTime, order.deadline)) return refused('the deadline has passed')
  // `begin` signs only if these records are then unchanged: another process may judge the same order
  // meanwhile.
  const past = await filling.records.ofPayment(order.orderId)
  if (order.kind !== 'refund' && isPaidByAnother(id, order, past))
    return refused(`another item ${order.kind === 'fill' ? 'filled the order' : 'paid the claim'}`)
  const payment = { order, chain, filling }
  if (await hasRevertedByCode(payment, past)) return refused(`${executionReverted}: it reverted on chain`)
  const { verdict, deposit } = await judge(payment, past)
  if (verdict.kind === 'refuse') return refused(verdict.reason)
  if (verdict.kind === 'wait') return later(verdict.reason)
  return payJudged(id, payment, { past, deposit, lossMicroUsd: verdict.lossMicroUsd, chainTime })
}

/** Facts by which a payment was judged. */
type JudgedFacts = {
  /** All that was signed for the same order or claim. */
  readonly past: readonly KeptRecord[]
  readonly deposit: SeenDeposit | undefined
  readonly lossMicroUsd: bigint
  /** Unix seconds of the paying chain's head. */
  readonly chainTime: number
}

/** Signs a payment whose verdict is to pay, if it is this wallet's turn and its inventory and limits reach. */
async function payJudged(
  id: string,
  payment: Payment,
  { past, deposit, lossMicroUsd, chainTime }: JudgedFacts,
): Promise<Handled> {
  const { order, chain, filling } = payment
  const paidId = recordedId(order, deposit)
  if (order.kind !== 'fill' && (await isRecorded(paidId, order, chain)))
    return refused('a fill contract has it as paid or closed')
  const turn = turnOf(payment, paidId, chainTime)
  if (turn === undefined || isTooLate(chain, chainTime, turn.endSeconds))
    return later('it is the turn of another fill wallet')
  const others = turn.afterSeconds === undefined ? [] : await recordsOfOthers(paidId, chain, filling.sharing)
  const turnRefusal = refuseTurn(turn, others)
  if (turnRefusal !== undefined) return later(turnRefusal)
  for (const [currency, amount] of needsOf(order)) {
    if (!(await chain.inventory.has(currency, amount, order.fillContract)))
      return later('the inventory does not reach')
  }
  const exposure = await exposureOf(payment, deposit, past)
  if (exposure === undefined) return later('no price is known')
  // Signed with the turn's end as its deadline, the transaction cannot land in another wallet's turn.
  const deadline = Math.min(order.deadline, turn.endSeconds)
  const bound = paymentBound(payment, deposit)
  const work = { kind: 'payment', id: paidId, order: { ...order, deadline }, bound } as const
  if (await canPayFirst(payment, work)) return refused('the first account that the order refunds can be paid')
  const subject = { id, ...subjectOf(payment, deposit, lossMicroUsd), deadline, past, exposure }
  return begin(payment, subject, work)
}

/**
 * The fill contract that the payment goes through. For a refund its order decides, whatever the item says; a fill or a claim
 * names the chain's own contract or a known replaced one. Undefined on chains without one.
 * @source rule L-29
 */
async function contractOf(
  { kind, fillContract, proof }: PaidOrder,
  chain: SolverChain,
): Promise<Hex | undefined | 'unknown'> {
  if (kind === 'refund') return contractNamed(proof?.order.inputs[0]?.refunds[0]?.extraData, chain)
  if (fillContract === chain.fillContract) return fillContract
  if (fillContract === undefined || chain.fillContracts === undefined) return 'unknown'
  return (await chain.fillContracts()).includes(fillContract) ? fillContract : 'unknown'
}

/**
 * True if any of several fill contracts has the payment as paid or closed. Each contract refuses only payments that it
 * recorded itself, and the order names only one of them for its fill.
 * @source rule L-29
 */
async function isRecorded(
  id: Hex,
  { orderId }: PaidOrder,
  { fillContracts, record }: SolverChain,
): Promise<boolean> {
  const contracts = (await fillContracts?.()) ?? []
  return contracts.length > 1 && (await record.readFinal(id, orderId)).state !== 'open'
}

/** Refuses payees by the address alone, independent of the service. @source Q-60 */
function refusePayees({ payments }: PaidOrder, { payees }: SolverChain): string | undefined {
  const [payeeKind] = payments.flatMap(({ recipient }) => payees.neverPaid(recipient) ?? [])
  return payeeKind === undefined ? undefined : `a payee is ${payeeKind}`
}

/** True if the order's first refund account could be paid by now, so that its second must not be. @source Q-64 */
async function canPayFirst(
  { order: { kind, proof, payments }, chain }: Payment,
  work: Extract<DeskWork, { kind: 'payment' }>,
): Promise<boolean> {
  const first = proof?.order.inputs[0]?.refunds[0]?.recipient
  const [payment] = payments
  if (kind !== 'refund' || first === undefined || payment === undefined) return false
  if (isSameSpelling(first, payment.recipient) || chain.payees.neverPaid(first) !== undefined) return false
  const order = { ...work.order, payments: [{ ...payment, recipient: first }] }
  return (await chain.desk.prepare({ ...work, order })).kind === 'ready'
}

/** Fields whose address is not in its chain's canonical spelling, which comparisons rely on; undefined if there is none. */
function findMisspelled({ payments }: PaidOrder, { codec }: SolverChain): string | undefined {
  const isSpelled = (text: string): boolean => {
    try {
      return codec.canonicalAddress(text) === text
    } catch (error) {
      if (error instanceof InvalidAddressError) return false
      throw error
    }
  }
  const wrong = payments.flatMap(({ recipient, currency }, index) => [
    ...(isSpelled(recipient) ? [] : [`payments.${index}.recipient`]),
    ...(isSpelled(currency) ? [] : [`payments.${index}.currency`]),
  ])
  return wrong.length === 0 ? undefined : wrong.join(', ')
}

/** Id under which the chain records a payment. An order may have several refunds, so each is recorded by its deposit. */
function recordedId({ kind, orderId }: PaidOrder, deposit: SeenDeposit | undefined): Hex {
  return kind !== 'refund' || deposit === undefined ? orderId : refundIdOf(orderId, deposit)
}

/** Reason that the order is not its signer's, or the payment not the order's. Asks no chain and no database. */
function refuseForged(order: PaidOrder, chain: SolverChain, { orders }: Filling): string | undefined {
  if (order.kind === 'claim') return undefined
  const { proof } = order
  if (proof === undefined) return 'the work names no order'
  const reason = refuseOrder(order.orderId, proof, orders)
  if (reason !== undefined || order.kind === 'refund') return reason
  const { address: filler } = chain.desk
  return refuseTerms({ ...order, chainKey: chain.key, filler }, proof.order)
}

/** This wallet's turn to pay; undefined while it is another wallet's. */
function turnOf({ order, filling }: Payment, paidId: Hex, nowSeconds: number): Turn | undefined {
  const { sharing } = filling
  const alone = { endSeconds: order.deadline, afterSeconds: undefined }
  switch (order.kind) {
    case 'fill':
      return fillTurn(order.orderId, order.deadline, sharing)
    case 'refund': {
      const orderDeadlineSeconds = order.proof?.order.output.deadline ?? order.deadline
      return sharing.fillWallets.length === 1
        ? alone
        : refundTurn({ id: paidId, orderDeadlineSeconds }, nowSeconds, sharing)
    }
    case 'claim':
      return isOwnClaim(paidId, sharing) ? alone : undefined
  }
}

/** Members of a payment's record beside its transaction: amounts, deposits, and charges to budgets. */
function subjectOf(
  { order, chain, filling }: Payment,
  deposit: SeenDeposit | undefined,
  lossMicroUsd: bigint,
): Omit<Subject, 'id'> {
  const { kind, orderId, deadline } = order
  const { lossPerHourMicroUsd, claimsPerHourMicroUsd } = filling.limits
  const charge: Charge =
    kind === 'claim'
      ? { budget: 'claims', amount: lossMicroUsd, perHour: claimsPerHourMicroUsd }
      : { budget: 'loss', amount: lossMicroUsd, perHour: lossPerHourMicroUsd }
  return {
    kind,
    orderId,
    deadline,
    payments: [...needsOf(order)].map(([currency, amount]) => ({ currency, amount })),
    deposits: deposit === undefined ? [] : [depositKey(deposit)],
    charges: [charge],
    isUnderpaid: deposit !== undefined && isUnderpaidRefund(order, deposit, { chain, filling }),
    // An order's refunds share one allowance of the gas budget, as far as their deposits do not pay the gas.
    ...(kind === 'refund' && { sharer: orderId }),
  }
}

/** `isUnderpaid`, by the part of the deposit that the refund leaves and by what a plain refund costs now. */
function isUnderpaidRefund(
  { kind, payments: [payment] }: PaidOrder,
  deposit: SeenDeposit,
  { chain, filling }: Pick<Payment, 'chain' | 'filling'>,
): boolean {
  if (kind !== 'refund' || payment === undefined) return false
  const { nativeCurrency } = chain.codec
  const value = filling.valuer()
  const cost = chain.costOf({ kind: 'refund', isNative: payment.currency === nativeCurrency })
  return isUnderpaid(
    value(deposit.chainId, deposit.currency, deposit.amount - payment.amount),
    cost === undefined ? undefined : value(chain.chainId, nativeCurrency, cost),
  )
}

/**
 * Code that passed the trial and failed on chain fails again: its payment is not tried a second time. An
 * account whose code cannot be read counts as having some.
 */
async function hasRevertedByCode(
  { order: { kind, calls, payments }, chain }: Payment,
  past: readonly KeptRecord[],
): Promise<boolean> {
  if (!past.some((record) => record.kind === kind && record.outcome === 'reverted')) return false
  if (calls.length > 0) return true
  const { hasCode } = chain
  if (hasCode === undefined) return false
  const codes = await Promise.all(payments.map(({ recipient }) => hasCode(recipient)))
  return codes.some((code) => code !== false)
}

/** True if another work item has paid the same fill or claim, or still may. */
function isPaidByAnother(id: string, order: PaidOrder, past: readonly KeptRecord[]): boolean {
  return past.some((record) => record.kind === order.kind && record.id !== id && !hasFailed(record))
}
