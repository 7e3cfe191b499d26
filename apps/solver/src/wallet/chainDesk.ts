import type { Hex } from '@causeway/core'
import type { Leadership } from '@causeway/database'
import type { PlannedTransaction } from '../work/relays.ts'
import type { BudgetName, Charge } from './budgets.ts'
import { type Fees, firstFees, replacementFees } from './fees.ts'
import type { ChainCounts, FillWallet } from './fillWallet.ts'
import { type BumpRules, isToldAbout, nextMove } from './nextMove.ts'
import type { Records } from './records.ts'
import { newest, type SignedRecord } from './signedRecord.ts'

/** What a new record is about. */
export type Subject = Pick<SignedRecord, 'id' | 'kind' | 'orderId' | 'deadline'> & {
  readonly payments?: SignedRecord['payments']
  readonly deposits?: readonly string[]
  /** Beside gas. */
  readonly charges?: readonly Charge[]
  /** What had been signed for the order when this was judged: where it is more by now, nothing is signed. */
  readonly past?: readonly SignedRecord[]
}

export type GasBudgets = { readonly gasPerHourWei: bigint; readonly relayGasPerHourWei: bigint }

/** This process may not write for the wallet on this chain now. */
class NotLeadingError extends Error {
  constructor(chainId: number) {
    super(`another process writes for the fill wallet on chain ${chainId}`)
    this.name = 'NotLeadingError'
  }
}

/** The market knows no gas price that could be bid. */
export class NoGasPriceError extends Error {
  constructor(chainId: number) {
    super(`no gas price of chain ${chainId} is known`)
    this.name = 'NoGasPriceError'
  }
}

/** One chain's part of the solver: every transaction of the fill wallet there goes through it. */
export type ChainDesk = {
  readonly wallet: FillWallet
  /** False while another process has the lease of this wallet and chain. */
  leads(): boolean
  /** Looks at every record that is not at its end and does what is next. */
  advance(): Promise<ChainCounts>
  /**
   * Signs and keeps. What the service knows nothing of is released at once, and sent by the next `advance`.
   * @throws NotLeadingError, NoGasPriceError, StoppedError, AlreadyBegunError, BudgetSpentError
   */
  begin(subject: Subject, transaction: PlannedTransaction & { readonly gas: bigint }): Promise<SignedRecord>
  /** Keeps what the service said of the newest transaction, then sends it or takes its nonce for nothing. */
  release(record: SignedRecord, release: 'given' | 'refused'): Promise<void>
  /** Lets another transaction take the nonce; which of the two is mined shows later. */
  cancel(record: SignedRecord): Promise<void>
  /** Keeps that the service was told of a failure. */
  markTold(record: SignedRecord): Promise<void>
  /** Released ones whose newest price, or whose mined hash, the service has not been told. */
  replaced(): Promise<readonly Replacement[]>
  /** Keeps that it is about to be told: an answer that is lost leaves open which one the service follows. */
  beginTelling(replacement: Replacement): Promise<SignedRecord>
  /** Keeps what the service said; an accepted one that is not mined is sent. */
  releaseReplacement(replacement: Replacement, answer: 'accepted' | 'closed'): Promise<void>
}

export type Replacement = {
  readonly record: SignedRecord
  readonly hash: Hex
  /** A mined one counts, whatever the service says of it. */
  readonly isMined: boolean
}

export type DeskOptions = {
  readonly wallet: FillWallet
  readonly records: Records
  readonly leadership: () => Leadership | undefined
  /** What the market says a transaction should bid now. */
  readonly marketFees: () => Fees | undefined
  readonly rules: BumpRules & GasBudgets
  readonly nowMs: () => number
  readonly log: (event: string, record: SignedRecord, more?: object) => void
}

const relayKinds: readonly SignedRecord['kind'][] = ['sweep', 'permit']

