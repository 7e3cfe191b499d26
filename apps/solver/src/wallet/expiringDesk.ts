import {
  type Landing,
  NodeError,
  type PayingChain,
  type PayingFees,
  type PaymentTerms,
} from '@causeway/chains'
import { type GasBudgets, type Hex, type NetworkFees, sha256TextHex } from '@causeway/core'
import type { Leadership } from '@causeway/database'
import { type ChainDesk, createDeskRights, type DeskWork, gasCharges, type Subject } from './chainDesk.ts'
import { hasExpired, nextExpiringMove } from './nextExpiringMove.ts'
import { isToldAbout } from './nextMove.ts'
import type { Records } from './records.ts'
import { type ExpiringRecord, type KeptRecord, newest } from './signedRecord.ts'
import { createTelling, sendable } from './telling.ts'

export type ExpiringDeskOptions = {
  readonly chainId: number
  readonly paying: PayingChain
  readonly landsWithinSeconds: number
  readonly records: Records
  readonly leadership: () => Leadership | undefined
  /** What the market says the network charges now. */
  readonly marketFees: () => NetworkFees | undefined
  readonly rules: GasBudgets & { readonly maxFeePerGasWei: bigint }
  readonly nowMs: () => number
  readonly log: (event: string, record: ExpiringRecord, more?: object) => void
}

/** As many as nodes are asked for at once; none is signed before the one before it can land no more. */
const hashesMax = 100

type Planned = Pick<ExpiringRecord, 'terms' | 'units' | 'rent'>

/**
 * A chain without nonces, where each transaction marks what it pays: of all that is ever signed for one id, one at
 * most has an effect. So a record may be signed again as often as its time allows, by whatever process.
 */
