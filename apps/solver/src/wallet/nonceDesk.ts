import { NodeError } from '@causeway/chains'
import { type EthereumFees, type GasBudgets, type Hex, maxBigint, minBigint } from '@causeway/core'
import type { Leadership } from '@causeway/database'
import type { PlannedTransaction } from '../work/relays.ts'
import {
  type ChainDesk,
  type CostBound,
  createDeskRights,
  type DeskWork,
  GasCoinShortError,
  gasCharges,
  keepRaised,
  type Subject,
} from './chainDesk.ts'
import { type Fees, firstFees, replacementFees } from './fees.ts'
import { closingTransaction, fillTransaction } from './fillTransaction.ts'
import { type ChainCounts, type FillWallet, NeverTakenError } from './fillWallet.ts'
import { type BumpRules, isToldAbout, nextMove } from './nextMove.ts'
import type { Records } from './records.ts'
import { type KeptRecord, newest, type Signed, type SignedRecord } from './signedRecord.ts'
import { createTelling, sendable } from './telling.ts'

/** A desk of a chain whose transactions have nonces, and what it is made of. */
export type NonceDesk = ChainDesk & {
  readonly wallet: FillWallet
}

export type DeskOptions = {
  readonly wallet: FillWallet
  readonly fillContract: Hex
  readonly records: Records
  readonly leadership: () => Leadership | undefined
  /** What the market says a transaction should bid now. */
  readonly marketFees: () => EthereumFees | undefined
  readonly rules: BumpRules & GasBudgets & { readonly transactionGasMax: bigint }
  readonly nowMs: () => number
  readonly log: (event: string, record: SignedRecord, more?: object) => void
}

