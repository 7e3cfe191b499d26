// The quote service as a run plays it: its pure rules decide, in the order its jobs ask them; what they decide is
// kept in maps in place of PostgreSQL. The sponsor's ledger is the model that a test holds equal to the real one.
import { type DepositFact, DomainError, ethereumCodec, type Hex, onchainId } from '@causeway/core'
import {
  type DepositDecision,
  depositDecision,
  refundAmount,
} from '../../apps/quote-api/src/requests/settlement/depositDecision.ts'
import { fillProblem, paymentProblem } from '../../apps/quote-api/src/requests/settlement/fillCheck.ts'
import { type FillReading, fillStep } from '../../apps/quote-api/src/requests/settlement/fillStep.ts'
import {
  lateReservation,
  pinDecision,
  type SeenDeposit,
} from '../../apps/quote-api/src/requests/settlement/pinDecision.ts'
import {
  type OracleVote,
  type OwnReading,
  settleDecision,
} from '../../apps/quote-api/src/requests/settlement/settleDecision.ts'
import { createEthereumFactsReader, type EthereumFactsReader } from '../../packages/chains/src/index.ts'
import { LedgerModel } from '../../packages/ledger/test/support/ledgerModel.ts'
import { endpointsOf, type Liar } from './endpoints.ts'
import { chainNumbers, type Network, type UserChainId } from './network.ts'
import { finalityBlocks, type Oracles, readerEntry, recordsPayments } from './oracles.ts'
import type { Rules } from './rules.ts'
import {
  depositTerms,
  finalitySeconds,
  hexOf,
  isAtRest,
  newItem,
  pinConfirmations,
  type Request,
  recordIdOf,
  refundTerms,
  seenAs,
  type TakenDeposit,
  type WorkItem,
} from './serviceRequest.ts'
import type { KnownOrder } from './world.ts'

const attemptsMax = 3
const oracleThreshold = 2
const holdSeconds = 90

type ReadChain = {
  readonly shallow: EthereumFactsReader
  readonly deep: EthereumFactsReader
  readonly liar: Liar
}

export class QuoteService {
  readonly requests: Request[] = []
  readonly ledger = new LedgerModel({ holdsPerUser: 5, unsettledShareBps: 10_000n })
  readonly chains: Readonly<Record<UserChainId, ReadChain>>
  readonly #network: Network
  readonly #oracles: Oracles

  constructor(network: Network, oracles: Oracles, rules: Rules) {
    this.#network = network
    this.#oracles = oracles
    const open = (id: UserChainId): ReadChain => {
      const { quorum, liar } = endpointsOf('quote', network.chains[id])
      // What is not final may change, so nothing is remembered.
      const limits = { finalEntriesMax: 0 }
      const reader = (blocks: number) => {
        const shipped = createEthereumFactsReader({
          ...{ chain: readerEntry(network, id, blocks), quorum, limits, recordsPayments },
        })
        return rules.readerOf(shipped, network.chains[id])
      }
      return { shallow: reader(0), deep: reader(finalityBlocks), liar }
    }
    this.chains = { base: open('base'), optimism: open('optimism') }
  }

