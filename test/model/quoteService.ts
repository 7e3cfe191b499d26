// The quote service as a run plays it: its pure rules decide, in the order its jobs ask them; what they decide is
// kept in maps in place of PostgreSQL. The sponsor's ledger is the model that a test holds equal to the real one.
import { type DepositFact, DomainError, onchainId } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import {
  isLate,
  type LateStep,
  lateStep,
} from '../../apps/quote-api/src/requests/settlement/amounts/lateDeposit.ts'
import {
  type DepositDecision,
  depositDecision,
  refundAmount,
  surplusRefund,
} from '../../apps/quote-api/src/requests/settlement/deposits/depositDecision.ts'
import {
  lateReservation,
  pinDecision,
  type SeenDeposit,
} from '../../apps/quote-api/src/requests/settlement/deposits/pinDecision.ts'
import { fillStep } from '../../apps/quote-api/src/requests/settlement/fills/fillStep.ts'
import {
  type OracleVote,
  settleDecision,
} from '../../apps/quote-api/src/requests/settlement/fills/settleDecision.ts'
import { paymentProblem } from '../../apps/quote-api/src/requests/settlement/payments/fillCheck.ts'
import { LedgerModel } from '../../packages/ledger/test/support/ledgerModel.ts'
import { chainNumbers, type Network, type UserChainId } from './network.ts'
import type { Oracles } from './oracles.ts'
import {
  fillReading,
  openReadChain,
  ownReading,
  type ReadChain,
  reading,
  refusalOr,
  unlessRefused,
} from './paymentReadings.ts'
import { type AskedQuote, type LiveMove, Market, type Quoted } from './quotes.ts'
import type { Rules } from './rules.ts'
import {
  depositTerms,
  finalitySeconds,
  hexOf,
  isAtRest,
  newItem,
  type Request,
  recordIdOf,
  refundTerms,
  seenAs,
  type TakenDeposit,
  type WorkItem,
} from './serviceRequest.ts'
import type { KnownOrder, SignedSettlement } from './world.ts'

const attemptsMax = 3
const oracleThreshold = 2
const holdSeconds = 90

const lateRules = { toleranceBps: 50, marketWaitSeconds: 120 }
const graceSeconds = 2

export class QuoteService {
  readonly requests: Request[] = []
  /** Settlements that oracles signed for it: each is a payment that a deposit was shown with. */
  readonly settlements: SignedSettlement[] = []
  /** Fates of quotes and deposits, for how far runs got. */
  readonly reached: string[] = []
  readonly ledger = new LedgerModel({ holdsPerUser: 5, unsettledShareBps: 10_000n })
  readonly chains: Readonly<Record<UserChainId, ReadChain>>
  readonly market: Market
  readonly #network: Network
  readonly #oracles: Oracles
  readonly #rules: Rules

  constructor(network: Network, oracles: Oracles, rules: Rules) {
    this.#network = network
    this.#oracles = oracles
    this.#rules = rules
    this.market = new Market(rules)
    this.chains = {
      base: openReadChain(network, rules, 'base'),
      optimism: openReadChain(network, rules, 'optimism'),
    }
  }

