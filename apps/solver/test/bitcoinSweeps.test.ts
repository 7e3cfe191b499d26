// Goal: what lies at a deposit address on Bitcoin is deposited once and as a whole, wherever the process that sweeps it is
// killed and whatever its database forgets, and a payment that a reorganization takes back holds up no other payment for
// longer than its own deadline. Who gains by breaking it: a user who is credited twice, or whose money goes to nobody;
// whoever stops the fill wallet by a payment that vanishes. Method: the desk over three nodes with the mempool rules of
// real ones, and real PostgreSQL; a killed process is one whose connections end and whose memory is gone.
import type { Hex } from '@causeway/core'
import { bitcoinNetworkOf } from '@causeway/core/encodings'
import { outputScript } from '@causeway/families/rules'
import { fundingTransaction, keyOf } from '@causeway/localnet/standIns/bitcoin'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { DeskWork, Subject } from '../src/wallet/chainDesk.ts'
import {
  type BitcoinBench,
  type BitcoinProcess,
  bitcoinChainId,
  bitcoinCoin,
  bitcoinNow,
  bumpAfterMs,
  lineCoins,
  recipientOf,
  sendAll,
  startBitcoinBench,
} from './support/bitcoinBench.ts'
import { unsent } from './support/payerBench.ts'
import { begin, rounds } from './support/payerRounds.ts'

const depository = keyOf('depository').legacy
const depositor = keyOf('depositor').witness.address
const deadline = bitcoinNow + 7_200
const gas = { relayGasPerHourWei: 10n ** 6n }
let bench: BitcoinBench
let count = 0

beforeAll(async () => {
  bench = await startBitcoinBench()
})
beforeEach(() => bench.begin())
afterAll(() => bench?.stop())

type Sweep = { readonly work: DeskWork; readonly subject: Subject; readonly values: readonly bigint[] }

const termsOf = ({ paying }: BitcoinProcess, number: number) => ({
  orderSigner: `0x${'05'.repeat(20)}` as const,
  sweeper: paying.publicKey,
  depositor,
  nonce: `0x${number.toString(16).padStart(64, '0')}` as const,
})

/** Pays an address, and what a solver is asked to do about it once that is final. */
async function aSweep(
  process: BitcoinProcess,
  values: readonly bigint[] = [60_000n, 40_000n],
): Promise<Sweep> {
  count += 1
  const terms = termsOf(process, count)
  const { address, script } = process.paying.depositAddress(terms)
  const paid = outputScript(address, bitcoinNetworkOf('regtest'))
  bench.bitcoin().mine(fundingTransaction(...values.map((value) => ({ script: paid, value }))))
  bench.bitcoin().mineEmpty(3)
  const outputs = await process.paying.outputsToSweep(address)
  const orderId: Hex = `0x${count.toString(16).padStart(64, 'a')}`
  return {
    values,
    work: {
      kind: 'sweep',
      recipient: depository.address,
      orderId,
      swept: { script, nonce: terms.nonce, outputs },
    },
    subject: { id: `sweep-${count}`, kind: 'sweep', orderId: undefined, deadline },
  }
}

const deposited = () => bench.received(depository.script)
const outcomeOf = async ({ records }: BitcoinProcess, { subject }: Sweep) =>
  (await records.latest(subject.id))?.outcome
test('all of it is deposited for the order, and the wallet pays the fee and nothing else', async () => {
  const process = await bench.process(await bench.database(), { gas })
  const sweep = await aSweep(process)
  await process.desk.release(await begin(process, sweep), 'given')
  await bench.settle()
  await rounds(process)
  expect([await outcomeOf(process, sweep), deposited()]).toEqual(['done', 100_000n])
  const fee = await process.spent(`sweep-gas:${bitcoinChainId}`)
  expect(fee).toBeGreaterThan(0n)
  expect(await process.left()).toBe(lineCoins - fee - process.paying.keptSatoshi)
})

