import { executionReverted, type Hex, orderRefused, quotedGasExceeded, sha256TextHex } from '@causeway/core'
import { InvalidAddressError } from '@causeway/core/encodings'
import { AlreadyMarkedError } from '@causeway/families'
import { isUnderpaid } from '../judge/judgeRefund.ts'
import { judgeSweep } from '../judge/judgeSweep.ts'
import { isSameSpelling, refuseOrder, refuseTerms } from '../judge/signedOrder.ts'
import { fillTurn, isOwnClaim, refundTurn, refuseTurn, type Turn } from '../judge/turns.ts'
import { depositKey, refundIdOf, type SeenDeposit } from '../judge/verdict.ts'
import { BudgetSpentError, type Charge } from '../wallet/budgets.ts'
import {
  type DeskWork,
  GasCoinShortError,
  LineBusyError,
  NoGasPriceError,
  type Subject,
} from '../wallet/chainDesk.ts'
import { UnattestedError } from '../wallet/exposure.ts'
import { needsOf } from '../wallet/fillTransaction.ts'
import { mayTryAgain } from '../wallet/move.ts'
import { AlreadyBegunError, OrderClosedError, StoppedError } from '../wallet/records.ts'
import { hasFailed, type KeptRecord } from '../wallet/signedRecord.ts'
import type { ProgramSweep, Relay, ScriptSweep } from '../work/relays.ts'
import { type PaidOrder, type ReadItem, readItem, type WorkItem } from '../work/workItems.ts'
import { paymentBound, relayBound } from './costBound.ts'
import { exposureOf } from './exposureOf.ts'
import type { Filling, Payment, SolverChain } from './filling.ts'
import { contractNamed, judge, recordsOfOthers } from './judgeItem.ts'
import { type Recovered, recover } from './recover.ts'

/**
 * Outcome of one look at a work item. `signed`: the record is kept, and sent once the service agrees; `refused`: the service
 * is told the reason; `later`: the next round looks again, or with `needsPause` a round some seconds later, because an
 * hour's budget does not come back in a moment. Reasons are sentences for people.
 */
export type Handled =
  | { readonly kind: 'signed'; readonly record: KeptRecord }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'later'; readonly reason: string; readonly needsPause?: boolean }
  | Recovered

const later = (reason: string): Handled => ({ kind: 'later', reason })
const refused = (reason: string): Handled => ({ kind: 'refused', reason })
/** Refusal that no other moment changes: settings of the service and the solver differ, or the item is forged. */
const refusedForGood = (reason: string): Handled => refused(`${orderRefused}: ${reason}`)

/** Looks at an open item once: checks it, and signs a transaction for it if everything fits. A round calls it per item. */
export async function handleItem(item: WorkItem, filling: Filling): Promise<Handled> {
  // An earlier attempt that has not failed is followed by its chain's desk, not here.
  if (!mayTryAgain(await filling.records.latest(item.id))) return later('it is under way')
  const reading = readItem(item)
  if (reading.kind === 'other') return later('it is of another kind')
  if (reading.kind === 'broken') return refused(reading.reason)
  const { chainId } = workOf(reading)
  const chain = filling.chains.find((one) => one.chainId === chainId)
  if (chain === undefined) return refusedForGood(`chain ${chainId} is none of this solver's`)
  if (!chain.desk.leads()) return later('another process has the lease')
  const refundAccount = goesBackTo(reading)
  if (refundAccount !== undefined && chain.payees.isBurnt(refundAccount))
    return refused(`it would go back to ${refundAccount}, an account that nobody holds`)
  if (refundAccount !== undefined && chain.codec.spellAddress(refundAccount) === chain.desk.address)
    return refused('it would go to the fill wallet itself')
  const halted = [chain.key, ...depositChainsOf(reading)].find(filling.isHalted)
  if (halted !== undefined) return later(`oracles halted chain ${halted}`)
  return laterIfPassing(() => {
    switch (reading.kind) {
      case 'relay':
        return relay(item.id, reading.relay, chain, filling)
      case 'sweep':
        return reading.sweep.kind === 'sweep'
          ? sweep(item.id, reading.sweep, chain, filling)
          : emptyAddress(item.id, reading.sweep, chain, filling)
      case 'order':
        return pay(item.id, reading.order, chain, filling)
      case 'recovery':
        return recover(reading.recovery, chain, filling)
    }
  })
}

