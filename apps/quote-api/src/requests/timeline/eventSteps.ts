import { assertNever, orderRefused } from '@causeway/core'
import { type Reason, reasonText } from '../status/reasons.ts'
import type { WorkKind } from '../work/workItem.ts'
import type { RequestEvent } from './requestFacts.ts'
import {
  amountText,
  type CurrencyLookup,
  type Evidence,
  type StepName,
  solverSays,
  step,
  type TimelineStep,
} from './timelineStep.ts'

/** Steps of the timeline that one stored event becomes; none for events that tell nothing new. @param before earlier events */
export function stepsOf(
  event: RequestEvent,
  before: readonly RequestEvent[],
  nameOf: CurrencyLookup,
): readonly TimelineStep[] {
  switch (event.part) {
    case 'deposit':
      return [depositStep(event, nameOf)]
    case 'work':
      return [workStep(event)]
    case 'stage':
      return stageSteps(event, before)
    case 'status':
      return statusSteps(event)
    case 'transaction':
      return transactionSteps(event, before)
    case 'said':
      return [reportedCallStep(event)]
    case 'release':
      return [
        step(
          'denial-lifted',
          event.atMs,
          event.state === 'refund' ? 'An operator has it given back.' : 'An operator lets it go on.',
        ),
      ]
    default:
      return assertNever(event)
  }
}

type EventOf<Part extends RequestEvent['part']> = Extract<RequestEvent, { part: Part }>

/** Step and words of each event of a deposit. */
const depositWords: Readonly<Record<EventOf<'deposit'>['state'], readonly [StepName, string]>> = {
  seen: ['deposit-seen', 'was seen'],
  taken: ['deposit-accepted', 'pays the request'],
  final: ['deposit-final', 'is final'],
  refund_due: ['deposit-to-return', 'goes back'],
  refunded: ['deposit-returned', 'was given back'],
  ignored: ['deposit-kept', 'stays where it is'],
  held: ['deposit-stopped', 'waits for an operator'],
  orphaned: ['deposit-lost', 'left its chain'],
  lost: ['loss-booked', 'was paid for and left its chain: the operator bears the loss'],
  found: ['loss-taken-back', 'is back on its chain: the loss is taken back'],
}

function depositStep(
  { state, atMs, reason, deposit }: EventOf<'deposit'>,
  nameOf: CurrencyLookup,
): TimelineStep {
  const { chainId, transaction, currency, amount } = deposit
  const [name, words] = depositWords[state]
  const depositAmount = amountText(nameOf, chainId, currency, amount)
  // The step before, at which the refund was decided, has told the reason.
  const reasonSuffix = reason === undefined || state === 'refunded' ? '' : ` ${reasonText(reason)}`
  return step(
    name,
    atMs,
    `The deposit of ${depositAmount} on chain ${chainId} ${words}.${reasonSuffix}`,
    [
      { kind: 'transaction', label: 'deposit', value: transaction, chainId },
      { kind: 'amount', label: 'deposited', value: depositAmount, chainId },
    ],
    reason,
  )
}

const workWords: Readonly<Record<EventOf<'work'>['state'], readonly [StepName, string]>> = {
  open: ['asked-solver', 'The solver is asked for it'],
  open_again: ['asked-solver-again', 'The solver is asked for it again'],
  withheld: ['solver-stopped', 'The solver is not asked: somebody is denied'],
  reported: ['solver-sent', 'The solver sent it'],
  reverted: ['solver-reverted', 'Its transaction reverted'],
  done: ['solver-done', 'It is done for good'],
  failed: ['solver-gave-up', 'The solver gave up'],
  cancelled: ['solver-not-needed', 'It is not needed any more'],
}

const kindWords: Readonly<Record<WorkKind, string>> = {
  fill: 'Payment to the recipient',
  refund: 'Refund',
  permit: 'Deposit by signature',
  sweep: 'Emptying of the deposit address',
  claim: 'Claim',
  recovery: 'Entry of the deposit on the hub',
}

function workStep({ state, atMs, work, reason }: EventOf<'work'>): TimelineStep {
  const { kind, chainId, transaction, said } = work
  // A refusal of the order names the settings that differ, so the solver's own words follow.
  const reasonSuffix =
    state === 'failed' && said?.startsWith(orderRefused) === true ? ` ${solverSays(said)}` : ''
  const [name, words] = workWords[state]
  return step(
    name,
    atMs,
    `${kindWords[kind]}: ${words.charAt(0).toLowerCase()}${words.slice(1)}.${reasonSuffix}`,
    [
      { kind: 'work', label: 'work', value: kind, chainId },
      ...(transaction === undefined
        ? []
        : [{ kind: 'transaction', label: kind, value: transaction, chainId } as const]),
    ],
    reason,
  )
}