test.each<[string, (process: BitcoinProcess, sweep: Sweep) => Promise<unknown>]>([
  ['after it kept, before it told', (process, sweep) => begin(process, sweep)],
  [
    'after the service agreed, before it sent',
    async (process, sweep) => {
      const record = await begin(process, sweep)
      await unsent(bench, () => process.desk.release(record, 'given').catch(() => undefined))
    },
  ],
  ['after it was sent', async (process, sweep) => process.desk.release(await begin(process, sweep), 'given')],
  [
    'after a higher fee was sent',
    async (process, sweep) => {
      await process.desk.release(await begin(process, sweep), 'given')
      process.wait(bumpAfterMs)
      await rounds(process, 2)
    },
  ],
])('a process that is killed %s: the next one deposits it once', async (_when, until) => {
  const database = await bench.database()
  const killed = await bench.process(database, { gas })
  const sweep = await aSweep(killed)
  await until(killed, sweep)
  await killed.kill()
  const next = await bench.process(database, { gas })
  await rounds(next)
  await bench.settle()
  await rounds(next)
  expect([await outcomeOf(next, sweep), deposited()]).toEqual(['done', 100_000n])
  await sendAll(bench, await next.records.latest(sweep.subject.id))
  expect(deposited()).toBe(100_000n)
})

test('a second database that knows nothing of it deposits the same outputs, of which one is mined', async () => {
  const first = await bench.process(await bench.database(), { gas })
  const sweep = await aSweep(first)
  const record = await begin(first, sweep)
  const second = await bench.process(await bench.database(), { gas })
  const again = await begin(second, { ...sweep, subject: { ...sweep.subject, id: 'for another order' } })
  await sendAll(bench, record, again)
  expect(deposited()).toBe(100_000n)
})

test('a payment that a reorganization takes back stops the line until the deadline of its sweep, and no longer', async () => {
  const process = await bench.process(await bench.database(), { gas })
  const sweep = await aSweep(process)
  await process.desk.release(await begin(process, sweep), 'given')
  const payee = recipientOf('behind it')
  const payments = [{ recipient: payee.address, currency: bitcoinCoin, amount: 50_000n }]
  const orderId: Hex = `0x${'0f'.repeat(32)}`
  const order = { kind: 'fill' as const, orderId, chainId: bitcoinChainId, deadline: deadline + 7_200 }
  const behind = await begin(process, {
    work: { kind: 'payment', id: orderId, order: { ...order, payments, calls: [], proof: undefined } },
    subject: { id: 'behind', kind: 'fill', orderId, deadline: deadline + 7_200, past: [] },
  })
  await process.desk.release(behind, 'given')
  // Four blocks go, the payment with them, and what it spent is spent otherwise.
  const forgotten = [...bench.bitcoin().waiting()]
  bench.bitcoin().drop(4)
  bench.bitcoin().forget()
  bench.bitcoin().mineEmpty(6)
  for (const one of forgotten) bench.bitcoin().offer(one)
  await rounds(process)
  await bench.settle()
  expect([deposited(), bench.received(payee.script)]).toEqual([0n, 0n])
  process.wait(7_201_000)
  await rounds(process, 4)
  await bench.settle()
  await rounds(process, 4)
  await bench.settle()
  await rounds(process)
  expect([await outcomeOf(process, sweep), deposited()]).toEqual(['cancelled', 0n])
  expect(bench.received(payee.script)).toBe(50_000n)
})

test.each<[string, (work: Extract<DeskWork, { kind: 'sweep' }>) => DeskWork, string]>([
  ['to another account for an order', (work) => ({ ...work, recipient: depositor }), 'elsewhere'],
  ['of nothing', (work) => ({ ...work, swept: { ...work.swept, outputs: [] } }), 'nothing'],
])('a sweep %s is not signed', async (_what, change, reason) => {
  const process = await bench.process(await bench.database(), { gas })
  const { work } = await aSweep(process)
  if (work.kind !== 'sweep') throw new Error('it is a sweep')
  expect(await process.desk.prepare(change(work))).toMatchObject({
    kind: 'refused',
    reason: expect.stringContaining(reason),
  })
})

test('what is not final, or dust, is not there to be swept', async () => {
  const process = await bench.process(await bench.database(), { gas })
  count += 1
  const { address } = process.paying.depositAddress(termsOf(process, count))
  const script = outputScript(address, bitcoinNetworkOf('regtest'))
  bench.bitcoin().mine(fundingTransaction({ script, value: 60_000n }, { script, value: 9_999n }))
  bench.bitcoin().mineEmpty(1)
  expect(await process.paying.outputsToSweep(address)).toEqual([])
  bench.bitcoin().mineEmpty(1)
  expect((await process.paying.outputsToSweep(address)).map(({ value }) => value)).toEqual([60_000n])
})
