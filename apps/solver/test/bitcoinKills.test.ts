// Goal: on Bitcoin a payment is made once, wherever its process is killed, whatever its database forgets, and however
// often its transaction is replaced. Who gains by breaking it: a user who is paid twice; and a user whose payment is
// taken for made. Method: the desk over three nodes with the mempool rules of real ones, and real PostgreSQL; a killed
// process is one whose connections end and whose memory is gone.
import { type Hex, refundId } from '@causeway/core'
import { funded, transactionOf } from '@causeway/localnet/standIns/bitcoin'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { DeskWork, Subject } from '../src/wallet/chainDesk.ts'
import type { LineRecord } from '../src/wallet/signedRecord.ts'
import {
  type BitcoinBench,
  type BitcoinProcess,
  bitcoinChainId,
  bitcoinCoin,
  bitcoinNow,
  bumpAfterMs,
  lineCoins,
  recipientOf,
  rounds,
  sendAll,
  startBitcoinBench,
} from './support/bitcoinBench.ts'

const amount = 2_000_000n
const deadline = bitcoinNow + 7_200
let bench: BitcoinBench
let count = 0

beforeAll(async () => {
  bench = await startBitcoinBench()
})
beforeEach(() => bench.begin())
afterAll(() => bench?.stop())

type Task = {
  readonly orderId: Hex
  readonly script: Uint8Array
  readonly work: DeskWork
  readonly subject: Subject
}

function aTask(
  change: { readonly id?: Hex; readonly orderId?: Hex; readonly kind?: 'fill' | 'refund' } = {},
): Task {
  count += 1
  const orderId: Hex = change.orderId ?? `0x${count.toString(16).padStart(64, '0')}`
  const { script, address } = recipientOf(`recipient ${count}`)
  const { kind = 'fill', id = orderId } = change
  const payments = [{ recipient: address, currency: bitcoinCoin, amount }]
  const order = {
    ...{ kind, orderId, chainId: bitcoinChainId, deadline, payments, calls: [] },
    proof: undefined,
  }
  return {
    ...{ orderId, script },
    work: { kind: 'payment', id, order },
    subject: {
      ...{ id: `${kind}-${count}`, kind, orderId, deadline },
      payments: [{ currency: bitcoinCoin, amount }],
    },
  }
}
const closing = ({ orderId }: Task): DeskWork => ({ kind: 'closing', id: orderId })
const closingSubject = ({ orderId }: Task): Subject => ({
  ...{ id: `close-${orderId}`, kind: 'close', orderId: undefined, deadline: undefined },
})

async function begin(
  { desk, records }: BitcoinProcess,
  { work, subject }: Pick<Task, 'work' | 'subject'>,
): Promise<LineRecord> {
  const prepared = await desk.prepare(work)
  if (prepared.kind === 'refused') throw new Error(prepared.reason)
  const past = subject.orderId === undefined ? [] : await records.ofPayment(subject.orderId)
  return lineRecord(await prepared.begin({ ...subject, past }))
}
function lineRecord(record: object | undefined): LineRecord {
  if (record === undefined || !('line' in record)) throw new Error('a record of a line')
  // CAST: what has the member was parsed as such.
  return record as LineRecord
}
const kept = async ({ records }: BitcoinProcess, { subject }: Task) =>
  lineRecord(await records.latest(subject.id))