function stageSteps(
  { state, atMs, reason, proof }: EventOf<'stage'>,
  before: readonly RequestEvent[],
): readonly TimelineStep[] {
  const earlier = before.findLast(({ part }) => part === 'stage')
  switch (state) {
    case 'parked':
      return [step('parked', atMs, `It waits for an operator. ${reasonText(reason ?? '')}`, [], reason)]
    case 'settled': {
      if (proof === undefined) return [step('settled', atMs, 'Everything is settled.')]
      // An operator's own evidence takes the place of an attestation, and has no signatures.
      if (proof.signatures.length === 0)
        return [step('ended-by-operator', atMs, 'An operator ended it; the sponsor pays nothing.')]
      const count = proof.signatures.length
      return [
        step(
          'attested',
          atMs,
          `${count} ${count === 1 ? 'oracle has' : 'oracles have'} signed that the recipient was paid. Everything is settled.`,
          proof.signatures.map(({ signer, signature }) => ({
            kind: 'signature' as const,
            label: `oracle ${signer}`,
            value: signature,
          })),
        ),
      ]
    }
    case 'refunded':
      // The status `refund`, which is set with it, is the step.
      return []
    case 'filling':
    case 'filled':
    case 'refunding':
      return earlier?.state === 'parked'
        ? [step('taken-up-again', atMs, 'The usual rules look at it again.')]
        : []
    default:
      return assertNever(state)
  }
}

function statusSteps({ state, atMs, reason }: EventOf<'status'>): readonly TimelineStep[] {
  const reasonSuffix = reason === undefined ? '' : ` ${reasonText(reason)}`
  switch (state) {
    case 'success':
      return [step('succeeded', atMs, 'The request succeeded.')]
    case 'failure':
      return [step('failed', atMs, `The request failed.${reasonSuffix}`, [], reason)]
    case 'refund':
      return [step('refunded', atMs, `The request was refunded.${reasonSuffix}`, [], reason)]
    case 'waiting':
    case 'depositing':
    case 'pending':
    case 'submitted':
    case 'delayed':
      return reason === ('MANUAL_REFUND_REQUIRED' satisfies Reason)
        ? [step('refund-needs-operator', atMs, reasonText(reason), [], reason)]
        : []
    default:
      return assertNever(state)
  }
}

function transactionSteps(
  { state, atMs, reason, transaction }: EventOf<'transaction'>,
  before: readonly RequestEvent[],
): readonly TimelineStep[] {
  const { chainId, hash } = transaction
  const evidence: Evidence[] = [{ kind: 'transaction', label: state, value: hash, chainId }]
  switch (state) {
    case 'fill':
      return [
        step(
          'fill-seen',
          atMs,
          `The payment to the recipient is in a block of chain ${chainId}.`,
          evidence,
          reason,
        ),
      ]
    case 'refund':
      return [step('refund-seen', atMs, `The refund is in a block of chain ${chainId}.`, evidence, reason)]
    case 'deposit': {
      // The event of the deposit itself is already a step.
      const hasDepositStep = before.some(
        (other) => other.part === 'deposit' && other.deposit.transaction === hash,
      )
      return hasDepositStep
        ? []
        : [
            step(
              'deposit-transaction',
              atMs,
              `The user's transaction is in a block of chain ${chainId}.`,
              evidence,
              reason,
            ),
          ]
    }
    default:
      return assertNever(state)
  }
}

const reportedCallWords: Readonly<Record<EventOf<'said'>['state'], readonly [StepName, string]>> = {
  said: ['call-reported', 'Somebody says that this transaction carries the request out.'],
  executed: ['call-executed', 'The transaction is the quoted one, and succeeded.'],
  reverted: ['call-reverted', 'The transaction is the quoted one, and reverted.'],
  other: ['call-unrelated', 'The transaction does not carry the request out.'],
}

function reportedCallStep({ state, atMs, transaction, reason }: EventOf<'said'>): TimelineStep {
  const [name, words] = reportedCallWords[state]
  const { chainId, hash } = transaction
  return step(name, atMs, words, [{ kind: 'transaction', label: 'said', value: hash, chainId }], reason)
}