  /** Unix seconds. */
  get now(): number {
    return Number(this.#network.chains.base.headSeconds)
  }

  /** @returns undefined where its least deposit would buy nothing */
  price(asked: AskedQuote): Quoted | undefined {
    this.#showBound()
    return this.market.quote(asked, this.liveMoves(), this.now)
  }

  /** Keeps a quote; what a sponsor was to pay is reserved, or the quote is given back. */
  quote(known: KnownOrder, quoted: Quoted): Request | undefined {
    const { owner, origin, destination } = known
    const { requestId, debit, held } = quoted
    const status =
      debit === 0n
        ? undefined
        : this.ledger.reserve({
            requestId,
            sponsor: this.sponsor,
            apiKeyId: 'key',
            user: owner.address,
            recipient: owner.address,
            components: ['relay'],
            amountMicroUsd: debit,
            lifetimeSeconds: holdSeconds,
            requoteKey: requestId,
            originChainId: chainNumbers[origin],
            destinationChainId: chainNumbers[destination],
          })
    if (status !== undefined && status !== 'reserved' && status !== 'at_deposit') {
      held?.release()
      return undefined
    }
    const request: Request = {
      known,
      quoted,
      deposits: new Map(),
      items: [],
      stage: 'waiting',
      accrued: 0n,
      bound: undefined,
      fillTransaction: undefined,
      contradictions: 0,
      hold:
        status === 'reserved'
          ? { state: 'reserved', expiresAtSeconds: this.now + holdSeconds }
          : { state: status === 'at_deposit' ? 'at_deposit' : 'none' },
    }
    this.requests.push(request)
    return request
  }

  /** Moves that earn a reward, not shown by the inventory: quotes that can be deposited for, and deposits. */
  liveMoves(without?: Request): readonly LiveMove[] {
    return this.requests.flatMap((request) => {
      const { move, requestId } = request.quoted
      const isLive =
        this.#isBound(request) || (isOpen(request) && this.market.isHeld(request.quoted, this.now))
      return move !== undefined && isLive && request !== without ? [{ requestId, move }] : []
    })
  }

  #isBound({ stage, deposits }: Request): boolean {
    if (stage === 'filling') return true
    return stage === 'waiting' && [...deposits.values()].some(({ state }) => state === 'seen')
  }

  /** Shows what processes read again and again of all of them. */
  #showBound(): void {
    const bound = this.requests.filter((request) => this.#isBound(request) || request.stage === 'filled')
    const moves = bound.flatMap(({ quoted: { requestId, move } }) =>
      move === undefined ? [] : [[requestId, move] as const],
    )
    this.market.showBound(moves, this.now)
  }

  get sponsor(): `0x${string}` {
    return this.#network.keys.sponsor.address
  }

  openItems(): readonly WorkItem[] {
    return this.requests.flatMap(({ items }) => items.filter(({ state }) => state === 'open'))
  }

  /** A solver's report is a hint. One transaction is reported for one item. */
  report(item: WorkItem, transaction: `0x${string}`): void {
    const isTaken = this.requests.some(({ items }) => items.some((one) => one.transaction === transaction))
    if (item.state !== 'open' || isTaken) return
    item.state = 'reported'
    item.transaction = transaction
  }

  fail(item: WorkItem): void {
    if (item.state === 'open') item.state = 'failed'
  }

  /** One round of all jobs over one request. @param sent transactions of its origin that may hold deposits */
  async serve(request: Request, sent: readonly `0x${string}`[]): Promise<void> {
    if (isAtRest(request, sent)) return
    this.#showBound()
    try {
      await this.#watchDeposits(request, sent)
      await this.#followFill(request)
      await this.#followRefunds(request)
      await this.#attest(request)
    } catch (error) {
      // Endpoints that contradict each other or are silent: the job comes again.
      if (!(error instanceof DomainError)) throw error
    }
  }

