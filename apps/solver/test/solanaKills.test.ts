// Goal: on a chain without nonces and fill contract a payment is made once, wherever its process is killed, whatever
// its database forgets, and however often it is signed. Who gains by breaking it: a user who is paid twice; and a user
// whose payment is taken for made. Method: the desk on the real runtime with real PostgreSQL; a killed process is one
// whose connections end and whose memory is gone.
import { type Hex, paymentMarkerAddress } from '@causeway/core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { DeskWork, Subject } from '../src/wallet/chainDesk.ts'
import type { KeptRecord } from '../src/wallet/signedRecord.ts'
import {
  nativeCoin,
  type SolanaBench,
  type SolanaProcess,
  solanaChainId,
  solanaNow,
  startSolanaBench,
} from './support/solanaBench.ts'

const amount = 2_000_000n
const deadline = solanaNow + 3_600
let bench: SolanaBench
let count = 0

beforeAll(async () => {
  bench = await startSolanaBench()
})
afterAll(() => bench?.stop())

type Task = {
  readonly orderId: Hex
  readonly recipient: string
  readonly work: DeskWork
  readonly subject: Subject
}

function aTask(): Task {
  count += 1
  const orderId: Hex = `0x${count.toString(16).padStart(64, '0')}`
  const recipient = bench.account()
  const payments = [{ recipient, currency: nativeCoin, amount }]
  const order = {
    ...{ kind: 'fill' as const, orderId, chainId: solanaChainId, deadline, payments, calls: [] },
    proof: undefined,
  }
  return {
    ...{ orderId, recipient },
    work: { kind: 'payment', id: orderId, order },
    subject: {
      id: `fill-${count}`,
      kind: 'fill',
      orderId,
      deadline,
      payments: [{ currency: nativeCoin, amount }],
    },
  }
}
const closing = ({ orderId }: Task): Task['work'] => ({ kind: 'closing', id: orderId })

async function begin(
  { desk }: SolanaProcess,
  { work, subject }: Pick<Task, 'work' | 'subject'>,
): Promise<KeptRecord> {
  const prepared = await desk.prepare(work)
  if (prepared.kind === 'refused') throw new Error(prepared.reason)
  return prepared.begin(subject)
}
/** What a round does with what is kept, when the service agrees to everything. */
async function round({ desk }: SolanaProcess): Promise<void> {
  for (const record of await desk.advance())
    if (record.release === 'asked') await desk.release(record, 'given')
  for (const replacement of await desk.replaced()) {
    const record = await desk.beginTelling(replacement)
    await desk.releaseReplacement({ ...replacement, record }, 'accepted')
  }
}
const outcomeOf = async ({ records }: SolanaProcess, { subject }: Task) =>
  (await records.latest(subject.id))?.outcome
const paid = ({ recipient }: Task) => bench.lamports(recipient)
/** No endpoint is there: what is sent is lost on its way. */
async function withoutSending<Result>(run: () => Promise<Result>): Promise<Result> {
  await bench.proxy.set({ kind: 'refuse' })
  try {
    return await run()
  } finally {
    await bench.proxy.set({ kind: 'pass' })
  }
}

describe('a process that is killed', () => {
  test.each<[string, (process: SolanaProcess, task: Task) => Promise<unknown>]>([
    [
      'after it signed, before it kept',
      async ({ paying }, { work }) => {
        if (work.kind !== 'payment') return
        const { order, id } = work
        const plan = await paying.plan(
          { id, mark: 'paid', orderId: order.orderId, payments: order.payments },
          bench.bid,
        )
        if (!('refusal' in plan)) await paying.sign(plan, bench.bid)
      },
    ],
    ['after it kept, before it told', (process, task) => begin(process, task)],
    [
      'after the service agreed, before it sent',
      async (process, task) => {
        const record = await begin(process, task)
        await withoutSending(() => process.desk.release(record, 'given').catch(() => undefined))
      },
    ],
    [
      'after it sent, before it saw it land',
      async (process, task) => {
        await process.desk.release(await begin(process, task), 'given')
      },
    ],
  ])('%s: the next one pays once', async (_when, until) => {
    const database = await bench.database()
    const task = aTask()
    const killed = await bench.process(database)
    await until(killed, task)
    await killed.kill()
    const next = await bench.process(database)
    if ((await next.records.latest(task.subject.id)) === undefined) await begin(next, task)
    for (let turn = 0; turn < 3; turn += 1) await round(next)
    expect(await outcomeOf(next, task)).toBe('done')
    expect(paid(task)).toBe(amount)
    await expect(begin(next, task)).rejects.toThrow('would revert')
    expect(paid(task)).toBe(amount)
  })

  test('while its block expired: the same payment is signed anew, told, and made once', async () => {
    const database = await bench.database()
    const task = aTask()
    const first = await bench.process(database)
    const record = await begin(first, task)
    await withoutSending(() => first.desk.release(record, 'given').catch(() => undefined))
    await first.kill()
    bench.node.mine(160)
    // Killed once more when the new one is kept and nobody knows of it yet.
    const second = await bench.process(database)
    const [renewed] = await second.desk.advance()
    expect(renewed?.transactions).toHaveLength(2)
    await second.kill()
    const third = await bench.process(database)
    const [replacement] = await third.desk.replaced()
    expect(replacement).toMatchObject({ hash: renewed?.transactions[1]?.hash, isMined: false })
    expect(paid(task)).toBe(0n)
    for (let turn = 0; turn < 3; turn += 1) await round(third)
    expect(await outcomeOf(third, task)).toBe('done')
    expect(paid(task)).toBe(amount)
  })
})

