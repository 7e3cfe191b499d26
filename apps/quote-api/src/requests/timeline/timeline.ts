import { formatAmount, type Hex, orderRefused } from '@causeway/core'
import { reasonText } from '../status/reasons.ts'
import type { RequestStatus } from '../status/requestProgress.ts'
import { stepsOf } from './eventSteps.ts'
import type { Hold, QuotedSide, RequestFacts } from './requestFacts.ts'
import {
  amountText,
  type CurrencyLookup,
  type Evidence,
  solverSays,
  step,
  type TimelineStep,
} from './timelineStep.ts'

/** Record of everything that happened to a request, for integrators, operators and disputes. */
export type Timeline = {
  readonly requestId: Hex
  readonly orderId: Hex | undefined
  readonly status: RequestStatus
  readonly reason: string | undefined
  readonly steps: readonly TimelineStep[]
}

const usdDecimals = 18
const microUsdDecimals = 6

/** Makes the timeline of a request from its stored facts, oldest step first. Pure. */
export function timelineOf(facts: RequestFacts, nowMs: number, nameOf: CurrencyLookup): Timeline {
  const eventSteps = facts.events.flatMap((event, index) =>
    stepsOf(event, facts.events.slice(0, index), nameOf),
  )
  // The quote comes first in any case: its hold is stored with it and may have a slightly earlier time.
  const laterSteps = [
    ...facts.holds.flatMap(holdSteps),
    ...eventSteps,
    ...stepsWithoutEvent(facts, nowMs),
  ].toSorted((one, other) => one.atMs - other.atMs)
  const steps = [quotedStep(facts, nameOf), ...laterSteps]
  const { requestId, orderId, status } = facts
  return { requestId, orderId, status, reason: currentReason(facts), steps }
}

/**
 * Why the request ended, or why it waits at present; undefined if nothing is wrong. Standing facts come
 * first: recovery, a parked stage, a standstill. Else a request that did not succeed has the last reason of
 * its status, else of a deposit.
 */
function currentReason({ events, left, recoverable, status, standing }: RequestFacts): string | undefined {
  if (recoverable !== undefined) return 'DEPOSIT_RECOVERABLE'
  const stage = events.findLast(({ part }) => part === 'stage')
  if (stage?.state === 'parked') return stage.reason
  if (standing !== undefined) return standing.reason
  if (status === 'success') return undefined
  const statusEvent = events.findLast(({ part, reason }) => part === 'status' && reason !== undefined)
  const depositEvent = events.findLast(({ part, reason }) => part === 'deposit' && reason !== undefined)
  return statusEvent?.reason ?? depositEvent?.reason ?? left?.reason
}

function quotedStep(facts: RequestFacts, nameOf: CurrencyLookup): TimelineStep {
  const side = ({ chainId, currency, amount, decimals }: QuotedSide) =>
    amountText(nameOf, chainId, currency, amount, decimals)
  const price = (label: string, { chainId, usdX18 }: QuotedSide): Evidence => ({
    kind: 'price',
    label,
    value: `${formatAmount(usdX18, usdDecimals)} USD`,
    chainId,
  })
  const { origin, destination } = facts
  return step(
    'quoted',
    facts.createdAtMs,
    `Quoted: ${side(origin)} on chain ${origin.chainId} for ${side(destination)} on chain ${destination.chainId}.`,
    [
      { kind: 'amount', label: 'pays', value: side(origin), chainId: origin.chainId },
      { kind: 'amount', label: 'gets', value: side(destination), chainId: destination.chainId },
      price('price of what is paid', origin),
      price('price of what is got', destination),
      ...marketEvidence(facts.market),
      { kind: 'moment', label: 'deadline', value: new Date(facts.deadlineMs).toISOString() },
    ],
  )
}