  /** Unix seconds. */
  get now(): number {
    return Number(this.#network.chains.base.headSeconds)
  }

  /** A quote whose fees a sponsor pays where its balance allows it. */
  quote(known: KnownOrder, subsidy: bigint): Request {
    const { owner, origin, destination, orderId } = known
    const status =
      subsidy === 0n
        ? 'insufficient_balance'
        : this.ledger.reserve({
            ...{ requestId: orderId, sponsor: this.sponsor, apiKeyId: 'key', user: owner.address },
            ...{ recipient: owner.address, components: ['relay'], amountMicroUsd: subsidy },
            ...{ lifetimeSeconds: holdSeconds, requoteKey: orderId },
            ...{ originChainId: chainNumbers[origin], destinationChainId: chainNumbers[destination] },
          })
    const isSponsored = status === 'reserved' || status === 'at_deposit'
    const request: Request = {
      ...{ known, debit: isSponsored ? subsidy : 0n, deposits: new Map(), items: [], stage: 'waiting' },
      ...{ bound: undefined, fillTransaction: undefined, contradictions: 0 },
      hold:
        status === 'reserved'
          ? { state: 'reserved', expiresAtSeconds: this.now + holdSeconds }
          : { state: status === 'at_deposit' ? 'at_deposit' : 'none' },
    }
    this.requests.push(request)
    return request
  }

  get sponsor(): Hex {
    return this.#network.keys.sponsor.address
  }

  openItems(): readonly WorkItem[] {
    return this.requests.flatMap(({ items }) => items.filter(({ state }) => state === 'open'))
  }

  /** A solver's report is a hint. One transaction is reported for one item. */
  report(item: WorkItem, transaction: Hex): void {
    const isTaken = this.requests.some(({ items }) => items.some((one) => one.transaction === transaction))
    if (item.state !== 'open' || isTaken) return
    item.state = 'reported'
    item.transaction = transaction
  }

  fail(item: WorkItem): void {
    if (item.state === 'open') item.state = 'failed'
  }

  /** One round of all jobs over one request. @param sent transactions of its origin that may hold deposits */
  async serve(request: Request, sent: readonly Hex[]): Promise<void> {
    if (isAtRest(request, sent)) return
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

  async #watchDeposits(request: Request, sent: readonly Hex[]): Promise<void> {
    const { known, deposits } = request
    const { shallow } = this.chains[known.origin]
    const head = (await shallow.finalBlocks.readNewest(reading())).number
    const seen = new Map<
      string,
      { readonly fact: DepositFact; readonly height: bigint; readonly transaction: Hex }
    >()
    for (const transaction of sent) {
      const facts = await unlessRefused(shallow.readDeposits({ transactionId: transaction }, reading()))
      for (const fact of facts?.deposits ?? []) {
        if (fact.depositId !== known.orderId || facts === undefined) continue
        const id = `${transaction} ${fact.onchainIndex}`
        seen.set(id, { fact, height: facts.evidence.blockNumber, transaction })
        if (!deposits.has(id)) deposits.set(id, { id, transaction, fact, state: 'seen' })
      }
    }
    for (const deposit of deposits.values()) {
      const found = seen.get(deposit.id)
      if (found === undefined && deposit.state === 'taken') this.#unbind(request, deposit)
      if (found !== undefined && deposit.state === 'orphaned') deposit.state = 'seen'
      if (found === undefined || deposit.state !== 'seen') continue
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
      this.ledger.unpin(request.known.orderId)
      request.hold = { state: 'reserved', expiresAtSeconds: decision.expiresAtSeconds }
    }
    for (const item of request.items) if (item.state === 'open') item.state = 'cancelled'
  }

  #take(request: Request, deposit: TakenDeposit, seen: SeenDeposit): void {
    const fate = this.#fate(request, seen)
    if (fate.action === 'ignore') deposit.state = 'ignored'
    if (fate.action === 'refund') this.#refund(request, deposit, fate.amount)
    if (fate.action !== 'bind') return
    if (!this.#bindHold(request, seen)) {
      this.#refund(request, deposit, refundAmount(deposit.fact.amount, refundTerms(request)))
      return
    }
    deposit.state = 'taken'
    request.bound = deposit
    if (request.stage !== 'filled') request.stage = 'filling'
    const begun = request.items.find(({ kind }) => kind === 'fill')
    if (begun !== undefined) {
      if (begun.state === 'cancelled' && begun.transaction === undefined) begun.state = 'open'
      return
    }
    const { order, destination } = request.known
    const payments = order.output.payments.map(({ recipient, currency, expectedAmount }) => ({
      ...{ recipient: hexOf(recipient), currency: hexOf(currency), amount: BigInt(expectedAmount) },
    }))
    request.items.push(
      newItem({ kind: 'fill', request, depositId: deposit.id, chain: destination, payments }),
    )
  }

