// Invariants on every chain whose transactions expire by themselves and mark their payment: a payment is made once,
// wherever its process is killed, whatever its database forgets, and however often it is signed. A killed process loses
// its connections and its memory.

import type { Hex } from '@causeway/core'
import type { PayingChain, PayingFees } from '@causeway/families'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { BudgetName } from '../../src/wallet/budgets.ts'
import type { ChainDesk, DeskWork, Subject } from '../../src/wallet/chainDesk.ts'
import type { Records } from '../../src/wallet/records.ts'
import type { KeptRecord } from '../../src/wallet/signedRecord.ts'

/** Parts of a solver process on one chain, without the rest of it. */
export type ExpiringProcess = {
  readonly desk: ChainDesk
  readonly paying: PayingChain
  readonly records: Records
  /** Sum of a budget in the last hour. */
  spent(budget: BudgetName): Promise<bigint>
  /** Its connections end, as those of a process that was killed. */
  kill(): Promise<void>
}

/** One chain of a family, behind an endpoint that faults are put into. */
export type ExpiringBench = {
  readonly chainId: number
  readonly coin: string
  readonly wallet: string
  readonly bid: PayingFees
  /** @returns connection string of an empty, migrated database */
  database(): Promise<string>
  process(databaseUrl: string, options?: { readonly waits?: boolean }): Promise<ExpiringProcess>
  /** Smallest units of the native coin. */
  held(address: string): Promise<bigint>
  /** Fresh account that does not exist on the chain. */
  account(): string
  /** Unix seconds of the newest block. */
  nowSeconds(): Promise<number>
  /** Makes landed transactions final. */
  settle(): Promise<void>
  /** Expires all earlier signatures, at a final block. */
  expire(): Promise<void>
  /** Submits signed bytes, as a stranger could; the chain decides if they have an effect. */
  land(raw: Hex): Promise<void>
  /** Cuts the endpoint off, or restores it. */
  cutOff(isCutOff: boolean): Promise<void>
  /** Makes the endpoint's answers about this id malformed; `undefined`: about none. */
  garble(id: Hex | undefined): Promise<void>
  /** True if the chain includes an impossible transaction as a failure, false if it includes it in no block. */
  readonly showsFailures: boolean
}

const amount = 2_000_000n
let count = 0

type Task = {
  readonly orderId: Hex
  readonly recipient: string
  readonly work: DeskWork
  readonly subject: Subject
}

async function aTask({ account, coin, chainId, nowSeconds }: ExpiringBench, seconds = 3_600): Promise<Task> {
  count += 1
  const orderId: Hex = `0x${count.toString(16).padStart(64, '0')}`
  const [recipient, deadline] = [account(), (await nowSeconds()) + seconds]
  const payments = [{ recipient, currency: coin, amount }]
  const order = {
    ...{ kind: 'fill' as const, orderId, chainId, deadline, payments, calls: [] },
    proof: undefined,
  }
  return {
    ...{ orderId, recipient },
    work: { kind: 'payment', id: orderId, order },
    subject: {
      ...{ id: `fill-${count}`, kind: 'fill', orderId, deadline },
      payments: [{ currency: coin, amount }],
    },
  }
}
const closing = ({ orderId }: Task): DeskWork => ({ kind: 'closing', id: orderId })

export async function begin(
  { desk }: Pick<ExpiringProcess, 'desk'>,
  { work, subject }: Pick<Task, 'work' | 'subject'>,
): Promise<KeptRecord> {
  const prepared = await desk.prepare(work)
  if (prepared.kind === 'refused') throw new Error(prepared.reason)
  return prepared.begin(subject)
}

const outcomeOf = async ({ records }: ExpiringProcess, { subject }: Task) =>
  (await records.latest(subject.id))?.outcome
const firstOf = ({ transactions: [first] }: KeptRecord): Hex => first?.raw ?? '0x'