/** Answer of each price source, and the blocks at which the chains were read. */
function marketEvidence(market: RequestFacts['market']): readonly Evidence[] {
  if (market === undefined) return []
  const prices = Object.entries(market.prices).flatMap(([key, sources]) =>
    sources.map(({ source, usdX18, atMs, block }): Evidence => {
      const blockText = block === undefined ? '' : `, read at block ${block}`
      return {
        kind: 'price',
        label: `${key} by ${source}${blockText}`,
        value: `${formatAmount(usdX18, usdDecimals)} USD of ${new Date(atMs).toISOString()}`,
      }
    }),
  )
  const chains = Object.entries(market.chains).flatMap(
    ([id, { block, hash, networkFee, agreed, configured }]) => {
      const chainId = Number(id)
      const agreementText = agreed === undefined ? '' : `, alike at ${agreed} of ${configured} endpoints`
      const blockEvidence: Evidence = {
        kind: 'block',
        label: `read at block ${block}${agreementText}`,
        value: hash ?? `${block}`,
        chainId,
      }
      return networkFee === undefined
        ? [blockEvidence]
        : [blockEvidence, { kind: 'price', label: 'network fee', value: networkFee, chainId } as const]
    },
  )
  return [...prices, ...chains]
}

function holdSteps(hold: Hold): readonly TimelineStep[] {
  const { amountMicroUsd, postedMicroUsd = 0n, resolvedAtMs, state } = hold
  const usd = (microUsd: bigint) => `${formatAmount(microUsd, microUsdDecimals)} USD`
  const evidence = (label: string, microUsd: bigint): Evidence[] => [
    { kind: 'amount', label, value: usd(microUsd) },
  ]
  const heldStep = step(
    'funds-held',
    hold.createdAtMs,
    `${usd(amountMicroUsd)} of the sponsor are held for its share.`,
    evidence('held', amountMicroUsd),
  )
  if (resolvedAtMs === undefined) return [heldStep]
  const endStep =
    state === 'posted'
      ? step(
          'sponsor-debited',
          resolvedAtMs,
          `The sponsor paid ${usd(postedMicroUsd)}.`,
          evidence('debited', postedMicroUsd),
        )
      : step(
          'funds-released',
          resolvedAtMs,
          `${usd(amountMicroUsd)} went back to the sponsor.`,
          evidence('released', amountMicroUsd),
        )
  return [heldStep, endStep]
}

/** Steps that are no stored events: replacement by a newer request, standstill, money left, recovery, expiry. */
function stepsWithoutEvent(facts: RequestFacts, nowMs: number): readonly TimelineStep[] {
  const { supersededBy, left, recoverable, events, deadlineMs, status, standing } = facts
  const steps: TimelineStep[] = []
  if (supersededBy !== undefined)
    steps.push(
      step('quoted-anew', supersededBy.atMs, 'Nothing had been paid; the request was quoted anew.', [
        { kind: 'request', label: 'goes on as', value: supersededBy.requestId },
      ]),
    )
  // A parked request has its own step.
  if (standing !== undefined && !standing.needsOperator) steps.push(standstillStep(standing))
  if (left !== undefined) {
    const text = `What was paid to the deposit address lies there. ${reasonText(left.reason)}`
    steps.push(step('payment-left', left.atMs, text, [], left.reason))
  }
  if (recoverable !== undefined) steps.push(recoverableStep(recoverable))
  const isPaid = events.some(({ part }) => part === 'deposit' || part === 'said')
  if (!isPaid && left === undefined && status === 'waiting' && nowMs > deadlineMs)
    steps.push(step('expired', deadlineMs, 'Nothing was paid before the deadline: nothing happens any more.'))
  return steps
}

function standstillStep(standing: NonNullable<RequestFacts['standing']>): TimelineStep {
  const { reason, meaning, endsBy, report, transaction, listedAt } = standing
  const solverText = reason === orderRefused ? ` ${solverSays(report)}` : ''
  return step(
    'stands-still',
    listedAt.getTime(),
    `It makes no progress. ${meaning}${solverText} What ends it: ${endsBy}`,
    transaction === undefined ? [] : [{ kind: 'transaction', label: 'tried', value: transaction }],
    reason,
  )
}

function recoverableStep({ fromMs, atMs }: NonNullable<RequestFacts['recoverable']>): TimelineStep {
  const recoverableFrom = new Date(fromMs).toISOString()
  return step(
    'recoverable',
    atMs,
    `The hub has the deposit and the promise that nobody fills or refunds the order. From ${recoverableFrom} on its depositor recovers and withdraws it.`,
    [{ kind: 'moment', label: 'recoverable from', value: recoverableFrom }],
    'DEPOSIT_RECOVERABLE',
  )
}
