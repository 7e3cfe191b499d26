// Invariants of books, rewards and the solver's payments, after every step.
import { maxBigint, minBigint } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import {
  fillProblem,
  paymentProblem,
} from '../../apps/quote-api/src/requests/settlement/payments/fillCheck.ts'
import { coinAddress } from './network.ts'
import { exposureLimits, type SignedPayment } from './parties/honestSolver.ts'
import { questionOf, reading } from './paymentReadings.ts'
import type { Request, TakenDeposit } from './serviceRequest.ts'
import { flowsOf } from './truth.ts'
import type { World } from './world.ts'

const sum = (amounts: readonly bigint[]) => amounts.reduce((all, one) => all + one, 0n)

/** I6: app fees and what was paid out never exceed what was deposited, the sponsor's debit and a reward. */
export async function booksAreSo(world: World): Promise<readonly string[]> {
  const settled = world.service.requests.filter(({ stage }) => stage === 'settled')
  return settled.flatMap((request) => booksOf(world, request))
}

function booksOf(world: World, request: Request): readonly string[] {
  const { known, quoted, bound, items, accrued } = request
  const fill = items.find(({ kind }) => kind === 'fill')
  // The fill of a deposit that a reorganization dropped stands for another one.
  if (bound === undefined || fill?.depositId !== bound.id) return []
  const deposited = depositedIn(world, request, bound)
  if (deposited === undefined) return []
  const posted = world.service.ledger.holds.get(quoted.requestId)?.find(({ state }) => state === 'posted')
  const debit = posted?.postedMicroUsd ?? 0n
  const back = items.filter(({ kind, depositId }) => kind === 'refund' && depositId === bound.id)
  const paid = sum(
    [...fill.payments, ...back.flatMap(({ payments }) => payments)].map(({ amount }) => amount),
  )
  const counted = minBigint(deposited, quoted.quotedInput)
  const owed = (quoted.debit * counted + quoted.quotedInput - 1n) / quoted.quotedInput
  return [
    ...(paid + accrued <= deposited + debit + quoted.reward
      ? []
      : [
          `I6: ${known.orderId} has ${deposited} and ${debit}, and books ${paid} paid and ${accrued} accrued`,
        ]),
    ...(debit <= owed ? [] : [`I6: the sponsor of ${known.orderId} owes ${owed} and paid ${debit}`]),
  ]
}

/** Sum that came to the depository, by the chain alone; undefined where a reorganization holds it back. */
function depositedIn(world: World, { known }: Request, { transaction }: TakenDeposit): bigint | undefined {
  const { origin, currency } = known
  const receipt = world.network.chains[origin].receiptOf(transaction)
  if (receipt === undefined) return undefined
  if (currency === 'coin') return receipt.value
  const { depository } = world.network.places[origin]
  const flows = flowsOf(world, origin, receipt)
  const token = world.token(origin, currency)
  return sum(flows.flatMap((one) => (one.to === depository && one.token === token ? [one.amount] : [])))
}

/** I7: no quote has a larger reward than its move earns in a row after all moves that were live. */
export function rewardsAreSo(world: World): readonly string[] {
  return world.service.requests.flatMap(({ known, quoted: { reward, earnable } }) =>
    reward <= earnable + 1n ? [] : [`I7: ${known.orderId} has a reward of ${reward}, and earns ${earnable}`],
  )
}

/**
 * I8: what the honest solver signs succeeds, and is proven once it is final, as long as its token carries what is paid.
 * Each payment is read once.
 */
export async function paymentsAreProven(world: World): Promise<readonly string[]> {
  const found = await Promise.all(
    world.solver.signed.map(async (payment) => {
      const { transaction, succeeded, isAsked } = payment
      if (!succeeded) return [`I8: ${transaction} was signed and failed`]
      if (!isAsked || world.proven.has(transaction) || !world.solver.isFinal(payment)) return []
      world.proven.add(transaction)
      const problem = await problemOf(world, payment)
      return problem === undefined ? [] : [`I8: ${transaction} was signed and is not attestable: ${problem}`]
    }),
  )
  return found.flat()
}

async function problemOf(world: World, payment: SignedPayment): Promise<string | undefined> {
  const { chain, kind, item, transaction, payments, recordId } = payment
  const { known } = item.request
  const receipt = world.network.chains[chain].receiptOf(transaction)
  if (receipt?.succeeded !== true) return undefined
  if (!carriesAll(world, payment)) return undefined
  const question = questionOf(known, transaction)
  const { deep } = world.auditor[chain]
  if (kind === 'fill') return fillProblem(known, await deep.readPayment(question, reading()), ethereumCodec)
  const [only] = payments
  if (only === undefined) return undefined
  const extraData = known.order.inputs[0]?.refunds[0]?.extraData ?? '0x'
  const facts = await deep.readPayment({ ...question, extraData, payments: [only], calls: [] }, reading())
  return paymentProblem({ ...only, amount: String(only.amount), recordId }, facts, ethereumCodec)
}

/** False where a token has begun to take a fee. */
function carriesAll(world: World, { chain, transaction, payments }: SignedPayment): boolean {
  const receipt = world.network.chains[chain].receiptOf(transaction)
  const flows = receipt === undefined ? [] : flowsOf(world, chain, receipt)
  return payments.every(
    ({ recipient, currency, amount }) =>
      currency === coinAddress ||
      flows.some((one) => one.to === recipient && one.token === currency && one.amount >= amount),
  )
}

/**
 * I9: what the honest solver paid for fills and no oracle attested is at most the limit and one payment more, beside what
 * was refused for good, and no fill is signed while more than the limit of its kind was refused.
 */
export function capHolds(world: World): readonly string[] {
  const open = world.solver.signed.filter(
    ({ transaction, chain, kind }) =>
      kind === 'fill' &&
      !world.oracles.attested.has(transaction) &&
      world.network.chains[chain].receiptOf(transaction)?.succeeded === true,
  )
  const over = (payments: readonly SignedPayment[], limit: bigint, what: string) => {
    const amounts = payments.map(({ microUsd }) => microUsd)
    const largest = amounts.reduce<bigint>(maxBigint, 0n)
    return sum(amounts) <= limit + largest ? [] : [`I9: ${sum(amounts)} is paid ${what} and not attested`]
  }
  const { chainMicroUsd, allMicroUsd, refusedMicroUsd } = exposureLimits
  // Payments that were refused for good have a limit of their own beside that of their chain.
  return [
    ...over(
      open.filter(({ chain }) => chain === 'base'),
      chainMicroUsd + refusedOf(open, 'base'),
      'on base',
    ),
    ...over(
      open.filter(({ chain }) => chain === 'optimism'),
      chainMicroUsd + refusedOf(open, 'optimism'),
      'on optimism',
    ),
    ...over(open, allMicroUsd + refusedOf(open), 'on all chains'),
    ...open
      .filter(({ refusedBefore }) => refusedBefore > refusedMicroUsd)
      .map(({ refusedBefore }) => `I9: signed after ${refusedBefore} of its kind was refused`),
  ]
}

const refusedOf = (open: readonly SignedPayment[], of?: SignedPayment['chain']) =>
  sum(
    open.flatMap(({ state, chain, microUsd }) =>
      state === 'refused' && (of === undefined || of === chain) ? [microUsd] : [],
    ),
  )
