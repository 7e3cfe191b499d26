import { DomainError, type Hex } from '@causeway/core'
import type { ChainDesk, DeskWork, Subject } from '../../src/wallet/chainDesk.ts'
import type { KeptRecord } from '../../src/wallet/signedRecord.ts'
import type { DeskProcess, PayerBench } from './payerBench.ts'

/** A payment of one recipient, as work items ask for it. */
export type Task = {
  readonly orderId: Hex
  readonly recipient: string
  readonly work: Extract<DeskWork, { kind: 'payment' }>
  readonly subject: Subject & { readonly deadline: number }
}

let count = 0

/** A payment that nobody has made. @param wishes `seconds` until its deadline */
export async function aTask(
  { chainId, fillContract, ...bench }: Pick<PayerBench, 'chainId' | 'fillContract' | 'coin' | 'nowSeconds'>,
  wishes: {
    readonly recipient: string
    readonly amount: bigint
    readonly currency?: string
    readonly seconds?: number
    readonly kind?: 'fill' | 'refund'
    readonly id?: Hex
    readonly orderId?: Hex
  },
): Promise<Task> {
  count += 1
  const { recipient, amount, currency = bench.coin, seconds = 10 ** 6, kind = 'fill' } = wishes
  const { orderId = `0x${count.toString(16).padStart(64, '0')}`, id = orderId } = wishes
  const deadline = (await bench.nowSeconds()) + seconds
  const order = {
    kind,
    orderId,
    chainId,
    fillContract,
    deadline,
    calls: [],
    proof: undefined,
    payments: [{ recipient, currency, amount }],
  }
  return {
    orderId,
    recipient,
    work: { kind: 'payment', id, order },
    subject: { id: `${kind}-${count}`, kind, orderId, deadline, payments: [{ currency, amount }] },
  }
}

/** Signs and keeps. @throws Error with the reason where it is refused */
export async function begin(
  { desk, records }: Pick<DeskProcess, 'desk' | 'records'>,
  { work, subject }: { readonly work: DeskWork; readonly subject: Subject },
): Promise<KeptRecord> {
  const prepared = await desk.prepare(work)
  if (prepared.kind === 'refused') throw new Error(prepared.reason)
  const past = subject.orderId === undefined ? [] : await records.ofPayment(subject.orderId)
  return prepared.begin({ past, ...subject })
}

/** Rounds over the records, with a service that gives the same answer to everything. */
export async function rounds(
  { desk }: { readonly desk: ChainDesk },
  times = 3,
  answer: 'given' | 'refused' = 'given',
): Promise<void> {
  for (let turn = 0; turn < times; turn += 1) {
    for (const record of await desk.advance())
      if (record.release === 'asked') await desk.release(record, answer).catch(unlessSilent)
    for (const replacement of await desk.replaced()) {
      const record = await desk.beginTelling(replacement)
      await desk.releaseReplacement({ ...replacement, record }, 'accepted').catch(unlessSilent)
    }
  }
}

/** Endpoints that all fail are asked again by the next round. */
export function unlessSilent(error: unknown): void {
  if (!(error instanceof DomainError)) throw error
}

/** Until everything that was sent is final, and told. */
export async function finish(bench: Pick<PayerBench, 'settle'>, process: DeskProcess): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) {
    await rounds(process, 1)
    await bench.settle()
  }
  await rounds(process, 1)
}

/** The record of a task. @throws Error where none is kept */
export async function keptOf(
  { records }: DeskProcess,
  { subject }: Pick<Task, 'subject'>,
): Promise<KeptRecord> {
  const record = await records.latest(subject.id)
  if (record === undefined) throw new Error(`nothing is kept of ${subject.id}`)
  return record
}
