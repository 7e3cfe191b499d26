import { fillContractOf, type Hex, type NetworkOf, type UsdX18 } from '@causeway/core'
import { codecOf } from '@causeway/core/encodings'
import { deniedVerdict, isFromDenied, paysDenied } from '../judge/denied.ts'
import { fillStateOf } from '../judge/fillState.ts'
import { judgeClaim } from '../judge/judgeClaim.ts'
import { judgeFill } from '../judge/judgeFill.ts'
import { type FillState, fitsOrder, judgeRefund } from '../judge/judgeRefund.ts'
import type { Proof } from '../judge/signedOrder.ts'
import { type OtherRecord, othersFill, type Sharing } from '../judge/turns.ts'
import {
  depositKey,
  isOfSameSource,
  lossOf,
  refuse,
  type SeenDeposit,
  sumOfValues,
  type Valuer,
  type Verdict,
  wait,
} from '../judge/verdict.ts'
import { mayTryAgain } from '../wallet/move.ts'
import { hasFailed, type KeptRecord } from '../wallet/signedRecord.ts'
import type { PaidOrder } from '../work/workItems.ts'
import type { Filling, Payment, SolverChain } from './filling.ts'

/** The verdict on a payment, and the deposit that pays for it or is given back; none for a claim. */
export type Judged = { readonly verdict: Verdict; readonly deposit?: SeenDeposit | undefined }

/**
 * Reads what a verdict depends on, and judges a fill, a refund or a claim by the rules of `judge`.
 * @param past all that was signed for the same order or claim
 * @throws DomainError where endpoints are silent or contradict each other
 */
export async function judge(payment: Payment, past: readonly KeptRecord[]): Promise<Judged> {
  const { order, chain, filling } = payment
  if (paysDenied(filling.denyList, order, chain.codec)) return { verdict: deniedVerdict }
  switch (order.kind) {
    case 'fill':
      return judgeOfferedFill(payment, past)
    case 'refund':
      return judgeOfferedRefund(payment, past)
    case 'claim':
      return { verdict: judgeClaim({ claim: order, ...filling.limits, value: filling.valuer() }) }
  }
}

