// Goal: on Bitcoin the transactions of a fill wallet stay one line, however often they are replaced, cancelled and taken
// back by a reorganization, and each pays once. Who gains by breaking it: a user who is paid twice; and a user whose
// payment is taken for made. Method: the desk over three nodes with the mempool rules of real ones, and real PostgreSQL.
import { fundingTransaction, transactionOf } from '@causeway/localnet/standIns/bitcoin'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { KeptRecord, LineRecord } from '../src/wallet/signedRecord.ts'
import {
  type BitcoinBench,
  type BitcoinProcess,
  bitcoinChainId,
  bumpAfterMs,
  lineCoins,
  sendAll,
  startBitcoinBench,
} from './support/bitcoinBench.ts'
import { aTask, begin, keptOf, rounds, type Task } from './support/payerRounds.ts'

const amount = 2_000_000n
let bench: BitcoinBench

beforeAll(async () => {
  bench = await startBitcoinBench()
})
beforeEach(() => bench.begin())
afterAll(() => bench?.stop())

const payment = (seconds?: number) =>
  aTask(bench, { recipient: bench.account(), amount, ...(seconds !== undefined && { seconds }) })
async function kept(process: BitcoinProcess, task: Task): Promise<LineRecord> {
  const record = await keptOf(process, task)
  if (!('line' in record)) throw new Error('a record of a line')
  return record
}
const outcomeOf = async (process: BitcoinProcess, task: Task) => (await kept(process, task)).outcome
const paid = ({ recipient }: Task) => bench.held(recipient)
const firstOf = ({ transactions }: Pick<KeptRecord, 'transactions'>) =>
  transactionOf(transactions[0]?.raw ?? '')

describe('a fee that is too low', () => {
  test('L-39: is raised twice at the same place, and one of the three is mined', async () => {
    const process = await bench.process(await bench.database())
    const task = await payment()
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
        .bitcoin()
        .waiting()
        .map((one) => one.getId()),
    ).toEqual([transactions[2]?.hash])
    await bench.settle()
    await rounds(process)
    expect(await outcomeOf(process, task)).toBe('done')
    await sendAll(bench, await kept(process, task))
    expect(await paid(task)).toBe(amount)
    expect(await process.spent(`gas:${bitcoinChainId}`)).toBe(872n)
  })

  test('of one that was replaced is mined all the same: the service hears of it, and it counts', async () => {
    const process = await bench.process(await bench.database())
    const task = await payment()
    const first = await begin(process, task)
    await process.desk.release(first, 'given')
    process.wait(bumpAfterMs)
    await rounds(process, 2)
    bench.bitcoin().mine(firstOf(first))
    bench.bitcoin().mineEmpty(3)
    await rounds(process)
    expect(await kept(process, task)).toMatchObject({
      outcome: 'done',
      toldHash: first.transactions[0]?.hash,
    })
    expect(await paid(task)).toBe(amount)
    expect(await process.spent(`gas:${bitcoinChainId}`)).toBe(436n)
  })

  test('is never raised above the ceiling', async () => {
    const process = await bench.process(await bench.database())
    const task = await payment()
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
    const tasks = [await payment(), await payment(), await payment()]
    for (const task of tasks) await process.desk.release(await begin(process, task), 'given')
    expect(bench.bitcoin().waiting()).toHaveLength(3)
    process.price(10_000n)
    process.wait(bumpAfterMs)
    await rounds(process, 2)
    const fees = await Promise.all(
      tasks.map(async (task) => (await kept(process, task)).transactions.at(-1)?.fee),
    )
    expect(fees.reduce<bigint>((sum, fee) => sum + (fee ?? 0n), 0n)).toBe(6_540n)
    await bench.settle()
    await rounds(process)
    for (const task of tasks)
      expect([await outcomeOf(process, task), await paid(task)]).toEqual(['done', amount])
  })

  test('wait while one of them is kept and not sent', async () => {
    const process = await bench.process(await bench.database())
    const [first, second] = [await payment(), await payment()]
    const record = await begin(process, first)
    await expect(begin(process, second)).rejects.toThrow('is not sent yet')
    await process.desk.release(record, 'given')
    await begin(process, second)
  })

  test('behind one that is cancelled are signed anew behind what takes its place', async () => {
    const process = await bench.process(await bench.database())
    const [first, second] = [await payment(), await payment()]
    const record = await begin(process, first)
    await process.desk.release(record, 'given')
    await process.desk.release(await begin(process, second), 'given')
    await process.desk.cancel(await kept(process, first))
    await rounds(process, 3)
    await bench.settle()
    await rounds(process)
    expect([await outcomeOf(process, first), await paid(first)]).toEqual(['cancelled', 0n])
    expect([await outcomeOf(process, second), await paid(second)]).toEqual(['done', amount])
    await sendAll(bench, await kept(process, first), await kept(process, second))
    expect([await paid(first), await paid(second)]).toEqual([0n, amount])
  })
})