export function createChainDesk(options: DeskOptions): ChainDesk {
  const { wallet, records, rules, nowMs, log } = options
  const { chainId, address } = wallet
  const mined = new Map<string, Hex>()
  /** Nonces are given one after the other. */
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work, work)
    last = result.catch(() => undefined)
    return result
  }

  function leadership(): Leadership {
    const found = options.leadership()
    if (found === undefined) throw new NotLeadingError(chainId)
    return found
  }
  function fees(): Fees {
    const found = options.marketFees()
    if (found === undefined) throw new NoGasPriceError(chainId)
    return found
  }
  const gasCharge = (kind: SignedRecord['kind'], amount: bigint): Charge => {
    const isRelay = relayKinds.includes(kind)
    const budget: BudgetName = isRelay ? `relay-gas:${chainId}` : `gas:${chainId}`
    return { budget, amount, perHour: isRelay ? rules.relayGasPerHourWei : rules.gasPerHourWei }
  }

  async function step(record: SignedRecord, counts: ChainCounts): Promise<void> {
    const facts = await wallet.factsOf(record, counts, nowMs())
    const key = `${record.id} ${record.attempt}`
    if (facts.mined !== undefined) mined.set(key, facts.mined.hash)
    else mined.delete(key)
    const move = nextMove(record, facts, rules)
    switch (move.kind) {
      case 'wait':
        return
      case 'settle': {
        mined.delete(key)
        const { outcome, costWei } = move
        log('record_settled', record, { outcome })
        return records.save({ ...record, outcome }, leadership().fence, { costWei })
      }
      case 'cancel':
        return cancel(record)
      case 'bump':
        return bump(record, move.what)
      case 'broadcast': {
        const list = move.what === 'cancellation' ? record.cancellations : sendable(record)
        const signed = newest(list)
        if (signed !== undefined) await wallet.broadcast(signed)
      }
    }
  }

  /** A price that the ceiling or the hour's budget does not allow leaves the last offer standing. */
  async function bump(record: SignedRecord, what: 'transaction' | 'cancellation'): Promise<void> {
    const list = what === 'cancellation' ? record.cancellations : record.transactions
    const before = newest(list)
    if (before === undefined) return
    const raised = replacementFees(before, fees(), rules.maxFeePerGasWei)
    if (raised === undefined) return wallet.broadcast(before)
    const { nonce, plan } = record
    const signed =
      what === 'cancellation'
        ? await wallet.signCancellation(nonce, raised)
        : await wallet.sign({ ...plan, nonce }, raised)
    const more = (raised.maxFeePerGasWei - before.maxFeePerGasWei) * plan.gas
    const changed: SignedRecord =
      what === 'cancellation'
        ? { ...record, cancellations: [...record.cancellations, signed] }
        : { ...record, transactions: [...record.transactions, signed] }
    await records.save(changed, leadership().fence, { charges: [gasCharge(record.kind, more)] })
    log('record_bumped', record, { what, hash: signed.hash })
    // A transaction that the service follows is sent once it was told.
    if (what === 'cancellation' || !isToldAbout(record)) await wallet.broadcast(signed)
  }

  async function cancel(record: SignedRecord): Promise<void> {
    if (record.cancellations.length > 0) return
    const before = newest(record.transactions)
    const market = firstFees(fees(), rules.maxFeePerGasWei)
    const raised = (before && replacementFees(before, market, rules.maxFeePerGasWei)) ?? market
    const cancellation = await wallet.signCancellation(record.nonce, raised)
    await records.save({ ...record, cancellations: [cancellation] }, leadership().fence)
    log('record_cancelling', record)
    return wallet.broadcast(cancellation)
  }

  return {
    wallet,
    cancel,
    leads: () => options.leadership() !== undefined,
    async release(record, release) {
      const told = newest(record.transactions)
      const decided: SignedRecord = { ...record, release, ...(told && { toldHash: told.hash }) }
      await records.save(decided, leadership().fence)
      if (release === 'refused') return cancel(decided)
      if (told !== undefined) await wallet.broadcast(told)
    },
    async advance() {
      leadership()
      const counts = await wallet.counts()
      for (const record of await records.active(address, chainId, counts.latestCount))
        await step(record, counts)
      return counts
    },
    begin: (subject, transaction) =>
      inTurn(async () => {
        const { fence } = leadership()
        const bid = firstFees(fees(), rules.maxFeePerGasWei)
        const { latestCount } = await wallet.counts()
        const nonce = await records.nextNonce(address, chainId, latestCount)
        const { gas, ...plan } = transaction
        const signed = await wallet.sign({ ...transaction, nonce }, bid)
        const { id, kind, orderId, deadline, payments = [], deposits = [], charges = [] } = subject
        const attempt = ((await records.latest(id))?.attempt ?? -1) + 1
        const record: SignedRecord = {
          ...{ id, attempt, kind, chainId, wallet: address, nonce },
          ...(orderId !== undefined && { orderId }),
          ...(deadline !== undefined && { deadline }),
          plan: { ...plan, gas },
          ...{ transactions: [signed], cancellations: [], payments, deposits: [...deposits] },
          release: isToldAbout(subject) ? 'asked' : 'given',
          ...{ outcome: 'open', failureReported: false },
        }
        await records.begin(record, {
          charges: [gasCharge(kind, bid.maxFeePerGasWei * gas), ...charges],
          past: subject.past ?? [],
          fence,
        })
        log('record_signed', record, { hash: signed.hash })
        return record
      }),
    markTold: (record) => records.save({ ...record, failureReported: true }, leadership().fence),
    async replaced() {
      const { latestCount } = await wallet.counts()
      const active = await records.active(address, chainId, latestCount)
      return active.flatMap((record) => {
        if (record.release !== 'given' || !isToldAbout(record)) return []
        const minedHash = mined.get(`${record.id} ${record.attempt}`)
        // What the service may have heard of comes first: the next one has to name what it replaces.
        const hash = record.tellingHash ?? minedHash ?? newest(record.transactions)?.hash
        const isMined = minedHash !== undefined && hash === minedHash
        return hash === undefined || (hash === record.toldHash && record.tellingHash === undefined)
          ? []
          : [{ record, hash, isMined }]
      })
    },
    async beginTelling({ record, hash }) {
      if (record.tellingHash === hash) return record
      const telling: SignedRecord = { ...record, tellingHash: hash }
      await records.save(telling, leadership().fence)
      return telling
    },
    async releaseReplacement({ record, hash, isMined }, answer) {
      const { tellingHash: _said, ...rest } = record
      // A mined one counts whatever the service says; of another one that it refuses it knows nothing.
      const isTold = answer === 'accepted' || isMined
      await records.save({ ...rest, ...(isTold && { toldHash: hash }) }, leadership().fence)
      if (isMined || answer !== 'accepted') return
      const signed = record.transactions.find((one) => one.hash === hash)
      if (signed !== undefined) await wallet.broadcast(signed)
    },
  }
}

/** What the service was told of, which it follows. */
function sendable(record: SignedRecord): SignedRecord['transactions'] {
  if (!isToldAbout(record)) return record.transactions
  return record.transactions.filter(({ hash }) => hash === record.toldHash)
}
