// Goal: whatever the desk had kept when its process was killed, the next process ends the record as it would have ended: a
// payment is made once, and what the service refused is never made. Who gains by breaking it: a user who is paid twice, or
// for an order that was closed. Method: one table over the three strategies and three lives of a record, over real
// PostgreSQL, a real node of Base, and stand-ins of Bitcoin and Hyperliquid; a process is killed before and after each of
// its writes, and then somebody sends all that was ever signed once more.
import type { Hex } from '@causeway/core'
import { transactionOf } from '@causeway/localnet/standIns/bitcoin'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ChainDesk, DeskWork } from '../src/wallet/chainDesk.ts'
import type { Records } from '../src/wallet/records.ts'
import type { KeptRecord } from '../src/wallet/signedRecord.ts'
import {
  type BitcoinBench,
  bitcoinChainId,
  bitcoinCoin,
  bitcoinNow,
  bumpAfterMs,
  recipientOf,
  startBitcoinBench,
} from './support/bitcoinBench.ts'
import {
  type HyperliquidBench,
  hyperliquidChainId,
  startHyperliquidBench,
} from './support/hyperliquidBench.ts'
import { openNonceBench } from './support/nonceBench.ts'

type Process = {
  readonly desk: ChainDesk
  readonly records: Records
  /** Makes its transactions old: they are bumped, or can no longer land. */
  age(): Promise<void>
  kill(): Promise<void>
}
type Task = {
  readonly order: Omit<
    Extract<DeskWork, { kind: 'payment' }>['order'],
    'kind' | 'orderId' | 'calls' | 'proof'
  >
  paid(): Promise<bigint>
}
type Bench = {
  database(): Promise<string>
  process(database: string, through?: (records: Records) => Records): Promise<Process>
  task(count: number): Promise<Task>
  /** Prevents landing during `run`. */
  withoutLanding(run: () => Promise<void>): Promise<void>
  /** Makes the sent transactions final. */
  settle(): Promise<void>
  /** Sends a transaction once more, as a stranger could. */
  land(raw: Hex): Promise<void>
}
const amount = 2_000_000n
let bitcoin: BitcoinBench
let exchange: HyperliquidBench
let benches: Readonly<Record<'nonce' | 'expiry' | 'line', Bench>>

beforeAll(async () => {
  ;[bitcoin, exchange] = await Promise.all([startBitcoinBench(), startHyperliquidBench()])
  bitcoin.begin()
  benches = { nonce: await nonceBench(), expiry: expiryBench(), line: lineBench() }
})
afterAll(() => Promise.all([bitcoin?.stop(), exchange?.stop()]))

async function nonceBench(): Promise<Bench> {
  const { network } = exchange
  const { client } = network.chains.base.chain
  const { process, chainId, fillContract } = await openNonceBench(network)
  return {
    database: exchange.database,
    async process(database, through) {
      const { desk, records, kill, wait } = await process(database, through)
      return { desk, records, kill, age: async () => wait() }
    },
    async task() {
      const recipient = privateKeyToAddress(generatePrivateKey())
      const currency = `0x${'0'.repeat(40)}`
      const deadline = Number((await client.getBlock()).timestamp) + 3_600
      return {
        order: { chainId, deadline, fillContract, payments: [{ recipient, currency, amount }] },
        paid: () => client.getBalance({ address: recipient }),
      }
    },
    withoutLanding: (run) => run(),
    settle: () => network.mine('base', 3),
    async land(raw) {
      await client.sendRawTransaction({ serializedTransaction: raw }).catch(() => undefined)
    },
  }
}

function expiryBench(): Bench {
  const { expire: age, database, settle, land, cutOff } = exchange
  return {
    ...{ database, settle, land },
    async process(connectionString, through) {
      const options = through === undefined ? {} : { through }
      return { ...(await exchange.process(connectionString, options)), age }
    },
    async task() {
      const recipient = exchange.account()
      const deadline = (await exchange.nowSeconds()) + 3_600
      const payments = [{ recipient, currency: exchange.coin, amount }]
      return {
        order: { chainId: hyperliquidChainId, deadline, payments },
        paid: () => exchange.held(recipient),
      }
    },
    async withoutLanding(run) {
      await cutOff(true)
      await run().finally(() => cutOff(false))
    },
  }
}

function lineBench(): Bench {
  return {
    database: bitcoin.database,
    async process(database, through) {
      const options = through === undefined ? {} : { through }
      const { desk, records, kill, wait } = await bitcoin.process(database, options)
      return { desk, records, kill, age: async () => wait(bumpAfterMs) }
    },
    async task(count) {
      const { address: recipient, script } = recipientOf(`recipient ${count}`)
      const payments = [{ recipient, currency: bitcoinCoin, amount }]
      return {
        order: { chainId: bitcoinChainId, deadline: bitcoinNow + 10 ** 7, payments },
        paid: async () => bitcoin.received(script),
      }
    },
    withoutLanding: (run) => run(),
    settle: async () => bitcoin.settle(),
    async land(raw) {
      bitcoin.chain().offer(transactionOf(raw))
    },
  }
}