export function createExpiringDesk(options: ExpiringDeskOptions): ChainDesk {
  const { chainId, paying, landsWithinSeconds, records, rules, nowMs, log } = options
  const { address } = paying
  const landed = new Map<string, string>()
  const keyOf = ({ id, attempt }: KeptRecord) => `${id} ${attempt}`
  // No nonce is ever free again.
  const active = async () => (await records.active(address, chainId, Number.MAX_SAFE_INTEGER)).map(own)
  const { leadership, fees, inTurn } = createDeskRights(chainId, options)
  const bid = (): PayingFees => ({ fees: fees(), ceiling: rules.maxFeePerGasWei })
  async function signed(planned: Planned): Promise<ExpiringRecord['transactions'][number]> {
    return { ...(await paying.sign(planned, bid())), signedAtMs: nowMs() }
  }

  async function step(record: ExpiringRecord, chainTime: number): Promise<void> {
    const looked = record.transactions.slice(-hashesMax)
    const landing = await paying.landingOf(looked)
    if (landing.kind === 'landed') landed.set(keyOf(record), landing.hash)
    else landed.delete(keyOf(record))
    const { terms } = record
    const state = isOver(record, landing) ? (await paying.readFinal(terms.id, terms)).state : undefined
    const move = nextExpiringMove(record, { landing, state, chainTime, landsWithinSeconds })
    switch (move.kind) {
      case 'wait':
        return
      case 'settle': {
        landed.delete(keyOf(record))
        const { outcome, cost } = move
        log('record_settled', record, { outcome })
        return records.save({ ...record, outcome }, leadership().fence, { costWei: cost })
      }
      case 'renew':
        return renew(record)
      case 'broadcast': {
        const next = newest(sendable(record, record.transactions))
        if (next !== undefined) await send(record, next)
      }
    }
  }

  /** No payment waits for another one here: what one of them runs into keeps none of the others. */
  async function stepAlone(record: ExpiringRecord, chainTime: number): Promise<void> {
    try {
      await step(record, chainTime)
    } catch (error) {
      log('record_not_advanced', record, { reason: error instanceof Error ? error.message : String(error) })
    }
  }

  /** What nodes refuse now they may take later; it ends by its height. */
  async function send(record: ExpiringRecord, transaction: { readonly raw: Hex }): Promise<void> {
    try {
      await paying.broadcast(transaction)
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      log('record_not_taken', record, { reason: error.message })
    }
  }

  /** Kept before it is sent, and told to the service before that: a lost one is found by what is kept. */
  async function renew(record: ExpiringRecord): Promise<void> {
    const transaction = await signed(record)
    const before = newest(record.transactions)
    const more = transaction.fee - (before?.fee ?? 0n)
    const renewed: ExpiringRecord = { ...record, transactions: [...record.transactions, transaction] }
    await records.save(renewed, leadership().fence, {
      charges: gasCharges(chainId, record, more, rules),
    })
    log('record_renewed', record, { hash: transaction.hash })
    if (!isToldAbout(record)) await send(record, transaction)
  }

  const begin = (planned: Planned, subject: Subject): Promise<ExpiringRecord> =>
    inTurn(async () => {
      const { fence } = leadership()
      const transaction = await signed(planned)
      const { id, kind, orderId, deadline, payments = [], deposits = [], charges = [] } = subject
      const record: ExpiringRecord = {
        ...{ id, kind, chainId, wallet: address, ...planned },
        attempt: ((await records.latest(id))?.attempt ?? -1) + 1,
        nonce: await records.nextNonce(address, chainId, 0),
        ...(orderId !== undefined && { orderId }),
        ...(deadline !== undefined && { deadline }),
        ...(subject.isUnderpaid === true && { isUnderpaid: true }),
        ...{ transactions: [transaction], payments, deposits: [...deposits] },
        release: isToldAbout(subject) ? 'asked' : 'given',
        ...{ outcome: 'open', failureReported: false },
      }
      await records.begin(record, {
        charges: [...gasCharges(chainId, subject, transaction.fee + planned.rent, rules), ...charges],
        ...{ past: subject.past ?? [], exposure: subject.exposure },
        fence,
      })
      log('record_signed', record, { hash: transaction.hash })
      return record
    })

  const cancel = (record: ExpiringRecord) =>
    records.save({ ...record, release: 'refused' }, leadership().fence)

  return {
    ...{ chainId, address },
    leads: () => options.leadership() !== undefined,
    chainTime: async () => (await paying.head()).timeSeconds,
    async prepare(work) {
      const terms = termsOf(work)
      if (typeof terms === 'string') return { kind: 'refused', reason: terms }
      const plan = await paying.plan(terms, bid(), 'bound' in work ? work.bound?.most : undefined)
      if ('refusal' in plan) {
        const { refusal: reason, isDear } = plan
        return { kind: 'refused', reason, ...(isDear && { isDear }) }
      }
      const planned: Planned = {
        ...{ units: plan.units, rent: plan.rent },
        terms: { ...plan.terms, payments: [...plan.terms.payments] },
      }
      return { kind: 'ready', begin: (subject) => begin(planned, subject) }
    },
    cancel: (record) => cancel(own(record)),
    async release(kept, release) {
      const record = own(kept)
      if (release === 'refused') return cancel(record)
      const told = newest(record.transactions)
      const decided: ExpiringRecord = { ...record, release, ...(told && { toldHash: told.hash }) }
      await records.save(decided, leadership().fence)
      if (told !== undefined) await paying.broadcast(told)
    },
    async advance() {
      leadership()
      const open = await active()
      if (open.length === 0) return open
      const { timeSeconds } = await paying.head()
      await Promise.all(open.map((record) => stepAlone(record, timeSeconds)))
      return active()
    },
    ...createTelling({
      active,
      minedHash: (record) => landed.get(keyOf(record)),
      save: (record) => records.save(record, leadership().fence),
      async send(record, hash) {
        const transaction = own(record).transactions.find((one) => one.hash === hash)
        if (transaction !== undefined) await paying.broadcast(transaction)
      },
    }),
  }
}

const isOver = (record: ExpiringRecord, landing: Landing): boolean =>
  landing.kind === 'none' && hasExpired(record, landing.finalHeight)

/** @throws Error for a record of a chain with nonces: wallets of both kinds have nothing in common */
function own(record: KeptRecord): ExpiringRecord {
  if ('terms' in record) return record
  throw new Error(`${record.id} was signed for a chain with nonces`)
}

/** @returns why it is nothing for such a chain, or what a transaction would do */
function termsOf(work: DeskWork): PaymentTerms | string {
  switch (work.kind) {
    case 'payment': {
      const { kind, orderId, calls, payments, deadline } = work.order
      if (calls.length > 0) return 'calls are not run on this chain'
      // A fill was priced with the state that it makes; what goes back, or out of the books, was not.
      return {
        ...{ id: work.id, mark: 'paid', orderId, makesNoState: kind !== 'fill', payments },
        deadlineSeconds: deadline,
      }
    }
    case 'closing':
      return { id: work.id, mark: 'closed', payments: [] }
    case 'emptying':
      return { id: work.id, mark: 'paid', payments: [], emptied: work.emptied }
    case 'allowance': {
      const { allowance } = work
      // Remembered by nobody: it is open for ever, and signed again as long as it takes.
      const id: Hex = `0x${sha256TextHex(`allowance ${allowance.currency} ${allowance.amount}`).slice(-64)}`
      return { id, mark: 'allowed', allowance, payments: [] }
    }
    case 'sweep':
    case 'relay':
      return 'nothing is relayed on this chain'
  }
}
