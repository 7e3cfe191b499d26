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

/** The verdict, and the deposit that it is about. */
export type Judged = { readonly verdict: Verdict; readonly deposit?: SeenDeposit | undefined }

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
  // Before anything is closed or stopped for the sake of the refund.
  if (isFromDenied(filling.denyList, deposit)) return { verdict: deniedVerdict }
  const inputCurrency = inputCurrencyOf(proof, filling.networkOf)
  const hasFilledFrom = past.some((record) => record.kind === 'fill' && isPaidFrom(record, deposit))
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
    ...{ hasFilledFrom, inputCurrency, fill },
    appFees: await filling.records.appFeesOf(paidOrder.orderId),
    value,
    limits: filling.limits,
  })
  return { verdict, deposit }
}

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

const isPaidFrom = (record: KeptRecord, deposit: SeenDeposit): boolean =>
  !hasFailed(record) && record.deposits.some((key) => isOfSameSource(key, deposit))

/** An order that can still be filled, and that the service gives up, is closed where it would be paid, and its refund waits until that is final. */
async function settleFill(
  { orderId, endsOrder }: PaidOrder,
  { order }: Proof,
  past: readonly KeptRecord[],
  filling: Filling,
): Promise<FillState> {
  const destination = filling.chains.find(({ key }) => key === order.output.chainId)
  // A chain that this solver does not pay on has no fill of its wallet.
  if (destination === undefined) return { kind: 'open' }
  const { record } = destination
  const { state: recorded, timestampSeconds: finalSeconds } = await record.readFinal(orderId)
  const others = await othersFilling(
    { orderId, deadlineSeconds: order.output.deadline },
    destination,
    filling,
  )
  if (others === 'filled') return { kind: 'filled_by_another' }
  const fills = past.filter(({ kind }) => kind === 'fill')
  const { deadline } = order.output
  const ends = record.endsByDeadline ? deadline : undefined
  const state = fillStateOf(fills, ends, { recorded, finalSeconds })
  // Nothing that was signed in time is stopped by its deadline alone where the chain does not refuse it.
  const isPast = !record.endsByDeadline && finalSeconds > deadline
  // Another deposit may pay for the order: its fill is not stopped for the sake of this one.
  if (state.kind !== 'open' || (endsOrder !== true && !isPast))
    return state.kind === 'over' && others === 'open' ? { kind: 'open' } : state
  await stopSigned(
    past.filter(({ kind }) => kind === 'fill'),
    filling,
  )
  const paid = { id: orderId, extraData: order.output.extraData }
  if (recorded === 'open' && !filling.isDryRun) await closeRecord(paid, destination, filling)
  return state
}

async function othersFilling(
  order: { readonly orderId: Hex; readonly deadlineSeconds: number },
  destination: SolverChain,
  { sharing }: Filling,
): Promise<'filled' | 'open' | 'over'> {
  const { orderId: id, deadlineSeconds } = order
  return othersFill({ id, deadlineSeconds }, await recordsOfOthers(id, destination, sharing), sharing)
}

/** Payments of the other wallets of the market, from the fill contract at a final block. */
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

/** The contract that extra data of an order name, where this solver pays through it, else the chain's own. */
export async function contractNamed(
  extraData: string | undefined,
  { fillContract, fillContracts }: SolverChain,
): Promise<Hex | undefined> {
  const namedContract = extraData === undefined ? undefined : fillContractOf(extraData)
  if (namedContract === undefined || namedContract === fillContract || fillContracts === undefined)
    return fillContract
  return (await fillContracts()).includes(namedContract) ? namedContract : fillContract
}

/** @param paid.id of an order, or of the refund of its deposit; `extraData`: what the order says of it */
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

/** Cancels signed transactions that have not landed: none is sent again, and an empty one takes its nonce. */
export async function stopSigned(past: readonly KeptRecord[], { chains }: Filling): Promise<void> {
  for (const record of past) {
    if (record.outcome !== 'open') continue
    const desk = chains.find(({ chainId }) => chainId === record.chainId)?.desk
    if (desk?.leads() === true) await desk.cancel(record)
  }
}

export function inputCurrencyOf({ order }: Proof, networkOf: NetworkOf): string {
  const payment = order.inputs[0]?.payment
  const network = payment && networkOf(payment.chainId)
  return payment === undefined || network === undefined
    ? ''
    : codecOf(network).canonicalAddress(payment.currency)
}

/** In micro-USD, which decides how deep its deposit must be. */
export function worthOf({ payments, chainId }: PaidOrder, value: Valuer): bigint | undefined {
  const sum: UsdX18 | undefined = sumOfValues(
    payments.map(({ currency, amount }) => value(chainId, currency, amount)),
  )
  return sum === undefined ? undefined : lossOf(sum, 0n)
}