export function createNonceDesk(options: DeskOptions): NonceDesk {
  const { wallet, fillContract, records, rules, nowMs, log } = options
  const { chainId, address } = wallet
  const mined = new Map<string, string>()
  const keyOf = ({ id, attempt }: KeptRecord) => `${id} ${attempt}`
  const active = async (latestCount?: number): Promise<readonly SignedRecord[]> =>
    (await records.active(address, chainId, latestCount ?? (await wallet.counts()).latestCount)).map(own)
  const { leadership, fees: market, inTurn } = createDeskRights(chainId, options)
  const fees = (): Fees => market().gasPrice
  let waitingSinceMs: number | undefined

  async function step(record: SignedRecord, counts: ChainCounts): Promise<void> {
    const facts = await wallet.factsOf(record, counts, nowMs())
    const key = keyOf(record)
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
        const list =
          move.what === 'cancellation' ? record.cancellations : sendable(record, record.transactions)
        const signed = newest(list)
        if (signed !== undefined) await send(record, signed)
      }
    }
  }

  /** A failure of one of them keeps none of the others waiting. */
  async function stepAlone(record: SignedRecord, counts: ChainCounts): Promise<void> {
    try {
      await step(record, counts)
    } catch (error) {
      log('record_not_advanced', record, { reason: error instanceof Error ? error.message : String(error) })
    }
  }

  /** Nodes may take later what they refuse now; what they never take gives its nonce to a cancellation. */
  async function send(record: SignedRecord, signed: Signed): Promise<void> {
    try {
      await wallet.broadcast(signed)
    } catch (error) {
      if (!(error instanceof NodeError || error instanceof NeverTakenError)) throw error
      log('record_not_taken', record, { reason: error.message })
      if (error instanceof NeverTakenError && record.transactions.includes(signed)) await cancel(record)
    }
  }

  /** A price that the ceiling or the hour's budget does not allow leaves the last offer standing. */
  async function bump(record: SignedRecord, what: 'transaction' | 'cancellation'): Promise<void> {
    const list = what === 'cancellation' ? record.cancellations : record.transactions
    const before = newest(list)
    if (before === undefined) return
    const raised = replacementFees(before, fees(), rules.maxFeePerGasWei)
    if (raised === undefined) return send(record, before)
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
    // Later nonces wait for this one.
    if (!(await keepRaised(changed, more, { records, leadership, rules }))) return send(record, before)
    log('record_bumped', record, { what, hash: signed.hash })
    // A transaction that the service follows is sent once it was told.
    if (what === 'cancellation' || !isToldAbout(record)) await send(changed, signed)
  }

  async function cancel(record: SignedRecord): Promise<void> {
    if (record.cancellations.length > 0) return
    const before = newest(record.transactions)
    const market = firstFees(fees(), rules.maxFeePerGasWei)
    const raised = (before && replacementFees(before, market, rules.maxFeePerGasWei)) ?? market
    const cancellation = await wallet.signCancellation(record.nonce, raised)
    const cancelled: SignedRecord = { ...record, cancellations: [cancellation] }
    await records.save(cancelled, leadership().fence)
    log('record_cancelling', record)
    return send(cancelled, cancellation)
  }

  /** The most gas that costs no more than it may, at what the next block should cost. */
  function affordableGasOf(bound: CostBound | undefined): bigint {
    if (bound === undefined) return rules.transactionGasMax
    const { most, transaction } = bound
    const { expectedWei } = market().gasPrice
    const left = maxBigint(0n, most - market().besideGasOf(transaction))
    return minBigint(rules.transactionGasMax, left / maxBigint(1n, expectedWei))
  }

  type Tried = PlannedTransaction & { readonly gas: bigint }
  /** Signs and keeps what was tried at this bid. @throws as `Preparation` */
  const begin = (subject: Subject, transaction: Tried, bid: Fees): Promise<SignedRecord> =>
    inTurn(async () => {
      const { fence } = leadership()
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
        ...(subject.isUnderpaid === true && { isUnderpaid: true }),
        plan: { ...plan, gas },
        ...{ transactions: [signed], cancellations: [], payments, deposits: [...deposits] },
        release: isToldAbout(subject) ? 'asked' : 'given',
        ...{ outcome: 'open', failureReported: false },
      }
      await records.begin(record, {
        charges: [...gasCharges(chainId, subject, bid.maxFeePerGasWei * gas, rules), ...charges],
        ...{ past: subject.past ?? [], exposure: subject.exposure },
        fence,
      })
      log('record_signed', record, { hash: signed.hash })
      return record
    })

  return {
    ...{ wallet, chainId, address },
    cancel: (record) => cancel(own(record)),
    leads: () => options.leadership() !== undefined,
    chainTime: async () => (await wallet.counts()).chainTime,
    async prepare(work) {
      const transaction = transactionOf(work, { fillContract, filler: address })
      const bid = firstFees(fees(), rules.maxFeePerGasWei)
      const affordableGas = affordableGasOf('bound' in work ? work.bound : undefined)
      const { transactionGasMax } = rules
      const trial = await wallet.tryOut(transaction, bid, { transactionGasMax, affordableGas })
      switch (trial.kind) {
        case 'succeeds':
          return {
            kind: 'ready',
            begin: (subject) => begin(subject, { ...transaction, gas: trial.gas }, bid),
          }
        case 'fails':
          return { kind: 'refused', reason: trial.reason }
        case 'dear':
          return {
            ...{ kind: 'refused', isDear: true },
            reason: `it takes ${trial.gas} gas, more than ${affordableGas}`,
          }
        case 'short':
          throw new GasCoinShortError(chainId)
      }
    },
    async release(kept, release) {
      const record = own(kept)
      const told = newest(record.transactions)
      const decided: SignedRecord = { ...record, release, ...(told && { toldHash: told.hash }) }
      await records.save(decided, leadership().fence)
      if (release === 'refused') return cancel(decided)
      if (told !== undefined) await send(decided, told)
    },
    async advance() {
      leadership()
      const counts = await wallet.counts()
      const open = await active(counts.latestCount)
      const unmined = open.filter(({ nonce, outcome }) => outcome === 'open' && nonce >= counts.latestCount)
      waitingSinceMs = unmined[0]?.transactions[0]?.signedAtMs
      for (const record of open) await stepAlone(record, counts)
      return active(counts.latestCount)
    },
    waitingSinceMs: () => waitingSinceMs,
    ...createTelling({
      active,
      minedHash: (record) => mined.get(keyOf(record)),
      save: (record) => records.save(record, leadership().fence),
      async send(record, hash) {
        const signed = own(record).transactions.find((one) => one.hash === hash)
        if (signed !== undefined) await send(own(record), signed)
      },
    }),
  }
}

/** @throws Error for a record of a chain without nonces: wallets of both kinds have nothing in common */
function own(record: KeptRecord): SignedRecord {
  if ('plan' in record) return record
  throw new Error(`${record.id} was signed for a chain without nonces`)
}

function transactionOf(
  work: DeskWork,
  { fillContract, filler }: { readonly fillContract: Hex; readonly filler: Hex },
): PlannedTransaction {
  switch (work.kind) {
    case 'payment':
      return fillTransaction(work.order, { id: work.id, filler })
    case 'closing':
      return closingTransaction(work.fillContract ?? fillContract, work.id)
    case 'relay':
      return work.transaction
    case 'sweep':
    case 'emptying':
    case 'allowance':
      throw new Error('contracts of this chain sweep, and its inventory allows by itself')
  }
}
