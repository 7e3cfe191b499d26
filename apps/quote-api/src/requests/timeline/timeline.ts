import { assertNever, formatAmount, type Hex, orderRefused } from '@causeway/core'
import { type Reason, reasonText } from '../status/reasons.ts'
import type { RequestStatus } from '../status/requestProgress.ts'
import type { WorkKind } from '../work/workItem.ts'
import type { Hold, QuotedSide, RequestEvent, RequestFacts } from './requestFacts.ts'

/** Everything that can happen to a request, in the words of its timeline. */
export const stepNames = [
  'quoted',
  'quoted-anew',
  'funds-held',
  'deposit-seen',
  'deposit-accepted',
  'deposit-final',
  'deposit-to-return',
  'deposit-returned',
  'deposit-kept',
  'deposit-stopped',
  'deposit-lost',
  'loss-booked',
  'loss-taken-back',
  'deposit-transaction',
  'payment-left',
  'asked-solver',
  'asked-solver-again',
  'solver-stopped',
  'solver-sent',
  'solver-reverted',
  'solver-done',
  'solver-gave-up',
  'solver-not-needed',
  'fill-seen',
  'refund-seen',
  'call-reported',
  'call-executed',
  'call-reverted',
  'call-unrelated',
  'attested',
  'ended-by-operator',
  'settled',
  'parked',
  'stands-still',
  'taken-up-again',
  'refund-needs-operator',
  'recoverable',
  'denial-lifted',
  'succeeded',
  'failed',
  'refunded',
  'sponsor-debited',
  'funds-released',
  'expired',
] as const
export type StepName = (typeof stepNames)[number]

export const evidenceKinds = [
  'amount',
  'price',
  'block',
  'transaction',
  'signature',
  'moment',
  'work',
  'request',
] as const

/** Something that a step rests on and that others can look up. */
export type Evidence = {
  readonly kind: (typeof evidenceKinds)[number]
  readonly label: string
  readonly value: string
  readonly chainId?: number
}

export type TimelineStep = {
  readonly step: StepName
  readonly atMs: number
  readonly reason: string | undefined
  /** One sentence for people. */
  readonly text: string
  readonly evidence: readonly Evidence[]
}

export type Timeline = {
  readonly requestId: Hex
  readonly orderId: Hex | undefined
  readonly status: RequestStatus
  readonly reason: string | undefined
  readonly steps: readonly TimelineStep[]
}

/** What a currency is called, where the configuration knows it. */
export type NameOf = (
  chainId: number,
  currency: string,
) => { readonly symbol: string; readonly decimals: number } | undefined

const usdDecimals = 18
const microUsdDecimals = 6

/** The story of a request, oldest step first. Pure. */
export function timelineOf(facts: RequestFacts, nowMs: number, nameOf: NameOf): Timeline {
  const ofEvents = facts.events.flatMap((event, index) =>
    stepsOf(event, facts.events.slice(0, index), nameOf),
  )
  // Its hold is written with it, a moment before by the clock.
  const afterwards = [...facts.holds.flatMap(holdSteps), ...ofEvents, ...around(facts, nowMs)].toSorted(
    (one, other) => one.atMs - other.atMs,
  )
  const steps = [quoted(facts, nameOf), ...afterwards]
  const { requestId, orderId, status } = facts
  return { requestId, orderId, status, reason: reasonNow(facts), steps }
}

/** Why the request is where it is: of its end, else of what it waits for. */
function reasonNow({ events, left, recoverable, status, standing }: RequestFacts): string | undefined {
  if (recoverable !== undefined) return 'DEPOSIT_RECOVERABLE'
  const stage = events.findLast(({ part }) => part === 'stage')
  if (stage?.state === 'parked') return stage.reason
  if (standing !== undefined) return standing.reason
  if (status === 'success') return undefined
  const told = events.findLast(({ part, reason }) => part === 'status' && reason !== undefined)
  const stopped = events.findLast(({ part, reason }) => part === 'deposit' && reason !== undefined)
  return told?.reason ?? stopped?.reason ?? left?.reason
}

const step = (
  name: StepName,
  atMs: number,
  text: string,
  evidence: readonly Evidence[] = [],
  reason?: string,
): TimelineStep => ({ step: name, atMs, reason, text, evidence })