/** @param current the bench of the file, once it has started */
export function describeKills(current: () => ExpiringBench): void {
  const start = async (database?: string) => current().process(database ?? (await current().database()))
  const paid = ({ recipient }: Task) => current().held(recipient)
  /** One round over the records, with a service that agrees to everything. */
  async function round({ desk }: ExpiringProcess): Promise<void> {
    await current().settle()
    for (const record of await desk.advance())
      if (record.release === 'asked') await desk.release(record, 'given')
    for (const replacement of await desk.replaced()) {
      const record = await desk.beginTelling(replacement)
      await desk.releaseReplacement({ ...replacement, record }, 'accepted')
    }
  }
  async function rounds(process: ExpiringProcess, turns: number): Promise<void> {
    for (let turn = 0; turn < turns; turn += 1) await round(process)
  }
  /** No endpoint is there: what is sent is lost on its way. */
  async function releaseLost({ desk }: ExpiringProcess, record: KeptRecord): Promise<void> {
    await current().cutOff(true)
    try {
      await desk.release(record, 'given').catch(() => undefined)
    } finally {
      await current().cutOff(false)
    }
  }

  describe('a process that is killed', () => {
    test.each<[string, (process: ExpiringProcess, task: Task) => Promise<unknown>]>([
      [
        'after it signed, before it kept',
        async ({ paying }, { work }) => {
          if (work.kind !== 'payment') return
          const { order, id } = work
          const terms = { id, mark: 'paid', orderId: order.orderId, payments: order.payments } as const
          const plan = await paying.plan(terms, current().bid)
          if (!('refusal' in plan)) await paying.sign(plan, current().bid)
        },
      ],
      ['after it kept, before it told', (process, task) => begin(process, task)],
      [
        'after the service agreed, before it sent',
        async (process, task) => releaseLost(process, await begin(process, task)),
      ],
      [
        'after it sent, before it saw it land',
        async (process, task) => process.desk.release(await begin(process, task), 'given'),
      ],
    ])('%s: the next one pays once', async (_when, until) => {
      const database = await current().database()
      const task = await aTask(current())
      const killed = await start(database)
      await until(killed, task)
      await killed.kill()
      const next = await start(database)
      if ((await next.records.latest(task.subject.id)) === undefined) await begin(next, task)
      await rounds(next, 3)
      expect(await outcomeOf(next, task)).toBe('done')
      expect(await paid(task)).toBe(amount)
      await expect(begin(next, task)).rejects.toThrow('would revert')
      expect(await paid(task)).toBe(amount)
    })

    test('while what it signed expired: the same payment is signed anew, told, and made once', async () => {
      const database = await current().database()
      const task = await aTask(current())
      const first = await start(database)
      await releaseLost(first, await begin(first, task))
      await first.kill()
      await current().expire()
      // Killed once more when the new one is kept and nobody knows of it yet.
      const second = await start(database)
      const [renewed] = await second.desk.advance()
      expect(renewed?.transactions).toHaveLength(2)
      await second.kill()
      const third = await start(database)
      const [replacement] = await third.desk.replaced()
      expect(replacement).toMatchObject({ hash: renewed?.transactions[1]?.hash, isMined: false })
      expect(await paid(task)).toBe(0n)
      await rounds(third, 3)
      expect(await outcomeOf(third, task)).toBe('done')
      expect(await paid(task)).toBe(amount)
    })
  })

  describe('a database that forgets', () => {
    test('a payment that was made: it is not made again, and the chain says that it was', async () => {
      const task = await aTask(current())
      const first = await start()
      await first.desk.release(await begin(first, task), 'given')
      await first.kill()
      const restored = await start()
      await expect(begin(restored, task)).rejects.toThrow('would revert')
      await current().settle()
      expect(await restored.paying.readFinal(task.orderId)).toMatchObject({ state: 'paid' })
      expect(await paid(task)).toBe(amount)
    })

    test('a payment that was signed and lands later: one of the two is made', async () => {
      const task = await aTask(current())
      const [first, restored] = [await start(), await start()]
      const [one, other] = [await begin(first, task), await begin(restored, task)]
      await first.desk.release(one, 'given')
      await restored.desk.release(other, 'given').catch(() => undefined)
      for (const record of [one, other]) await current().land(firstOf(record))
      expect(await paid(task)).toBe(amount)
      await current().expire()
      await rounds(restored, 2)
      // If an id covers no signature, both may have signed the same transaction.
      const ends = current().showsFailures ? ['reverted'] : ['lost', 'done']
      expect(ends).toContain(await outcomeOf(restored, task))
      expect(await paid(task)).toBe(amount)
    })
  })

  describe('two processes with one key and one database', () => {
    test('one leads, and the other signs nothing', async () => {
      const database = await current().database()
      const leader = await start(database)
      const other = await current().process(database, { waits: false })
      const task = await aTask(current())
      await expect(begin(other, task)).rejects.toThrow('another process')
      await leader.desk.release(await begin(leader, task), 'given')
      await leader.kill()
      onTestFinished(other.kill)
      await expect.poll(() => other.desk.leads(), { timeout: 20_000 }).toBe(true)
      // The service may have to be told by which hash it landed.
      await rounds(other, 2)
      expect(await outcomeOf(other, task)).toBe('done')
      expect(await paid(task)).toBe(amount)
    })

    test('one order is begun once, whoever judged it', async () => {
      const process = await start()
      const task = await aTask(current())
      await begin(process, task)
      const second = { ...task, subject: { ...task.subject, id: 'another-item', past: [] } }
      await expect(begin(process, second)).rejects.toThrow('begun by another')
    })
  })

  describe('a closing', () => {
    test('that is final lets nothing of the payment land any more', async () => {
      const process = await start()
      const task = await aTask(current())
      const record = await begin(process, task)
      await process.desk.cancel(record)
      await begin(process, {
        work: closing(task),
        subject: { id: `close-${task.subject.id}`, kind: 'close' },
      })
      await rounds(process, 2)
      await current().settle()
      expect(await process.paying.readFinal(task.orderId)).toMatchObject({ state: 'closed' })
      await current().land(firstOf(record))
      await current().expire()
      await round(process)
      expect(await outcomeOf(process, task)).toBe(current().showsFailures ? 'reverted' : 'cancelled')
      expect(await paid(task)).toBe(0n)
    })

    test('of a paid order is refused', async () => {
      const process = await start()
      const task = await aTask(current())
      await process.desk.release(await begin(process, task), 'given')
      expect(await process.desk.prepare(closing(task))).toMatchObject({ kind: 'refused' })
    })
  })

  test('what the service refused is never sent, and is at its end once it has expired', async () => {
    const process = await start()
    const task = await aTask(current())
    await process.desk.release(await begin(process, task), 'refused')
    await round(process)
    expect(await outcomeOf(process, task)).toBe('open')
    await current().expire()
    await round(process)
    expect(await outcomeOf(process, task)).toBe('cancelled')
    expect(await paid(task)).toBe(0n)
  })

  test('what has no time left is neither sent nor signed anew', async () => {
    const process = await start()
    const task = await aTask(current(), 60)
    await releaseLost(process, await begin(process, task))
    await round(process)
    await current().expire()
    await round(process)
    expect(await outcomeOf(process, task)).toBe('lost')
    expect(await paid(task)).toBe(0n)
  })

  test('P-51: a payment that the chain says nothing readable about keeps no later one waiting', async () => {
    const process = await start()
    const [stuck, later] = [await aTask(current()), await aTask(current())]
    await releaseLost(process, await begin(process, stuck))
    await current().expire()
    await process.desk.release(await begin(process, later), 'given')
    await current().garble(stuck.orderId)
    onTestFinished(() => current().garble(undefined))
    await rounds(process, 2)
    expect([await outcomeOf(process, stuck), await outcomeOf(process, later)]).toEqual(['open', 'done'])
    await current().garble(undefined)
    await rounds(process, 3)
    expect(await outcomeOf(process, stuck)).toBe('done')
  })

  test('gas counts against its budget, by no less than what was spent', async () => {
    const process = await start()
    const task = await aTask(current())
    const before = await current().held(current().wallet)
    await process.desk.release(await begin(process, task), 'given')
    await rounds(process, 2)
    const spent = before - (await current().held(current().wallet)) - amount
    expect(spent).toBeGreaterThan(0n)
    expect(await process.spent(`gas:${current().chainId}`)).toBeGreaterThanOrEqual(spent)
  })
}
