import { codecOf, type Hex, type NetworkOf, refundId, type UsdX18 } from '@causeway/core'
import type { DepositReader } from '../facts/deposits.ts'
import type { PaymentRecord } from '../facts/paymentRecord.ts'
import { fillStateOf } from '../judge/fillState.ts'
import { judgeClaim } from '../judge/judgeClaim.ts'
import { judgeFill } from '../judge/judgeFill.ts'
import { type FillState, fitsOrder, judgeRefund } from '../judge/judgeRefund.ts'
import { type OrderRules, type Proof, refuseOrder, refuseTerms } from '../judge/signedOrder.ts'
import {
  depositKey,
  type LossLimits,
  lossOf,
  refuse,
  type SeenDeposit,
  sumOfValues,
  type Valuer,
  type Verdict,
  wait,
} from '../judge/verdict.ts'
import { BudgetSpentError, type Charge } from '../wallet/budgets.ts'
import type { ChainDesk, Subject } from '../wallet/chainDesk.ts'
import { NoGasPriceError } from '../wallet/chainDesk.ts'
import { fillTransaction, nativeCurrency, needsOf } from '../wallet/fillTransaction.ts'
import type { Inventory } from '../wallet/inventory.ts'
import { mayTryAgain } from '../wallet/nextMove.ts'
import { AlreadyBegunError, type Records, StoppedError } from '../wallet/records.ts'
import { hasFailed, type SignedRecord } from '../wallet/signedRecord.ts'
import type { PlannedTransaction, Relay } from '../work/relays.ts'
import { type PaidOrder, readItem, type WorkItem } from '../work/workItems.ts'

/** A chain that this solver pays on. */
export type SolverChain = {
  /** As orders name it. */
  readonly key: string
  readonly chainId: number
  readonly fillContract: Hex
  readonly depositAddresses: Hex | undefined
  readonly permitRouter: Hex | undefined
  readonly desk: ChainDesk
  readonly inventory: Inventory
  readonly record: PaymentRecord
}

export type FillingLimits = LossLimits & {
  readonly lossPerHourMicroUsd: bigint
  readonly claimsPerHourMicroUsd: bigint
}

export type Filling = {
  readonly chains: readonly SolverChain[]
  readonly records: Records
  readonly deposits: DepositReader
  readonly orders: OrderRules
  readonly networkOf: NetworkOf
  /** By the prices of this moment. */
  readonly valuer: () => Valuer
  readonly limits: FillingLimits
  /** True: everything is judged and nothing is signed. */
  readonly isDryRun: boolean
}

/**
 * `signed` may be sent when the service agrees; `refused` is told to it; `later` looks again. Reasons are sentences
 * for people, and the same ones are told and counted.
 */
export type Handled =
  | { readonly kind: 'signed'; readonly record: SignedRecord }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'later'; readonly reason: string }

const later = (reason: string): Handled => ({ kind: 'later', reason })
const refused = (reason: string): Handled => ({ kind: 'refused', reason })
/** Less time than this is too little to be mined in. */
const minedWithinSeconds = 15

/** Works on an open item once, or finds that it was worked on. */
export async function handleItem(item: WorkItem, filling: Filling): Promise<Handled> {
  if (!mayTryAgain(await filling.records.latest(item.id))) return later('it is under way')
  const reading = readItem(item)
  if (reading.kind === 'other') return later('it is of another kind')
  if (reading.kind === 'broken') return refused(reading.reason)
  const { chainId } = reading.kind === 'relay' ? reading.relay : reading.order
  const chain = filling.chains.find((one) => one.chainId === chainId)
  if (chain === undefined) return refused(`chain ${chainId} is none of this solver's`)
  if (!chain.desk.leads()) return later('another process has the lease')
  return reading.kind === 'relay'
    ? relay(item.id, reading.relay, chain, filling)
    : pay(item.id, reading.order, chain, filling)
}

type Payment = { readonly order: PaidOrder; readonly chain: SolverChain; readonly filling: Filling }

async function pay(id: string, order: PaidOrder, chain: SolverChain, filling: Filling): Promise<Handled> {
  if (chain.fillContract !== order.fillContract) return refused('the fill contract is another one')
  const forged = refuseForged(order, chain, filling)
  if (forged !== undefined) return refused(forged)
  if (await isTooLate(chain, order)) return refused('the deadline has passed')
  const past = await filling.records.ofPayment(order.orderId)
  if (order.kind !== 'refund' && isPaidByAnother(id, order, past))
    return refused(`another item ${order.kind === 'fill' ? 'filled the order' : 'paid the claim'}`)
  const payment = { order, chain, filling }
  const { verdict, deposit } = await judge(payment, past)
  if (verdict.kind === 'refuse') return refused(verdict.reason)
  if (verdict.kind === 'wait') return later(verdict.reason)
  for (const [currency, amount] of needsOf(order)) {
    if (!(await chain.inventory.has(currency, amount))) return later('the inventory does not reach')
  }
  const subject = { id, ...subjectOf(payment, deposit, verdict.lossMicroUsd), past }
  const { address: filler } = chain.desk.wallet
  return begin(payment, subject, fillTransaction(order, { id: recordedId(order, deposit), filler }))
}