function quoted(facts: RequestFacts, nameOf: NameOf): TimelineStep {
  const side = ({ chainId, currency, amount, decimals }: QuotedSide) =>
    amountText(nameOf, chainId, currency, amount, decimals)
  const price = (label: string, { chainId, usdX18 }: QuotedSide): Evidence => ({
    ...{ kind: 'price', label, value: `${formatAmount(usdX18, usdDecimals)} USD`, chainId },
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

/** What each source said, and at which blocks the chains were read. */
function marketEvidence(market: RequestFacts['market']): readonly Evidence[] {
  if (market === undefined) return []
  const prices = Object.entries(market.prices).flatMap(([key, sources]) =>
    sources.map(({ source, usdX18, atMs, block }): Evidence => {
      const read = block === undefined ? '' : `, read at block ${block}`
      return {
        kind: 'price',
        label: `${key} by ${source}${read}`,
        value: `${formatAmount(usdX18, usdDecimals)} USD of ${new Date(atMs).toISOString()}`,
      }
    }),
  )
  const chains = Object.entries(market.chains).flatMap(([id, { block, hash, networkFee, ...by }]) => {
    const chainId = Number(id)
    const alike = by.agreed === undefined ? '' : `, alike at ${by.agreed} of ${by.configured} endpoints`
    const at: Evidence = {
      kind: 'block',
      label: `read at block ${block}${alike}`,
      value: hash ?? `${block}`,
      chainId,
    }
    return networkFee === undefined
      ? [at]
      : [at, { kind: 'price', label: 'network fee', value: networkFee, chainId } as const]
  })
  return [...prices, ...chains]
}

function holdSteps(hold: Hold): readonly TimelineStep[] {
  const { amountMicroUsd, postedMicroUsd = 0n, resolvedAtMs, state } = hold
  const usd = (microUsd: bigint) => `${formatAmount(microUsd, microUsdDecimals)} USD`
  const evidence = (label: string, microUsd: bigint): Evidence[] => [
    { kind: 'amount', label, value: usd(microUsd) },
  ]
  const held = step(
    'funds-held',
    hold.createdAtMs,
    `${usd(amountMicroUsd)} of the sponsor are held for its share.`,
    evidence('held', amountMicroUsd),
  )
  if (resolvedAtMs === undefined) return [held]
  const ended =
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
  return [held, ended]
}

/** What no row tells: that nothing came, or that another request goes on. */
function around(
  { supersededBy, left, recoverable, events, deadlineMs, status, standing }: RequestFacts,
  nowMs: number,
): readonly TimelineStep[] {
  const steps: TimelineStep[] = []
  if (supersededBy !== undefined) {
    const { requestId, atMs } = supersededBy
    steps.push(
      step('quoted-anew', atMs, 'Nothing had been paid; the request was quoted anew.', [
        { kind: 'request', label: 'goes on as', value: requestId },
      ]),
    )
  }
  // A parked request has its own step.
  if (standing !== undefined && !standing.isOperators) {
    const { reason, meaning, endsBy, report, transaction, listedAt } = standing
    const said = reason === orderRefused ? ` ${solverSays(report)}` : ''
    const evidence =
      transaction === undefined ? [] : [{ kind: 'transaction', label: 'tried', value: transaction } as const]
    steps.push(
      step(
        'stands-still',
        listedAt.getTime(),
        `It makes no progress. ${meaning}${said} What ends it: ${endsBy}`,
        evidence,
        reason,
      ),
    )
  }
  if (left !== undefined) {
    steps.push(
      step(
        'payment-left',
        left.atMs,
        `What was paid to the deposit address lies there. ${reasonText(left.reason)}`,
        [],
        left.reason,
      ),
    )
  }
  if (recoverable !== undefined) {
    const { fromMs, atMs } = recoverable
    const moment = new Date(fromMs).toISOString()
    steps.push(
      step(
        'recoverable',
        atMs,
        `The hub has the deposit and the promise that nobody fills or refunds the order. From ${moment} on its depositor recovers and withdraws it.`,
        [{ kind: 'moment', label: 'recoverable from', value: moment }],
        'DEPOSIT_RECOVERABLE',
      ),
    )
  }
  const isPaid = events.some(({ part }) => part === 'deposit' || part === 'said')
  if (!isPaid && left === undefined && status === 'waiting' && nowMs > deadlineMs)
    steps.push(step('expired', deadlineMs, 'Nothing was paid before the deadline: nothing happens any more.'))
  return steps
}

/** In its words, without the code before them. */
const solverSays = (report = ''): string =>
  `It says: ${report.slice(orderRefused.length).replace(/^: /, '')}.`

function stepsOf(
  event: RequestEvent,
  before: readonly RequestEvent[],
  nameOf: NameOf,
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
      return [saidStep(event)]
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

type Of<Part extends RequestEvent['part']> = Extract<RequestEvent, { part: Part }>

const depositWords: Readonly<Record<Of<'deposit'>['state'], readonly [StepName, string]>> = {
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

function depositStep({ state, atMs, reason, deposit }: Of<'deposit'>, nameOf: NameOf): TimelineStep {
  const { chainId, transaction, currency, amount } = deposit
  const [name, words] = depositWords[state]
  const shown = amountText(nameOf, chainId, currency, amount)
  const why = reason === undefined || state === 'refunded' ? '' : ` ${reasonText(reason)}`
  return step(
    name,
    atMs,
    `The deposit of ${shown} on chain ${chainId} ${words}.${why}`,
    [
      { kind: 'transaction', label: 'deposit', value: transaction, chainId },
      { kind: 'amount', label: 'deposited', value: shown, chainId },
    ],
    reason,
  )
}

const workWords: Readonly<Record<Of<'work'>['state'], readonly [StepName, string]>> = {
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

function workStep({ state, atMs, work, reason }: Of<'work'>): TimelineStep {
  const { kind, chainId, transaction, said } = work
  const why = state === 'failed' && said?.startsWith(orderRefused) === true ? ` ${solverSays(said)}` : ''
  const [name, words] = workWords[state]
  return step(
    name,
    atMs,
    `${kindWords[kind]}: ${words.charAt(0).toLowerCase()}${words.slice(1)}.${why}`,
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
  { state, atMs, reason, proof }: Of<'stage'>,
  before: readonly RequestEvent[],
): readonly TimelineStep[] {
  const earlier = before.findLast(({ part }) => part === 'stage')
  switch (state) {
    case 'parked':
      return [step('parked', atMs, `It waits for an operator. ${reasonText(reason ?? '')}`, [], reason)]
    case 'settled': {
      if (proof === undefined) return [step('settled', atMs, 'Everything is settled.')]
      if (proof.signatures.length === 0)
        return [step('ended-by-operator', atMs, 'An operator ended it; the sponsor pays nothing.')]
      const count = proof.signatures.length
      return [
        step(
          'attested',
          atMs,
          `${count} ${count === 1 ? 'oracle has' : 'oracles have'} signed that the recipient was paid. Everything is settled.`,
          proof.signatures.map(({ signer, signature }) => ({
            ...({ kind: 'signature', label: `oracle ${signer}`, value: signature } as const),
          })),
        ),
      ]
    }
    case 'refunded':
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

function statusSteps({ state, atMs, reason }: Of<'status'>): readonly TimelineStep[] {
  const why = reason === undefined ? '' : ` ${reasonText(reason)}`
  switch (state) {
    case 'success':
      return [step('succeeded', atMs, 'The request succeeded.')]
    case 'failure':
      return [step('failed', atMs, `The request failed.${why}`, [], reason)]
    case 'refund':
      return [step('refunded', atMs, `The request was refunded.${why}`, [], reason)]
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
  { state, atMs, reason, transaction }: Of<'transaction'>,
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
      // Told already as a deposit.
      const isTold = before.some((other) => other.part === 'deposit' && other.deposit.transaction === hash)
      return isTold
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

const saidWords: Readonly<Record<Of<'said'>['state'], readonly [StepName, string]>> = {
  said: ['call-reported', 'Somebody says that this transaction carries the request out.'],
  executed: ['call-executed', 'The transaction is the quoted one, and succeeded.'],
  reverted: ['call-reverted', 'The transaction is the quoted one, and reverted.'],
  other: ['call-unrelated', 'The transaction does not carry the request out.'],
}

function saidStep({ state, atMs, transaction, reason }: Of<'said'>): TimelineStep {
  const [name, words] = saidWords[state]
  const { chainId, hash } = transaction
  return step(name, atMs, words, [{ kind: 'transaction', label: 'said', value: hash, chainId }], reason)
}

function amountText(
  nameOf: NameOf,
  chainId: number,
  currency: string,
  amount: bigint,
  decimals?: number,
): string {
  const named = nameOf(chainId, currency)
  if (named !== undefined) return `${formatAmount(amount, named.decimals)} ${named.symbol}`
  return decimals === undefined
    ? `${amount} units of ${currency}`
    : `${formatAmount(amount, decimals)} of ${currency}`
}