test('L-39: what is past its deadline gives its place to a transaction that pays nothing', async () => {
  const database = await bench.database()
  const process = await bench.process(database)
  const task = await payment(3_600)
  await process.desk.release(await begin(process, task), 'given')
  process.wait(7_201_000)
  await process.desk.advance()
  // Killed when the cancellation is kept: the next one sends it.
  await process.kill()
  const next = await bench.process(database)
  await rounds(next)
  await bench.settle()
  await rounds(next)
  expect([await outcomeOf(next, task), await paid(task)]).toEqual(['cancelled', 0n])
})

test('a database of an older state is restored in the middle of a line: what it has open is signed anew, and paid once', async () => {
  const [lost, kept1] = [await payment(), await payment()]
  const restored = await bench.process(await bench.database())
  const record = await begin(restored, kept1)
  // The restored database knows nothing of the other process's work.
  const meanwhile = await bench.process(await bench.database())
  await meanwhile.desk.release(await begin(meanwhile, lost), 'given')
  await bench.settle()
  await meanwhile.kill()
  await restored.desk.release(record, 'given')
  await rounds(restored)
  await bench.settle()
  await rounds(restored)
  expect([await outcomeOf(restored, kept1), await paid(kept1), await paid(lost)]).toEqual([
    'done',
    amount,
    amount,
  ])
  await sendAll(bench, record, await kept(restored, kept1))
  expect(await paid(kept1)).toBe(amount)
})

describe('a chain that is reorganised', () => {
  test('takes a mined payment back: it waits again, and is mined once', async () => {
    const process = await bench.process(await bench.database())
    const task = await payment()
    await process.desk.release(await begin(process, task), 'given')
    bench.bitcoin().mineWaiting()
    await rounds(process)
    bench.bitcoin().drop(1)
    bench.bitcoin().mine()
    await rounds(process)
    expect(await outcomeOf(process, task)).toBe('open')
    expect(await paid(task)).toBe(0n)
    await bench.settle()
    await rounds(process)
    await sendAll(bench, await kept(process, task))
    expect([await outcomeOf(process, task), await paid(task)]).toEqual(['done', amount])
  })

  test('mines the replaced one instead of the one that was seen: what stands behind it is signed anew', async () => {
    const process = await bench.process(await bench.database())
    const [first, second] = [await payment(), await payment()]
    const record = await begin(process, first)
    await process.desk.release(record, 'given')
    process.wait(bumpAfterMs)
    await rounds(process, 2)
    await process.desk.release(await begin(process, second), 'given')
    bench.bitcoin().mineWaiting()
    await rounds(process)
    bench.bitcoin().drop(1)
    bench.bitcoin().mine(firstOf(record))
    await rounds(process, 4)
    await bench.settle()
    await rounds(process, 4)
    expect([await outcomeOf(process, first), await outcomeOf(process, second)]).toEqual(['done', 'done'])
    await sendAll(bench, await kept(process, first), await kept(process, second))
    expect([await paid(first), await paid(second)]).toEqual([amount, amount])
  })
})

describe('coins beside the line', () => {
  test('L-40: are gathered while it is cheap, within the budget, and once', async () => {
    const process = await bench.process(await bench.database(), { gatherBelow: 2_000n })
    const coins = [90_000n, 60n].map((value) => fundingTransaction({ script: bench.script, value }))
    bench.bitcoin().mine(...coins)
    bench.bitcoin().mineEmpty(3)
    process.price(2_001n)
    await rounds(process, 1)
    expect(bench.bitcoin().waiting()).toHaveLength(0)
    process.price(2_000n)
    await rounds(process)
    // Outputs that cost more than they bring are not gathered.
    expect(
      bench
        .bitcoin()
        .waiting()
        .map(({ ins }) => ins.length),
    ).toEqual([2])
    await bench.settle()
    await rounds(process)
    const spent = await process.spent(`gas:${bitcoinChainId}`)
    expect(await process.left()).toBe(lineCoins + 90_000n - spent - process.paying.keptSatoshi)
    process.wait(600_000)
    await rounds(process)
    expect(bench.bitcoin().waiting()).toHaveLength(0)
  })

  test('stay where they are where the hour has no budget for it', async () => {
    const limits = { gatherBelow: 2_000n, gas: { gasPerHourWei: 300n } }
    const process = await bench.process(await bench.database(), limits)
    bench.bitcoin().mine(fundingTransaction({ script: bench.script, value: 90_000n }))
    bench.bitcoin().mineEmpty(3)
    await rounds(process)
    expect(bench.bitcoin().waiting()).toHaveLength(0)
  })
})

test('what the line does not hold is not signed', async () => {
  const process = await bench.process(await bench.database())
  const task = await aTask(bench, { recipient: bench.account(), amount: lineCoins })
  await expect(begin(process, task)).rejects.toThrow('gas price')
  expect(await process.records.latest(task.subject.id)).toBeUndefined()
})