describe('a database that forgets', () => {
  test('a payment that was made: it is not made again, and the chain says that it was', async () => {
    const task = aTask()
    const first = await bench.process(await bench.database())
    await first.desk.release(await begin(first, task), 'given')
    await first.kill()
    const restored = await bench.process(await bench.database())
    await expect(begin(restored, task)).rejects.toThrow('would revert')
    expect(await restored.paying.readFinal(task.orderId)).toMatchObject({ state: 'paid' })
    expect(paid(task)).toBe(amount)
  })

  test('a payment that was signed and lands later: one of the two is made', async () => {
    const task = aTask()
    const [first, restored] = [
      await bench.process(await bench.database()),
      await bench.process(await bench.database()),
    ]
    const [one, other] = [await begin(first, task), await begin(restored, task)]
    await first.desk.release(one, 'given')
    await restored.desk.release(other, 'given').catch(() => undefined)
    for (const { transactions } of [one, other])
      bench.node.send(Buffer.from(transactions[0]?.raw.slice(2) ?? '', 'hex'), { skipPreflight: true })
    expect(paid(task)).toBe(amount)
    bench.node.mine(160)
    await round(restored)
    await round(restored)
    expect(await outcomeOf(restored, task)).toBe('reverted')
    expect(paid(task)).toBe(amount)
  })
})

describe('two processes with one key and one database', () => {
  test('one leads, and the other signs nothing', async () => {
    const database = await bench.database()
    const leader = await bench.process(database)
    const other = await bench.process(database, { waits: false })
    const task = aTask()
    await expect(begin(other, task)).rejects.toThrow('another process')
    await leader.desk.release(await begin(leader, task), 'given')
    await leader.kill()
    onTestFinished(other.kill)
    await expect.poll(() => other.desk.leads(), { timeout: 20_000 }).toBe(true)
    await round(other)
    expect(await outcomeOf(other, task)).toBe('done')
    expect(paid(task)).toBe(amount)
  })

  test('one order is begun once, whoever judged it', async () => {
    const process = await bench.process(await bench.database())
    const task = aTask()
    await begin(process, task)
    const second = { ...task, subject: { ...task.subject, id: 'another-item', past: [] } }
    await expect(begin(process, second)).rejects.toThrow('begun by another')
  })
})

describe('a closing', () => {
  test('that is final lets nothing of the payment land any more', async () => {
    const process = await bench.process(await bench.database())
    const task = aTask()
    const record = await begin(process, task)
    await process.desk.cancel(record)
    await begin(process, { work: closing(task), subject: { id: `close-${task.subject.id}`, kind: 'close' } })
    await round(process)
    expect(await process.paying.readFinal(task.orderId)).toMatchObject({ state: 'closed' })
    bench.node.send(Buffer.from(record.transactions[0]?.raw.slice(2) ?? '', 'hex'), { skipPreflight: true })
    bench.node.mine(160)
    await round(process)
    expect(await outcomeOf(process, task)).toBe('reverted')
    expect(paid(task)).toBe(0n)
  })

  test('of a paid order is refused', async () => {
    const process = await bench.process(await bench.database())
    const task = aTask()
    await process.desk.release(await begin(process, task), 'given')
    expect(await process.desk.prepare(closing(task))).toMatchObject({ kind: 'refused' })
  })
})

test('what the service refused is never sent, and is at its end once its block has expired', async () => {
  const process = await bench.process(await bench.database())
  const task = aTask()
  await process.desk.release(await begin(process, task), 'refused')
  await round(process)
  expect(await outcomeOf(process, task)).toBe('open')
  bench.node.mine(160)
  await round(process)
  expect(await outcomeOf(process, task)).toBe('cancelled')
  expect(paid(task)).toBe(0n)
})

test('what has no time left is neither sent nor signed anew', async () => {
  const process = await bench.process(await bench.database())
  const task = aTask()
  const late = { ...task, subject: { ...task.subject, deadline: solanaNow + 60 } }
  const record = await begin(process, late)
  await withoutSending(() => process.desk.release(record, 'given').catch(() => undefined))
  await round(process)
  bench.node.mine(160)
  await round(process)
  expect(await outcomeOf(process, task)).toBe('lost')
  expect(paid(task)).toBe(0n)
})

test('a payment that the chain says nothing readable about keeps no later one waiting', async () => {
  const process = await bench.process(await bench.database())
  const [stuck, later] = [aTask(), aTask()]
  const first = await begin(process, stuck)
  await withoutSending(() => process.desk.release(first, 'given').catch(() => undefined))
  bench.node.mine(160)
  await process.desk.release(await begin(process, later), 'given')
  const marker = paymentMarkerAddress(bench.wallet, stuck.orderId)
  await bench.proxy.set({
    kind: 'lie',
    rewrite: ({ method, params }, result) =>
      method === 'getMultipleAccounts' && JSON.stringify(params).includes(marker) ? 'nonsense' : result,
  })
  onTestFinished(() => bench.proxy.set({ kind: 'pass' }))
  for (let turn = 0; turn < 2; turn += 1) await round(process)
  expect([await outcomeOf(process, stuck), await outcomeOf(process, later)]).toEqual(['open', 'done'])
  await bench.proxy.set({ kind: 'pass' })
  for (let turn = 0; turn < 3; turn += 1) await round(process)
  expect(await outcomeOf(process, stuck)).toBe('done')
})

test('gas counts against its budget: what was reserved is the fee and the rent of the marker', async () => {
  const process = await bench.process(await bench.database())
  const task = aTask()
  const before = bench.lamports(bench.wallet)
  await process.desk.release(await begin(process, task), 'given')
  await round(process)
  const spent = before - bench.lamports(bench.wallet) - amount
  expect(await process.spent(`gas:${solanaChainId}`)).toBe(spent)
})