type Reading = Exclude<ReadItem, { kind: 'other' | 'broken' }>

/** The account that the work gives money back to; undefined where it gives none back. @source Q-66 */
function goesBackTo(reading: Reading): string | undefined {
  switch (reading.kind) {
    case 'relay':
      return reading.relay.goesBackTo
    case 'sweep':
      return reading.sweep.goesBack ? reading.sweep.terms.depositor : undefined
    case 'order':
      return reading.order.kind === 'refund' ? reading.order.payments[0]?.recipient : undefined
    case 'recovery':
      return undefined
  }
}

/** Chains on which the money lies that pays for the work. */
function depositChainsOf(reading: Reading): readonly string[] {
  const inputs = (reading.kind === 'order' && reading.order.proof?.order.inputs) || []
  return inputs.map(({ payment }) => payment.chainId)
}

function workOf(reading: Reading): { readonly chainId: number } {
  switch (reading.kind) {
    case 'relay':
      return reading.relay
    case 'sweep':
      return reading.sweep
    case 'order':
      return reading.order
    case 'recovery':
      return reading.recovery
  }
}

/** Turns an error that may be gone at the next look into `later`. @throws other errors */
async function laterIfPassing(handle: () => Promise<Handled>): Promise<Handled> {
  try {
    return await handle()
  } catch (error) {
    if (error instanceof BudgetSpentError || error instanceof UnattestedError)
      return { kind: 'later', reason: error.message, needsPause: true }
    if (
      error instanceof StoppedError ||
      error instanceof AlreadyBegunError ||
      error instanceof LineBusyError ||
      error instanceof AlreadyMarkedError ||
      error instanceof NoGasPriceError ||
      error instanceof GasCoinShortError
    )
      return later(error.message)
    if (error instanceof OrderClosedError) return refused(error.message)
    throw error
  }
}

/**
 * Pays a fill, a refund or a claim. Cheap checks come first, then the solver's records, then chains; what depends on time
 * and balances is checked right before the transaction is signed.
 */
async function pay(id: string, paidOrder: PaidOrder, chain: SolverChain, filling: Filling): Promise<Handled> {
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
  // `begin` signs only if these records are still all: another process may judge the same order meanwhile.
  const past = await filling.records.ofPayment(order.orderId)
  if (order.kind !== 'refund' && isPaidByAnother(id, order, past))
    return refused(`another item ${order.kind === 'fill' ? 'filled the order' : 'paid the claim'}`)
  const payment = { order, chain, filling }
  if (await hasRevertedByCode(payment, past)) return refused(`${executionReverted}: it reverted on chain`)
  const { verdict, deposit } = await judge(payment, past)
  if (verdict.kind === 'refuse') return refused(verdict.reason)
  if (verdict.kind === 'wait') return later(verdict.reason)
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
    if (!(await chain.inventory.has(currency, amount, fillContract)))
      return later('the inventory does not reach')
  }
  const exposure = await exposureOf(payment, deposit, past)
  if (exposure === undefined) return later('no price is known')
  const deadline = Math.min(order.deadline, turn.endSeconds)
  const bound = paymentBound(payment, deposit)
  const work = { kind: 'payment', id: paidId, order: { ...order, deadline }, bound } as const
  if (await canPayFirst(payment, work)) return refused('the first account that the order refunds can be paid')
  const subject = { id, ...subjectOf(payment, deposit, verdict.lossMicroUsd), deadline, past, exposure }
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

/**
 * Id under which the chain records a payment. An order may have several refunds, so each is recorded by its deposit.
 */
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

/** What the record of a payment says beside its transaction: amounts, deposits, and charges to budgets. */
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
    ...(kind === 'refund' && { sharer: orderId }),
  }
}

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