async function judgeOfferedFill(
  { order: paidOrder, chain, filling }: Payment,
  past: readonly KeptRecord[],
): Promise<Judged> {
  const { proof } = paidOrder
  const [position, ...others] = proof?.deposits ?? []
  if (proof === undefined || position === undefined || others.length > 0)
    return { verdict: refuse('a fill is paid for by one deposit') }
  const value = filling.valuer()
  const worth = worthOf(paidOrder, value)
  if (worth === undefined) return { verdict: wait('no price is known') }
  const deposits = await filling.deposits.read(position, worth)
  const [deposit] = deposits ?? []
  if (isFromDenied(filling.denyList, deposit)) return { verdict: deniedVerdict }
  const verdict = judgeFill({
    asked: { ...paidOrder, chainKey: chain.key },
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
  { order: paidOrder, chain, filling }: Payment,
  past: readonly KeptRecord[],
): Promise<Judged> {
  const { proof } = paidOrder
  if (proof === undefined) return { verdict: refuse('the work names no order') }
  const [position, ...others] = proof.deposits
  const [payment] = paidOrder.payments
  if (position === undefined || others.length > 0 || payment === undefined)
    return { verdict: refuse('a refund gives back one deposit') }
  const value = filling.valuer()
  const worth = worthOf(paidOrder, value)
  if (worth === undefined) return { verdict: wait('no price is known') }
  const [deposit] = (await filling.deposits.read(position, worth)) ?? []
  if (deposit === undefined) return { verdict: wait('the deposit is not deep enough') }
  // Checked before `settleFill` closes or stops anything for this refund.
  if (isFromDenied(filling.denyList, deposit)) return { verdict: deniedVerdict }
  const inputCurrency = inputCurrencyOf(proof, filling.networkOf)
  const hasFilledFrom = past.some((record) => record.kind === 'fill' && isPaidFrom(record, deposit))
  // For any other deposit the fill is not read: the verdict does not depend on it.
  const fill: FillState =
    hasFilledFrom || fitsOrder(deposit, proof.order, inputCurrency)
      ? await settleFill(paidOrder, proof, past, filling)
      : { kind: 'open' }
  const verdict = judgeRefund({
    order: proof.order,
    refund: { orderId: paidOrder.orderId, chainId: chain.chainId, chainKey: chain.key, ...payment },
    deposit,
    isGivenBack: isGivenBack(past, deposit),
    givenBackThere: givenBackThere(past, deposit),
    hasFilledFrom,
    inputCurrency,
    fill,
    appFees: await filling.records.appFeesOf(paidOrder.orderId),
    value,
    limits: filling.limits,
  })
  return { verdict, deposit }
}

/** True if a refund of this very deposit was signed and has not failed. */
function isGivenBack(past: readonly KeptRecord[], deposit: SeenDeposit | undefined): boolean {
  if (deposit === undefined) return false
  const key = depositKey(deposit)
  return past.some(
    (record) => record.kind === 'refund' && !hasFailed(record) && record.deposits.includes(key),
  )
}

/** Sum given back of deposits of the same transaction and currency, by refunds that were or may be mined. */
function givenBackThere(past: readonly KeptRecord[], deposit: SeenDeposit): bigint {
  return past
    .filter((record) => record.kind === 'refund' && isPaidFrom(record, deposit))
    .flatMap(({ payments }): KeptRecord['payments'] => payments)
    .reduce((sum, { amount }) => sum + amount, 0n)
}

/** True if a record that has not failed uses, or gives back, a deposit of that transaction and currency. */
const isPaidFrom = (record: KeptRecord, deposit: SeenDeposit): boolean =>
  !hasFailed(record) && record.deposits.some((key) => isOfSameSource(key, deposit))

/**
 * State of the order's fill, for a refund, by the chain's records at a final block: this wallet's
 * (`fillStateOf`), and those of the others that share the market. It is `over`, so that the refund goes on,
 * only if none of them can fill the order any more. If this wallet still can, but the service has given the
 * order up (`endsOrder`) or the deadline has passed, its signed fills are cancelled and its id is closed on
 * the destination. The state is `open` until a later look finds the closing final.
 */
async function settleFill(
  { orderId, endsOrder }: PaidOrder,
  { order }: Proof,
  past: readonly KeptRecord[],
  filling: Filling,
): Promise<FillState> {
  const destination = filling.chains.find(({ key }) => key === order.output.chainId)
  // A chain that this solver no more pays on is not read, and fills there may have landed: the refund waits until it is
  // configured again.
  if (destination === undefined) return { kind: 'open' }
  const { record } = destination
  const { deadline, extraData } = order.output
  const { state: recorded, timestampSeconds: finalSeconds } = await record.readFinal(orderId)
  const otherRecords = await recordsOfOthers(orderId, destination, filling.sharing)
  const others = othersFill({ id: orderId, deadlineSeconds: deadline }, otherRecords, filling.sharing)
  if (others === 'filled') return { kind: 'filled_by_another' }
  const fills = past.filter(({ kind }) => kind === 'fill')
  const endSeconds = record.endsByDeadline ? deadline : undefined
  const state = fillStateOf(fills, endSeconds, { recorded, finalSeconds })
  // This wallet can fill the order no more, but another one can.
  if (state.kind === 'over' && others === 'open') return { kind: 'open' }
  // If the chain does not refuse a late fill, the passed deadline is a reason to stop it here.
  const isLate = !record.endsByDeadline && finalSeconds > deadline
  // While the order is not given up, another deposit may still pay for it, so its fill goes on.
  const isGivenUp = endsOrder === true || isLate
  if (state.kind !== 'open' || !isGivenUp) return state
  await stopSigned(fills, filling)
  const paid = { id: orderId, extraData }
  if (recorded === 'open' && !filling.isDryRun) await closeRecord(paid, destination, filling)
  return state
}

/** Records of an id on its chain at a final block, one for each other wallet that shares the market. */
export function recordsOfOthers(
  id: Hex,
  { record }: SolverChain,
  { fillWallets, own }: Sharing,
): Promise<readonly (OtherRecord & { readonly fillWallet: Hex })[]> {
  return Promise.all(
    fillWallets
      .filter((fillWallet) => fillWallet !== own)
      .map(async (fillWallet) => ({ fillWallet, ...(await record.readFinalOf(fillWallet, id)) })),
  )
}

/** The fill contract that an order's extra data names, if this solver pays through it; else the chain's own. */
export async function contractNamed(
  extraData: string | undefined,
  { fillContract, fillContracts }: SolverChain,
): Promise<Hex | undefined> {
  const namedContract = extraData === undefined ? undefined : fillContractOf(extraData)
  if (namedContract === undefined || namedContract === fillContract || fillContracts === undefined)
    return fillContract
  return (await fillContracts()).includes(namedContract) ? namedContract : fillContract
}

/**
 * Closes an id, so that this wallet can no more pay it. Does nothing while a closing is under way, another
 * process leads, or a trial of the closing fails: the next look tries again.
 * @param paid.id of an order, or of the refund of a deposit
 * @param paid.extraData of the order's output or refund, which names the fill contract
 */
export async function closeRecord(
  paid: { readonly id: Hex; readonly extraData: string | undefined },
  chain: SolverChain,
  { records }: Filling,
): Promise<void> {
  const { desk } = chain
  const id = `close-${paid.id.slice(2)}`
  if (!desk.leads() || !mayTryAgain(await records.latest(id))) return
  const fillContract = await contractNamed(paid.extraData, chain)
  const prepared = await desk.prepare({ kind: 'closing', id: paid.id, fillContract })
  if (prepared.kind === 'refused') return
  const subject = { id, kind: 'close' as const, orderId: undefined, deadline: undefined }
  await prepared.begin(subject)
}

/** Cancels records that are not at their end: their transactions are sent no more, and replaced where the chain can. */
export async function stopSigned(past: readonly KeptRecord[], { chains }: Filling): Promise<void> {
  for (const record of past) {
    if (record.outcome !== 'open') continue
    const desk = chains.find(({ chainId }) => chainId === record.chainId)?.desk
    if (desk?.leads() === true) await desk.cancel(record)
  }
}

/** Canonical spelling of the order's input currency; empty text if its chain is unknown, which equals no currency. */
export function inputCurrencyOf({ order }: Proof, networkOf: NetworkOf): string {
  const payment = order.inputs[0]?.payment
  const network = payment && networkOf(payment.chainId)
  return payment === undefined || network === undefined
    ? ''
    : codecOf(network).canonicalAddress(payment.currency)
}

/** Value of the payments in micro-USD, which decides how deep the deposit must be; undefined without a price. */
export function worthOf({ payments, chainId }: PaidOrder, value: Valuer): bigint | undefined {
  const sum: UsdX18 | undefined = sumOfValues(
    payments.map(({ currency, amount }) => value(chainId, currency, amount)),
  )
  // As a loss with nothing received, the whole sum is converted to micro-USD, rounded up.
  return sum === undefined ? undefined : lossOf(sum, 0n)
}