const outcomeOf = async (process: BitcoinProcess, task: Task) => (await kept(process, task)).outcome
const paid = ({ script }: Task) => bench.received(script)
const firstOf = ({ transactions }: LineRecord) => transactionOf(transactions[0]?.raw ?? '')
describe('a process that is killed', () => {
  test.each<[string, (process: BitcoinProcess, task: Task) => Promise<unknown>]>([
    [
      'after it signed, before it kept',
      async ({ paying }, { work }) => {
        if (work.kind !== 'payment') return
        const { tip } = await paying.look([])
        const { orderId, payments } = work.order
        const planned = { mark: { kind: 'paid' as const, id: work.id }, orderId, payments }
        await paying.sign(planned, { parent: tip, gathered: [] }, 500n)
      },
    ],
    ['after it kept, before it told', (process, task) => begin(process, task)],
    [
      'after the service agreed, before it sent',
      async (process, task) => {
        const record = await begin(process, task)
        await bench.withoutSending(() => process.desk.release(record, 'given').catch(() => undefined))
      },
    ],
    [
      'after it sent, before it saw it mined',
      async (process, task) => {
        await process.desk.release(await begin(process, task), 'given')
      },
    ],
    [
      'after it was mined, before it was final',
      async (process, task) => {
        await process.desk.release(await begin(process, task), 'given')
        bench.chain().mineWaiting()
      },
    ],
    [
      'after a higher fee was kept, before it was told',
      async (process, task) => {
        await process.desk.release(await begin(process, task), 'given')
        process.wait(bumpAfterMs)
        await process.desk.advance()
      },
    ],
    [
      'after a higher fee was told, before it was sent',
      async (process, task) => {
        await process.desk.release(await begin(process, task), 'given')
        process.wait(bumpAfterMs)
        await bench.withoutSending(() => rounds(process, 1).catch(() => undefined))
      },
    ],
    [
      'after a higher fee was sent',
      async (process, task) => {
        await process.desk.release(await begin(process, task), 'given')
        process.wait(bumpAfterMs)
        await rounds(process, 2)
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
    await rounds(next)
    bench.settle()
    await rounds(next)
    expect(await outcomeOf(next, task)).toBe('done')
    expect(paid(task)).toBe(amount)
    await expect(begin(next, task)).rejects.toThrow('it is paid')
    sendAll(bench, await kept(next, task))
    expect(paid(task)).toBe(amount)
  })
})

describe('a fee that is too low', () => {
  test('is raised twice at the same place, and one of the three is mined', async () => {
    const process = await bench.process(await bench.database())
    const task = aTask()
    await process.desk.release(await begin(process, task), 'given')
    for (let turn = 0; turn < 2; turn += 1) {
      process.wait(bumpAfterMs)
      await rounds(process, 2)
    }
    const { transactions } = await kept(process, task)
    expect(new Set(transactions.map(({ parent }) => parent.txid)).size).toBe(1)
    const fees = transactions.map(({ fee }) => fee)
    expect(fees).toEqual([436n, 654n, 872n])
    expect(
      bench
        .chain()
        .waiting()
        .map((one) => one.getId()),
    ).toEqual([transactions[2]?.hash])
    bench.settle()
    await rounds(process)
    expect(await outcomeOf(process, task)).toBe('done')
    sendAll(bench, await kept(process, task))
    expect(paid(task)).toBe(amount)
    expect(await process.spent(`gas:${bitcoinChainId}`)).toBe(872n)
  })

  test('of one that was replaced is mined all the same: the service hears of it, and it counts', async () => {
    const process = await bench.process(await bench.database())
    const task = aTask()
    const first = await begin(process, task)
    await process.desk.release(first, 'given')
    process.wait(bumpAfterMs)
    await rounds(process, 2)
    bench.chain().mine(firstOf(first))
    bench.chain().mineEmpty(3)
    await rounds(process)
    expect(await kept(process, task)).toMatchObject({
      outcome: 'done',
      toldHash: first.transactions[0]?.hash,
    })
    expect(paid(task)).toBe(amount)
    expect(await process.spent(`gas:${bitcoinChainId}`)).toBe(436n)
  })

  test('is never raised above the ceiling', async () => {
    const process = await bench.process(await bench.database())
    const task = aTask()
    await process.desk.release(await begin(process, task), 'given')
    process.price(10_000_000n)
    for (let turn = 0; turn < 3; turn += 1) {
      process.wait(bumpAfterMs)
      await rounds(process, 2)
    }
    const fees = (await kept(process, task)).transactions.map(({ fee }) => fee)
    expect(fees).toEqual([436n, 10_900n])
  })
})

describe('several payments', () => {
  test('stand one behind the other, are mined together, and a higher price lifts all of them', async () => {
    const process = await bench.process(await bench.database())
    const tasks = [aTask(), aTask(), aTask()]
    for (const task of tasks) await process.desk.release(await begin(process, task), 'given')
    expect(bench.chain().waiting()).toHaveLength(3)
    process.price(10_000n)
    process.wait(bumpAfterMs)
    await rounds(process, 2)
    const fees = await Promise.all(
      tasks.map(async (task) => (await kept(process, task)).transactions.at(-1)?.fee),
    )
    expect(fees.reduce<bigint>((sum, fee) => sum + (fee ?? 0n), 0n)).toBe(6_540n)
    bench.settle()
    await rounds(process)
    for (const task of tasks) expect([await outcomeOf(process, task), paid(task)]).toEqual(['done', amount])
  })

  test('wait while one of them is kept and not sent', async () => {
    const process = await bench.process(await bench.database())
    const [first, second] = [aTask(), aTask()]
    const record = await begin(process, first)
    await expect(begin(process, second)).rejects.toThrow('is not sent yet')
    await process.desk.release(record, 'given')
    await begin(process, second)
  })

  test('behind one that is cancelled are signed anew behind what takes its place', async () => {
    const process = await bench.process(await bench.database())
    const [first, second] = [aTask(), aTask()]
    const record = await begin(process, first)
    await process.desk.release(record, 'given')
    await process.desk.release(await begin(process, second), 'given')
    await process.desk.cancel(await kept(process, first))
    await rounds(process, 3)
    bench.settle()
    await rounds(process)
    expect([await outcomeOf(process, first), paid(first)]).toEqual(['cancelled', 0n])
    expect([await outcomeOf(process, second), paid(second)]).toEqual(['done', amount])
    sendAll(bench, await kept(process, first), await kept(process, second))
    expect([paid(first), paid(second)]).toEqual([0n, amount])
  })
})

describe('what must not be mined any more', () => {
  test('gives its place to a transaction that pays nothing: refused by the service', async () => {
    const process = await bench.process(await bench.database())
    const task = aTask()
    await process.desk.release(await begin(process, task), 'refused')
    await rounds(process)
    bench.settle()
    await rounds(process)
    expect(await outcomeOf(process, task)).toBe('cancelled')
    sendAll(bench, await kept(process, task))
    expect(paid(task)).toBe(0n)
    // Nothing was paid, so that another attempt may be.
    await process.desk.release(await begin(process, task), 'given')
    bench.settle()
    await rounds(process)
    expect([await outcomeOf(process, task), paid(task)]).toEqual(['done', amount])
  })

  test('L-39: gives its place to a transaction that pays nothing: its deadline has passed', async () => {
    const database = await bench.database()
    const process = await bench.process(database)
    const task = aTask()
    await process.desk.release(await begin(process, task), 'given')
    process.wait(7_201_000)
    await process.desk.advance()
    // Killed when the cancellation is kept: the next one sends it.
    await process.kill()
    const next = await bench.process(database)
    await rounds(next)
    bench.settle()
    await rounds(next)
    expect([await outcomeOf(next, task), paid(task)]).toEqual(['cancelled', 0n])
  })

  test('is mined before its cancellation: it is done, and nothing is paid again', async () => {
    const process = await bench.process(await bench.database())
    const task = aTask()
    const record = await begin(process, task)
    await process.desk.release(record, 'given')
    await process.desk.cancel(await kept(process, task))
    bench.chain().mine(firstOf(record))
    bench.chain().mineEmpty(3)
    await rounds(process)
    expect([await outcomeOf(process, task), paid(task)]).toEqual(['done', amount])
    await expect(begin(process, task)).rejects.toThrow('it is paid')
  })

  test('is closed, and its payment is never signed behind it', async () => {
    const process = await bench.process(await bench.database())
    const task = aTask()
    const record = await begin(process, task)
    await process.desk.cancel(record)
    await begin(process, { work: closing(task), subject: closingSubject(task) })
    await rounds(process)
    bench.settle()
    await rounds(process)
    expect(await process.paying.readFinal(task.orderId)).toMatchObject({ state: 'closed' })
    await expect(begin(process, task)).rejects.toThrow('it is closed')
    sendAll(bench, record)
    expect(paid(task)).toBe(0n)
  })

  test('is no paid order: its closing is refused', async () => {
    const process = await bench.process(await bench.database())
    const task = aTask()
    await process.desk.release(await begin(process, task), 'given')
    expect(await process.desk.prepare(closing(task))).toMatchObject({ kind: 'refused' })
  })
})

describe('a database that forgets', () => {
  test('a payment that was made: it is not made again, and the line says that it was', async () => {
    const task = aTask()
    const first = await bench.process(await bench.database())
    await first.desk.release(await begin(first, task), 'given')
    await first.kill()
    bench.settle()
    const restored = await bench.process(await bench.database())
    await expect(begin(restored, task)).rejects.toThrow('it is paid')
    expect(await restored.paying.readFinal(task.orderId)).toMatchObject({ state: 'paid' })
    expect(paid(task)).toBe(amount)
  })

  test('a payment that waits for a block: one of the two is mined', async () => {
    const task = aTask()
    const [first, restored] = [
      await bench.process(await bench.database()),
      await bench.process(await bench.database()),
    ]
    const [one, other] = [await begin(first, task), await begin(restored, task)]
    await first.desk.release(one, 'given')
    await restored.desk.release(other, 'given')
    restored.wait(bumpAfterMs)
    await rounds(restored, 2)
    bench.settle()
    await Promise.all([rounds(first), rounds(restored)])
    const outcomes = [await outcomeOf(first, task), await outcomeOf(restored, task)].sort()
    expect(outcomes).toEqual(['done', 'lost'])
    sendAll(bench, one, other, await kept(first, task), await kept(restored, task))
    expect(paid(task)).toBe(amount)
  })

  test('an older state is restored in the middle of a line: what it has open is signed anew, and paid once', async () => {
    const [lost, kept1] = [aTask(), aTask()]
    const restored = await bench.process(await bench.database())
    const record = await begin(restored, kept1)
    // The restored database knows nothing of the other process's work.
    const meanwhile = await bench.process(await bench.database())
    await meanwhile.desk.release(await begin(meanwhile, lost), 'given')
    bench.settle()
    await meanwhile.kill()
    await restored.desk.release(record, 'given')
    await rounds(restored)
    bench.settle()
    await rounds(restored)
    expect([await outcomeOf(restored, kept1), paid(kept1), paid(lost)]).toEqual(['done', amount, amount])
    sendAll(bench, record, await kept(restored, kept1))
    expect(paid(kept1)).toBe(amount)
  })

  test('two refunds of one order are told apart, and each is paid once', async () => {
    const orderId: Hex = `0x${'cd'.repeat(32)}`
    const deposits = [0, 1].map((ordinal) =>
      refundId(orderId, { chainId: 1, transactionId: 'a', currency: 'b', amount: 1n, ordinal }),
    )
    const tasks = deposits.map((id) => aTask({ id, orderId, kind: 'refund' }))
    const first = await bench.process(await bench.database())
    for (const task of tasks) await first.desk.release(await begin(first, task), 'given')
    bench.settle()
    const restored = await bench.process(await bench.database())
    for (const task of tasks) await expect(begin(restored, task)).rejects.toThrow('it is paid')
    expect(tasks.map(paid)).toEqual([amount, amount])
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
    bench.settle()
    await rounds(other)
    expect([await outcomeOf(other, task), paid(task)]).toEqual(['done', amount])
  })
})

describe('a chain that is reorganised', () => {
  test('takes a mined payment back: it waits again, and is mined once', async () => {
    const process = await bench.process(await bench.database())
    const task = aTask()
    await process.desk.release(await begin(process, task), 'given')
    bench.chain().mineWaiting()
    await rounds(process)
    bench.chain().drop(1)
    bench.chain().mine()
    await rounds(process)
    expect(await outcomeOf(process, task)).toBe('open')
    expect(paid(task)).toBe(0n)
    bench.settle()
    await rounds(process)
    sendAll(bench, await kept(process, task))
    expect([await outcomeOf(process, task), paid(task)]).toEqual(['done', amount])
  })

  test('mines the replaced one instead of the one that was seen: what stands behind it is signed anew', async () => {
    const process = await bench.process(await bench.database())
    const [first, second] = [aTask(), aTask()]
    const record = await begin(process, first)
    await process.desk.release(record, 'given')
    process.wait(bumpAfterMs)
    await rounds(process, 2)
    await process.desk.release(await begin(process, second), 'given')
    bench.chain().mineWaiting()
    await rounds(process)
    bench.chain().drop(1)
    bench.chain().mine(firstOf(record))
    await rounds(process, 4)
    bench.settle()
    await rounds(process, 4)
    expect([await outcomeOf(process, first), await outcomeOf(process, second)]).toEqual(['done', 'done'])
    sendAll(bench, await kept(process, first), await kept(process, second))
    expect([paid(first), paid(second)]).toEqual([amount, amount])
  })
})

test('an endpoint that hides a payment is outvoted', async () => {
  const process = await bench.process(await bench.database())
  const task = aTask()
  const record = await begin(process, task)
  await process.desk.release(record, 'given')
  bench.settle()
  const [hash = ''] = record.transactions.map((one) => one.hash)
  const [liar] = bench.nodes
  liar?.fault((what, answer) => {
    const { id } = JSON.parse(answer.text)
    const says = (result: unknown) => ({ status: 200, text: JSON.stringify({ result, error: null, id }) })
    if (what === 'gettxout') return says({ confirmations: 1 })
    const unknown = { code: -5, message: 'No such mempool or blockchain transaction.' }
    return what === 'getrawtransaction' && answer.text.includes(hash)
      ? { status: 200, text: JSON.stringify({ result: null, error: unknown, id }) }
      : answer
  })
  await rounds(process)
  expect(await outcomeOf(process, task)).toBe('done')
  const restored = await bench.process(await bench.database())
  await expect(begin(restored, task)).rejects.toThrow('it is paid')
})

describe('coins beside the line', () => {
  test('L-40: are gathered while it is cheap, within the budget, and once', async () => {
    const process = await bench.process(await bench.database(), { gas: { gatherBelow: 2_000n } })
    const coins = [90_000n, 60n].map((value) => funded({ script: bench.script, value }))
    bench.chain().mine(...coins)
    bench.chain().mineEmpty(3)
    process.price(2_001n)
    await rounds(process, 1)
    expect(bench.chain().waiting()).toHaveLength(0)
    process.price(2_000n)
    await rounds(process)
    // Outputs that cost more than they bring are not gathered.
    expect(
      bench
        .chain()
        .waiting()
        .map(({ ins }) => ins.length),
    ).toEqual([2])
    bench.settle()
    await rounds(process)
    const spent = await process.spent(`gas:${bitcoinChainId}`)
    expect(await process.left()).toBe(lineCoins + 90_000n - spent - process.paying.kept)
    process.wait(600_000)
    await rounds(process)
    expect(bench.chain().waiting()).toHaveLength(0)
  })

  test('stay where they are where the hour has no budget for it', async () => {
    const gas = { gatherBelow: 2_000n, gasPerHourWei: 300n }
    const process = await bench.process(await bench.database(), { gas })
    bench.chain().mine(funded({ script: bench.script, value: 90_000n }))
    bench.chain().mineEmpty(3)
    await rounds(process)
    expect(bench.chain().waiting()).toHaveLength(0)
  })
})

test('what the line does not hold is not signed', async () => {
  const process = await bench.process(await bench.database())
  const task = aTask()
  if (task.work.kind !== 'payment') throw new Error('a payment')
  const payments = task.work.order.payments.map((one) => ({ ...one, amount: lineCoins }))
  const work: DeskWork = { ...task.work, order: { ...task.work.order, payments } }
  await expect(begin(process, { ...task, work })).rejects.toThrow('gas price')
  expect(await process.records.latest(task.subject.id)).toBeUndefined()
})