/** Sends a sweep or a permit for others, through a contract that the solver's settings name. */
async function relay(
  id: string,
  { kind, contract, through, relayer, deadline, transaction, costed, signer }: Relay,
  chain: SolverChain,
  filling: Filling,
): Promise<Handled> {
  if (contract !== chain[through]) return refusedForGood('the contract is another one')
  if (relayer !== undefined && relayer !== chain.desk.address)
    return refusedForGood('the signature is for another account')
  if (isTooLate(chain, await chain.desk.chainTime(), deadline)) return refused('the deadline has passed')
  // A permit that reverted would cost the wallet the same gas again.
  if (kind === 'permit' && (await filling.records.latest(id))?.outcome === 'reverted')
    return refused(`${executionReverted}: it reverted on chain`)
  // Code of the signer may waste gas, so all permits of one such account share an allowance. An account that runs calls
  // through the multicall has code, or gets it by this transaction.
  const isContract =
    through === 'multicall3' || (signer !== undefined && (await chain.hasCode?.(signer)) !== false)
  const subject = { id, kind, orderId: undefined, deadline, ...(isContract && { sharer: signer }) }
  const bound = relayBound({ costed }, chain)
  return begin({ chain, filling }, subject, { kind: 'relay', transaction, bound })
}

/** Moves the coins at a deposit address that is a script. */
async function sweep(id: string, item: ScriptSweep, chain: SolverChain, filling: Filling): Promise<Handled> {
  const { sweeping, desk } = chain
  if (sweeping === undefined) return refused('no address of this chain is a script')
  const judged = judgeSweep(item, { key: chain.key, sweeping, orders: filling.orders })
  if (judged.kind === 'refuse') return refused(judged.reason)
  if (isTooLate(chain, await desk.chainTime(), item.deadline)) return refused('the deadline has passed')
  const outputs = await sweeping.outputsToSweep(item.depositAddress)
  if (outputs.reduce((sum, { value }) => sum + value, 0n) < item.amount)
    return later('what was paid to the address is not final')
  const { kind, deadline } = item
  const { recipient, orderId, script } = judged
  const work = { kind, recipient, orderId, swept: { script, nonce: item.terms.nonce, outputs } }
  return begin({ chain, filling }, { id, kind, orderId: undefined, deadline }, work)
}

/** Empties a deposit address of a program. The program enforces the destination, so only program and wallet are checked. */
async function emptyAddress(
  id: string,
  item: ProgramSweep,
  chain: SolverChain,
  filling: Filling,
): Promise<Handled> {
  const { program, depositAddress: address, terms, currency, order, orderSignature, deadline } = item
  if (chain.addressProgram === undefined || program !== chain.addressProgram)
    return refusedForGood('the program is another one')
  if (terms.sweeper !== chain.desk.address) return refusedForGood('another wallet empties the address')
  if (isTooLate(chain, await chain.desk.chainTime(), deadline)) return refused('the deadline has passed')
  const signed = item.goesBack ? undefined : { order, orderSignature }
  // The mark is of the item, not of the address: a later payment to the address is another item, with another mark.
  const markId: Hex = `0x${sha256TextHex(`sweep ${id}`).slice(-64)}`
  const work = { kind: 'emptying', id: markId, emptied: { address, terms, currency, signed } } as const
  return begin({ chain, filling }, { id, kind: 'sweep', orderId: undefined, deadline }, work)
}

const isTooLate = ({ landsWithinSeconds }: SolverChain, chainTime: number, deadline: number): boolean =>
  chainTime + landsWithinSeconds > deadline

/** Has the desk try the transaction and, if it would succeed, sign and keep it. */
async function begin(
  { chain: { desk }, filling }: Pick<Payment, 'chain' | 'filling'>,
  subject: Subject,
  work: DeskWork,
): Promise<Handled> {
  const prepared = await desk.prepare(work)
  if (prepared.kind === 'refused') {
    const { isDear, reason } = prepared
    return refused(`${isDear === true ? quotedGasExceeded : executionReverted}: ${reason}`)
  }
  if (filling.isDryRun) return later('it would be paid: this is a dry run')
  return { kind: 'signed', record: await prepared.begin(subject) }
}

/** Code that passed the trial and failed on chain fails again: its payment is not tried a second time. */
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