class KilledError extends Error {}

/** A process ends before or after one of its writes: from then on it neither reads nor writes. */
function endingAt(write: number, isAfter: boolean) {
  let [writes, isDead] = [0, false]
  function end(): never {
    isDead = true
    throw new KilledError()
  }
  const writing =
    <Asked extends readonly unknown[]>(run: (...asked: Asked) => Promise<void>) =>
    async (...asked: Asked) => {
      writes += 1
      if (isDead || (writes === write && !isAfter)) end()
      await run(...asked)
      if (writes === write) end()
    }
  return {
    isDead: () => isDead,
    through: (records: Records): Records => ({
      ...records,
      begin: writing(records.begin),
      save: writing(records.save),
      active: async (...asked) => (isDead ? end() : records.active(...asked)),
    }),
  }
}

type Answer = 'given' | 'refused'

/** One round over the records, with a service that gives the same answer to everything. */
async function round({ desk }: Process, answer: Answer): Promise<void> {
  for (const record of await desk.advance())
    if (record.release === 'asked') await desk.release(record, answer).catch(passNodes)
  for (const replacement of await desk.replaced()) {
    const record = await desk.beginTelling(replacement)
    await desk.releaseReplacement({ ...replacement, record }, 'accepted')
  }
}
/** Ignores the failure of all endpoints, since the next round sends again. */
function passNodes(error: unknown): void {
  if (error instanceof KilledError) throw error
}

type Life = {
  readonly answer: Answer
  run(bench: Bench, process: Process): Promise<void>
}
const lives: Readonly<Record<string, Life>> = {
  'is paid': {
    answer: 'given',
    async run(bench, process) {
      for (let turn = 0; turn < 3; turn += 1) {
        await round(process, 'given')
        await bench.settle()
      }
    },
  },
  'is signed again, and paid': {
    answer: 'given',
    async run(bench, process) {
      for (const record of await process.desk.advance())
        await bench.withoutLanding(() => process.desk.release(record, 'given').catch(passNodes))
      await process.age()
      await round(process, 'given')
      for (let turn = 0; turn < 3; turn += 1) {
        await round(process, 'given')
        await bench.settle()
      }
    },
  },
  'is refused': {
    answer: 'refused',
    async run(bench, process) {
      await round(process, 'refused')
      await process.age()
      await round(process, 'refused')
      await bench.settle()
      await round(process, 'refused')
    },
  },
}

let count = 0

/** @returns whether the process came to the write at which it was to be killed */
async function killAt(bench: Bench, database: string, life: Life, write: number, isAfter: boolean) {
  count += 1
  const orderId: Hex = `0x${count.toString(16).padStart(64, '0')}`
  const { order, paid } = await bench.task(count)
  const { deadline, payments } = order
  const work: DeskWork = {
    ...{ kind: 'payment', id: orderId },
    order: { ...order, kind: 'fill', orderId, calls: [], proof: undefined },
  }
  const subject = {
    ...{ id: `fill-${count}`, kind: 'fill' as const, orderId, deadline },
    payments: payments.map(({ currency, amount }) => ({ currency, amount })),
  }
  const begin = async ({ desk }: Process): Promise<void> => {
    const prepared = await desk.prepare(work)
    if (prepared.kind === 'refused') throw new Error(prepared.reason)
    await prepared.begin(subject)
  }
  const ending = endingAt(write, isAfter)
  const killed = await bench.process(database, ending.through)
  try {
    await begin(killed)
    await life.run(bench, killed)
  } catch (error) {
    if (!(error instanceof KilledError)) throw error
  }
  await killed.kill()
  const next = await bench.process(database)
  const kept = () => next.records.latest(subject.id)
  if ((await kept()) === undefined) await begin(next)
  for (let turn = 0; (await kept())?.outcome === 'open' && turn < 8; turn += 1) {
    await round(next, life.answer)
    await bench.settle()
    if (life.answer === 'refused') await next.age()
  }
  const record: KeptRecord | undefined = await kept()
  const isPaid = life.answer === 'given'
  const when = `${isAfter ? 'after' : 'before'} write ${write}`
  expect([when, record?.outcome]).toEqual([when, isPaid ? 'done' : 'cancelled'])
  for (const { raw } of record?.transactions ?? []) await bench.land(raw)
  await bench.settle()
  expect([when, await paid()]).toEqual([when, isPaid ? amount : 0n])
  await next.kill()
  return ending.isDead()
}

const table = (['nonce', 'expiry', 'line'] as const).flatMap((strategy) =>
  Object.entries(lives).map(([what, life]) => [strategy, what, life] as const),
)

test.each(table)(
  'F-120: by %s, what %s ends so, wherever its process is killed',
  async (strategy, _what, life) => {
    const bench = benches[strategy]
    const database = await bench.database()
    let write = 1
    while (await killAt(bench, database, life, write, false)) {
      await killAt(bench, database, life, write, true)
      write += 1
    }
    // Begun, answered and at its end, at the least.
    expect(write).toBeGreaterThan(3)
  },
  300_000,
)