/** What the fill contract records: of a refund, which is one of several that an order may have, its deposit. */
function recordedId({ kind, orderId }: PaidOrder, deposit: SeenDeposit | undefined): Hex {
  return kind !== 'refund' || deposit === undefined ? orderId : refundId(orderId, deposit)
}

/** The verdict, and the deposit that it is about. */
type Judged = { readonly verdict: Verdict; readonly deposit?: SeenDeposit | undefined }

async function judge(payment: Payment, past: readonly SignedRecord[]): Promise<Judged> {
  const { order, filling } = payment
  switch (order.kind) {
    case 'fill':
      return judgeOfferedFill(payment, past)
    case 'refund':
      return judgeOfferedRefund(payment, past)
    case 'claim':
      return { verdict: judgeClaim({ claim: order, ...filling.limits, value: filling.valuer() }) }
  }
}

/** What needs no chain and no database is looked at first: forged work costs nothing. */
function refuseForged(order: PaidOrder, chain: SolverChain, { orders }: Filling): string | undefined {
  if (order.kind === 'claim') return undefined
  const { proof } = order
  if (proof === undefined) return 'the work names no order'
  const reason = refuseOrder(order.orderId, proof, orders)
  if (reason !== undefined || order.kind === 'refund') return reason
  return refuseTerms({ ...order, chainKey: chain.key }, proof.order)
}

async function judgeOfferedFill(
  { order: asked, chain, filling }: Payment,
  past: readonly SignedRecord[],
): Promise<Judged> {
  const { proof } = asked
  const [named, ...others] = proof?.deposits ?? []
  if (proof === undefined || named === undefined || others.length > 0)
    return { verdict: refuse('a fill is paid for by one deposit') }
  const value = filling.valuer()
  const worth = worthOf(asked, value)
  if (worth === undefined) return { verdict: wait('no price is known') }
  const deposits = await filling.deposits.read(named, worth)
  const [deposit] = deposits ?? []
  const verdict = judgeFill({
    asked: { ...asked, chainKey: chain.key },
    order: proof.order,
    deposits,
    inputCurrency: inputCurrencyOf(proof, filling.networkOf),
    isGivenBack: isGivenBack(past, deposit),
    value,
    limits: filling.limits,
  })
  return { verdict, deposit }
}

async function judgeOfferedRefund(
  { order: asked, chain, filling }: Payment,
  past: readonly SignedRecord[],
): Promise<Judged> {
  const { proof } = asked
  if (proof === undefined) return { verdict: refuse('the work names no order') }
  const [named, ...others] = proof.deposits
  const [payment] = asked.payments
  if (named === undefined || others.length > 0 || payment === undefined)
    return { verdict: refuse('a refund gives back one deposit') }
  const value = filling.valuer()
  const worth = worthOf(asked, value)
  if (worth === undefined) return { verdict: wait('no price is known') }
  const [deposit] = (await filling.deposits.read(named, worth)) ?? []
  if (deposit === undefined) return { verdict: wait('the deposit is not deep enough') }
  const inputCurrency = inputCurrencyOf(proof, filling.networkOf)
  const fill: FillState = fitsOrder(deposit, proof.order, inputCurrency)
    ? await settleFill(asked, proof, past, filling)
    : { kind: 'open' }
  const verdict = judgeRefund({
    order: proof.order,
    refund: { orderId: asked.orderId, chainId: chain.chainId, chainKey: chain.key, ...payment },
    deposit,
    isGivenBack: isGivenBack(past, deposit),
    ...{ inputCurrency, fill },
    value,
    limits: filling.limits,
  })
  return { verdict, deposit }
}

function isGivenBack(past: readonly SignedRecord[], deposit: SeenDeposit | undefined): boolean {
  if (deposit === undefined) return false
  const key = depositKey(deposit)
  return past.some(
    (record) => record.kind === 'refund' && !hasFailed(record) && record.deposits.includes(key),
  )
}