  #fate(request: Request, deposit: SeenDeposit): DepositDecision {
    const { stage, bound } = request
    return depositDecision({
      ...{ deposit, terms: depositTerms(request), refund: refundTerms(request) },
      // A twentieth: the model has no gas.
      otherRefund: { state: 'priced', cost: deposit.amount / 20n },
      request: {
        isOver: stage === 'settled' || stage === 'refunded' || stage === 'parked',
        ...{ isBound: bound !== undefined, isFilled: stage === 'filled' },
      },
      nowSeconds: this.now,
    })
  }

  #pinDecision(request: Request, deposit: SeenDeposit) {
    const { hold } = request
    return pinDecision({ deposit, terms: depositTerms(request), hold, nowSeconds: this.now })
  }

  #bindHold(request: Request, seen: SeenDeposit): boolean {
    const { debit, known } = request
    if (debit === 0n) return true
    const decision = this.#pinDecision(request, seen)
    if (decision.action !== 'pin' && decision.action !== 'reserve_again') return false
    const isPinned = decision.action === 'pin' && this.ledger.pin(known.orderId) === 'resolved'
    if (!isPinned) {
      const status = this.ledger.reserveAgain(known.orderId)
      const late = lateReservation(
        status === 'policy_refused' ? { status, rule: 'MODEL' } : outcomeOf(status, known.orderId),
      )
      if (late.action !== 'pin') return false
      if (this.ledger.pin(known.orderId) !== 'resolved') return false
    }
    request.hold = { state: 'pinned', depositId: seen.id }
    return true
  }

  #refund(request: Request, deposit: TakenDeposit, amount: bigint): void {
    deposit.state = 'refund_due'
    const { order, origin, orderId } = request.known
    const recipient = hexOf(order.inputs[0]?.refunds[0]?.recipient ?? '0x')
    const payments = [{ recipient, currency: hexOf(deposit.fact.currency), amount }]
    request.items.push(newItem({ kind: 'refund', request, depositId: deposit.id, chain: origin, payments }))
    const isOwn = request.bound === undefined || request.bound === deposit
    if (!isOwn || request.stage === 'settled' || request.stage === 'filled') return
    request.stage = 'refunding'
    if (request.bound === deposit) this.ledger.void(orderId)
  }

  async #followFill(request: Request): Promise<void> {
    const item = request.items.find(({ kind }) => kind === 'fill')
    if (request.stage !== 'filling' || item === undefined) return
    const { known, bound } = request
    const step = fillStep({
      work: { state: item.state, mayTryAgain: item.attempts + 1 <= attemptsMax },
      reading: await this.#fillReading(item),
      ...{
        confirmationsMin: pinConfirmations,
        nowSeconds: this.now,
        deadlineSeconds: known.order.output.deadline,
      },
    })
    switch (step.action) {
      case 'succeed':
        item.state = 'done'
        request.fillTransaction = item.transaction
        request.stage = step.isLate ? 'parked' : 'filled'
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

  async #fillReading({ state, transaction, request }: WorkItem): Promise<FillReading> {
    if (state !== 'reported' || transaction === undefined) return { state: 'none' }
    const { known } = request
    const { order, orderId, destination } = known
    const { shallow, deep } = this.chains[destination]
    const { extraData, payments, calls } = order.output
    const question = { transactionId: transaction, orderId, extraData, payments, calls }
    const now = await refusalOr(shallow.readPayment(question, reading()))
    if (now.refused === 'TRANSACTION_MISSING') return { state: 'missing', isLapsed: false }
    const final = await refusalOr(deep.readPayment(question, reading()))
    if (now.facts === undefined) return { state: 'reverted', isFinal: final.refused === now.refused }
    const head = (await shallow.finalBlocks.readNewest(reading())).number
    return {
      ...{ state: 'included', confirmations: Number(head - now.facts.evidence.blockNumber) + 1 },
      problem: fillProblem(known, now.facts, ethereumCodec),
      isFinal: final.facts !== undefined && fillProblem(known, final.facts, ethereumCodec) !== undefined,
    }
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
    const { known, bound, fillTransaction, debit } = request
    if (request.stage !== 'filled' || fillTransaction === undefined || bound === undefined) return
    const { order, orderSignature, orderId, origin } = known
    const { transaction: transactionId, fact } = bound
    const id = onchainId({ chainId: origin, transactionId, onchainIndex: fact.onchainIndex })
    const inputs = [{ transactionId, onchainId: id, inputIndex: 0 }]
    const asked = { order, orderSignature, inputs, fill: { transactionId: fillTransaction } }
    const said: OracleVote[] = ['signed']
    for (const oracle of this.#oracles.honest) {
      const answer = await oracle.attest('fill', asked)
      said.push(answer.ok ? 'signed' : answer.isDenied ? 'denied' : 'nothing')
    }
    const own = await this.#own(request, fillTransaction)
    const { contradictions } = request
    const endSeconds = order.output.deadline + finalitySeconds
    const decision = settleDecision({
      ...{ own, said, threshold: oracleThreshold, contradictions, nowSeconds: this.now, endSeconds },
    })
    if (decision.action === 'ask_again') request.contradictions += 1
    if (decision.action === 'park') request.stage = 'parked'
    if (decision.action !== 'post') return
    if (debit > 0n) this.ledger.post(orderId, debit)
    request.stage = 'settled'
  }

  async #own({ known }: Request, transactionId: Hex): Promise<OwnReading> {
    const { order, orderId, destination } = known
    const { extraData, payments, calls } = order.output
    const question = { transactionId, orderId, extraData, payments, calls }
    const { facts, refused } = await refusalOr(this.chains[destination].deep.readPayment(question, reading()))
    if (refused === 'TRANSACTION_NOT_FINAL') return 'not_yet'
    return facts !== undefined && fillProblem(known, facts, ethereumCodec) === undefined ? 'paid' : 'not_paid'
  }
}

const reading = () => ({ signal: new AbortController().signal })
const refusals = ['TRANSACTION_MISSING', 'TRANSACTION_REVERTED', 'TRANSACTION_NOT_FINAL']

/** Facts, or why the chain has none. @throws DomainError of endpoints that cannot be relied on */
async function refusalOr<Facts extends { readonly evidence: { readonly blockNumber: bigint } }>(
  facts: Promise<Facts>,
): Promise<{ readonly facts?: Facts; readonly refused?: string }> {
  try {
    return { facts: await facts }
  } catch (error) {
    if (error instanceof DomainError && refusals.includes(error.code)) return { refused: error.code }
    throw error
  }
}

async function unlessRefused<Facts extends { readonly evidence: { readonly blockNumber: bigint } }>(
  facts: Promise<Facts>,
): Promise<Facts | undefined> {
  return (await refusalOr(facts)).facts
}

function outcomeOf(status: Exclude<ReturnType<LedgerModel['reserve']>, 'policy_refused'>, holdId: string) {
  return status === 'reserved' || status === 'already_reserved' ? { status, holdId } : { status }
}