  async #watchDeposits(request: Request, sent: readonly `0x${string}`[]): Promise<void> {
    const { known, deposits } = request
    const { shallow } = this.chains[known.origin]
    const head = (await shallow.finalBlocks.readNewest(reading())).number
    const seen = new Map<
      string,
      { readonly fact: DepositFact; readonly height: bigint; readonly seconds: number }
    >()
    for (const transaction of sent) {
      const facts = await unlessRefused(shallow.readDeposits({ transactionId: transaction }, reading()))
      for (const fact of facts?.deposits ?? []) {
        if (fact.depositId !== known.orderId || facts === undefined) continue
        const id = `${transaction} ${fact.onchainIndex}`
        const seconds = Number(facts.blockTimestampSeconds)
        seen.set(id, { fact, height: facts.evidence.blockNumber, seconds })
        if (!deposits.has(id))
          deposits.set(id, { id, transaction, fact, blockSeconds: seconds, state: 'seen' })
      }
    }
    for (const deposit of deposits.values()) {
      const found = seen.get(deposit.id)
      if (found === undefined && deposit.state === 'taken') this.#unbind(request, deposit)
      if (found !== undefined && deposit.state === 'orphaned') deposit.state = 'seen'
      if (found === undefined || deposit.state !== 'seen') continue
      deposit.blockSeconds = found.seconds
      this.#take(request, deposit, seenAs(deposit, known.origin, Number(head - found.height) + 1))
    }
  }

  #unbind(request: Request, deposit: TakenDeposit): void {
    deposit.state = 'orphaned'
    if (request.bound !== deposit) return
    request.bound = undefined
    const gone = { ...seenAs(deposit, request.known.origin, 0), isCanonical: false }
    const decision = this.#pinDecision(request, gone)
    if (decision.action === 'unpin') {
      this.ledger.unpin(request.quoted.requestId)
      request.hold = { state: 'reserved', expiresAtSeconds: decision.expiresAtSeconds }
    }
    for (const item of request.items) if (item.state === 'open') item.state = 'cancelled'
  }

  #take(request: Request, deposit: TakenDeposit, seen: SeenDeposit): void {
    const fate = this.#fate(request, seen)
    if (fate.action === 'ignore') deposit.state = 'ignored'
    if (fate.action === 'refund') this.#refund(request, deposit, fate.amount)
    if (fate.action !== 'bind') return
    const late = this.#judge(request, deposit)
    if (late.action === 'wait') return
    if (late.action === 'refund') {
      this.reached.push('deposits too late for their price')
      this.#refund(request, deposit, refundAmount(deposit.fact.amount, refundTerms(request)))
      return
    }
    if (!this.#bindHold(request, seen)) {
      this.#refund(request, deposit, refundAmount(deposit.fact.amount, refundTerms(request)))
      return
    }
    deposit.state = 'taken'
    request.bound = deposit
    if (request.stage !== 'filled') request.stage = 'filling'
    const { order, destination } = request.known
    const { quotedInput } = request.quoted
    const { amount } = deposit.fact
    if (amount < quotedInput) this.reached.push('deposits that slipped')
    const payments = order.output.payments.map((payment) => ({
      recipient: hexOf(payment.recipient),
      currency: hexOf(payment.currency),
      amount: this.#rules.paidFor(payment, order, { amount, quotedInput }),
    }))
    const begun = request.items.find(({ kind }) => kind === 'fill')
    if (begun === undefined) {
      const item = { request, depositId: deposit.id, chain: destination, payments }
      request.items.push(newItem({ kind: 'fill', ...item }))
      return
    }
    if (begun.state !== 'open' && (begun.state !== 'cancelled' || begun.transaction !== undefined)) return
    begun.state = 'open'
    begun.depositId = deposit.id
    begun.payments = payments
  }

  /** Expected payment of a fitting deposit: as quoted if it is in time, by current prices later. */
  #judge(request: Request, { fact: { amount }, blockSeconds }: TakenDeposit): LateStep {
    const { quoted, known, stage } = request
    const { expiresAtSeconds, quotedInput, reward } = quoted
    const isInTime = !isLate({
      blockTimeSeconds: blockSeconds,
      minedAfterSeconds: undefined,
      expiresAtSeconds,
      graceSeconds,
    })
    if (isInTime || stage === 'filled') return { action: 'bind' }
    const promised = known.order.output.payments.reduce(
      (sum, payment) => sum + this.#rules.paidFor(payment, known.order, { amount, quotedInput }),
      0n,
    )
    const step = lateStep({
      promised,
      toleranceBps: lateRules.toleranceBps,
      hadReward: reward > 0n,
      nowSeconds: this.now,
      price: this.market.priceLate(quoted, amount, this.now),
      waitsUntilSeconds: blockSeconds + lateRules.marketWaitSeconds,
    })
    if (step.action !== 'bind') return step
    this.reached.push('late deposits that were bound')
    if (quoted.move === undefined) return step
    quoted.reward = this.market.rewardIn(quoted, amount, promised)
    quoted.earnable = this.market.earnable(quoted.move, this.liveMoves(request))
    return step
  }

  #fate(request: Request, deposit: SeenDeposit): DepositDecision {
    const { stage, bound } = request
    return depositDecision({
      deposit,
      terms: depositTerms(request),
      refund: refundTerms(request),
      // A twentieth: the model has no gas.
      otherRefund: { state: 'priced', cost: deposit.amount / 20n },
      request: {
        isOver: stage === 'settled' || stage === 'refunded' || stage === 'parked',
        isBound: bound !== undefined,
        isFilled: stage === 'filled',
      },
      nowSeconds: this.now,
    })
  }

  #pinDecision(request: Request, deposit: SeenDeposit) {
    const { hold } = request
    return pinDecision({ deposit, terms: depositTerms(request), hold, nowSeconds: this.now })
  }

  #bindHold(request: Request, seen: SeenDeposit): boolean {
    const { debit, requestId } = request.quoted
    if (debit === 0n) return true
    const decision = this.#pinDecision(request, seen)
    if (decision.action !== 'pin' && decision.action !== 'reserve_again') return false
    const isPinned = decision.action === 'pin' && this.ledger.pin(requestId) === 'resolved'
    if (!isPinned) {
      const status = this.ledger.reserveAgain(requestId)
      const late = lateReservation(
        status === 'policy_refused' ? { status, rule: 'MODEL' } : outcomeOf(status, requestId),
      )
      if (late.action !== 'pin') return false
      if (this.ledger.pin(requestId) !== 'resolved') return false
    }
    request.hold = { state: 'pinned', depositId: seen.id }
    return true
  }

  #refund(request: Request, deposit: TakenDeposit, amount: bigint): void {
    deposit.state = 'refund_due'
    const { order, origin } = request.known
    const recipient = hexOf(order.inputs[0]?.refunds[0]?.recipient ?? '0x')
    const payments = [{ recipient, currency: hexOf(deposit.fact.currency), amount }]
    request.items.push(newItem({ kind: 'refund', request, depositId: deposit.id, chain: origin, payments }))
    const isOwn = request.bound === undefined || request.bound === deposit
    if (!isOwn || request.stage === 'settled' || request.stage === 'filled') return
    request.stage = 'refunding'
    if (request.bound === deposit) this.ledger.void(request.quoted.requestId)
  }

  async #followFill(request: Request): Promise<void> {
    const item = request.items.find(({ kind }) => kind === 'fill')
    if (request.stage !== 'filling' || item === undefined) return
    const { known, bound } = request
    const step = fillStep({
      work: { state: item.state, mayTryAgain: item.attempts + 1 <= attemptsMax },
      reading: await fillReading(this.chains[known.destination], item),
      nowSeconds: this.now,
      deadlineSeconds: known.order.output.deadline,
    })
    switch (step.action) {
      case 'succeed':
        item.state = 'done'
        request.fillTransaction = item.transaction
        request.stage = step.isLate ? 'parked' : 'filled'
        this.market.show(known.origin, known.destination, known.quotedInput)
        this.#giveSurplusBack(request)
        return
      case 'offer_again':
        item.attempts += 1
        item.state = 'open'
        item.transaction = undefined
        return
      case 'refund':
        if (item.state !== 'failed') item.state = 'cancelled'
        if (bound !== undefined) {
          this.#refund(request, bound, refundAmount(bound.fact.amount, refundTerms(request)))
          request.bound = undefined
        }
        return
    }
  }

  #giveSurplusBack(request: Request): void {
    const { bound, quoted, known, items } = request
    if (bound === undefined) return
    const amount = surplusRefund(bound.fact.amount, quoted.quotedInput, refundTerms(request))
    if (amount === 0n) return
    this.reached.push('surpluses')
    const recipient = hexOf(known.order.inputs[0]?.refunds[0]?.recipient ?? '0x')
    const payments = [{ recipient, currency: hexOf(bound.fact.currency), amount }]
    const item = { request, depositId: bound.id, chain: known.origin, payments, isSurplus: true }
    items.push(newItem({ kind: 'refund', ...item }))
  }

  async #followRefunds(request: Request): Promise<void> {
    const { order, orderId } = request.known
    for (const item of request.items) {
      const [payment] = item.payments
      if (item.kind !== 'refund' || item.state !== 'reported' || payment === undefined) continue
      const extraData = order.inputs[0]?.refunds[0]?.extraData ?? '0x'
      const question = { transactionId: item.transaction ?? '0x', orderId, extraData, payments: [payment] }
      const final = await refusalOr(this.chains[item.chain].deep.readPayment(question, reading()))
      if (final.refused === 'TRANSACTION_NOT_FINAL' || final.refused === 'TRANSACTION_MISSING') continue
      const asked = { ...payment, amount: String(payment.amount), recordId: recordIdOf(item) }
      if (final.facts !== undefined && paymentProblem(asked, final.facts, ethereumCodec) === undefined) {
        item.state = 'done'
        if (request.stage === 'refunding') request.stage = 'refunded'
        continue
      }
      item.attempts += 1
      item.state = item.attempts > attemptsMax ? 'failed' : 'open'
      item.transaction = undefined
    }
  }

  async #attest(request: Request): Promise<void> {
    const { known, bound, fillTransaction } = request
    if (request.stage !== 'filled' || fillTransaction === undefined || bound === undefined) return
    const { order, orderSignature, origin } = known
    const { transaction: transactionId, fact } = bound
    const id = onchainId({ chainId: origin, transactionId, onchainIndex: fact.onchainIndex })
    const inputs = [{ transactionId, onchainId: id, inputIndex: 0 }]
    const asked = { order, orderSignature, inputs, fill: { transactionId: fillTransaction } }
    const said: OracleVote[] = ['signed']
    const settled: boolean[] = []
    for (const oracle of this.#oracles.honest) {
      const answer = await oracle.attest('fill', asked)
      settled.push(answer.ok && answer.response.execution !== undefined)
      said.push(answer.ok ? 'signed' : answer.isDenied ? 'denied' : 'nothing')
    }
    // One payment settles one deposit as long as every honest oracle remembers: the bad peer forgets.
    if (settled.every(Boolean))
      this.settlements.push({
        kind: 'fill',
        known,
        transaction: fillTransaction,
        deposit: transactionId,
        deposited: fact.amount,
      })
    const own = await ownReading(this.chains[known.destination], known, fillTransaction)
    const { contradictions } = request
    const endSeconds = order.output.deadline + finalitySeconds
    const decision = settleDecision({
      own,
      said,
      threshold: oracleThreshold,
      contradictions,
      nowSeconds: this.now,
      endSeconds,
    })
    if (decision.action === 'ask_again') request.contradictions += 1
    if (decision.action === 'park') request.stage = 'parked'
    if (decision.action !== 'post') return
    const { quotedInput: feeBasis, debit: debitMicroUsd, appFees, requestId } = request.quoted
    const booked = this.#rules.bookedFor({ quoted: { appFees }, feeBasis, debitMicroUsd }, fact.amount)
    if (booked.debitMicroUsd > 0n) this.ledger.post(requestId, booked.debitMicroUsd)
    request.accrued = booked.appFees.reduce((sum, { amount }) => sum + amount, 0n)
    request.stage = 'settled'
  }
}

const isOpen = ({ stage }: Request) => stage === 'waiting'

function outcomeOf(status: Exclude<ReturnType<LedgerModel['reserve']>, 'policy_refused'>, holdId: string) {
  return status === 'reserved' || status === 'already_reserved' ? { status, holdId } : { status }
}