/** An order that can still be filled, and that the service gives up, is closed where it would be paid, and its refund waits until that is final. */
async function settleFill(
  { orderId, endsOrder }: PaidOrder,
  { order }: Proof,
  past: readonly SignedRecord[],
  filling: Filling,
): Promise<FillState> {
  const destination = filling.chains.find(({ key }) => key === order.output.chainId)
  // A chain that this solver does not pay on has no fill of its wallet.
  if (destination === undefined) return { kind: 'open' }
  const { state: recorded, timestampSeconds: finalSeconds } = await destination.record.readFinal(orderId)
  const fills = past.filter(({ kind }) => kind === 'fill')
  const state = fillStateOf(fills, order.output.deadline, { recorded, finalSeconds })
  // Another deposit may pay for the order: its fill is not stopped for the sake of this one.
  if (state.kind !== 'open' || endsOrder !== true) return state
  await stopFill(past, filling)
  if (recorded === 'open' && !filling.isDryRun) await closeOrder(orderId, destination, filling)
  return state
}

async function closeOrder(orderId: Hex, { desk, record }: SolverChain, { records }: Filling): Promise<void> {
  const id = `close-${orderId.slice(2)}`
  if (!desk.leads() || !mayTryAgain(await records.latest(id))) return
  const transaction = record.closing(orderId)
  const simulation = await desk.wallet.simulate(transaction)
  if (!simulation.succeeds) return
  const subject = { id, kind: 'close' as const, orderId: undefined, deadline: undefined }
  await desk.begin(subject, { ...transaction, gas: simulation.gas })
}

/** A fill that was signed and is not mined: its nonce is taken for nothing. */
async function stopFill(past: readonly SignedRecord[], { chains }: Filling): Promise<void> {
  for (const record of past) {
    if (record.kind !== 'fill' || record.outcome !== 'open') continue
    const desk = chains.find(({ chainId }) => chainId === record.chainId)?.desk
    if (desk?.leads() === true) await desk.cancel(record)
  }
}

function inputCurrencyOf({ order }: Proof, networkOf: NetworkOf): string {
  const payment = order.inputs[0]?.payment
  const network = payment && networkOf(payment.chainId)
  return payment === undefined || network === undefined
    ? ''
    : codecOf(network).canonicalAddress(payment.currency)
}

/** In micro-USD, which decides how deep its deposit must be. */
function worthOf({ payments, calls, chainId }: PaidOrder, value: Valuer): bigint | undefined {
  const sum: UsdX18 | undefined = sumOfValues([
    ...payments.map(({ currency, amount }) => value(chainId, currency, amount)),
    ...calls.map((call) => value(chainId, nativeCurrency, call.value)),
  ])
  return sum === undefined ? undefined : lossOf(sum, 0n)
}

function subjectOf(
  { order, filling }: Payment,
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
    ...{ kind, orderId, deadline },
    payments: [...needsOf(order)].map(([currency, amount]) => ({ currency, amount })),
    deposits: deposit === undefined ? [] : [depositKey(deposit)],
    charges: [charge],
  }
}

async function relay(
  id: string,
  { kind, contract, deadline, transaction }: Relay,
  chain: SolverChain,
  filling: Filling,
): Promise<Handled> {
  const own = kind === 'sweep' ? chain.depositAddresses : chain.permitRouter
  if (contract !== own) return refused('the contract is another one')
  if (await isTooLate(chain, { deadline })) return refused('the deadline has passed')
  return begin({ chain, filling }, { id, kind, orderId: undefined, deadline }, transaction)
}

async function isTooLate(
  { desk }: SolverChain,
  { deadline }: { readonly deadline: number },
): Promise<boolean> {
  const { chainTime } = await desk.wallet.counts()
  return chainTime + minedWithinSeconds > deadline
}

async function begin(
  { chain: { desk }, filling }: Pick<Payment, 'chain' | 'filling'>,
  subject: Subject,
  transaction: PlannedTransaction,
): Promise<Handled> {
  const simulation = await desk.wallet.simulate(transaction)
  if (!simulation.succeeds) return refused(simulation.reason)
  if (filling.isDryRun) return later('it would be paid: this is a dry run')
  try {
    return { kind: 'signed', record: await desk.begin(subject, { ...transaction, gas: simulation.gas }) }
  } catch (error) {
    if (
      error instanceof BudgetSpentError ||
      error instanceof StoppedError ||
      error instanceof AlreadyBegunError ||
      error instanceof NoGasPriceError
    )
      return later(error.message)
    throw error
  }
}

function isPaidByAnother(id: string, order: PaidOrder, past: readonly SignedRecord[]): boolean {
  return past.some((record) => record.kind === order.kind && record.id !== id && !hasFailed(record))
}
