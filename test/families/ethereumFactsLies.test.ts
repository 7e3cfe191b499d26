// Goal: no lie of a minority changes a fact. Method: three endpoints with threshold two, one of them a
// process of its own behind a proxy that mutates what the real node answers, another mutation each time;
// facts must be those of the honest ones, to the last member. CAUSEWAY_FAULTS=1 runs the long form.
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { encodeFillExtraData, type Hex } from '@causeway/core'
import { encodeDepositNative, encodeEvmWithdrawal, encodeTransfer } from '@causeway/families/rules'
import { type FaultProxy, startFaultProxy } from '@causeway/localnet'
import { concatHex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aSignal, type ChainBed, openReader, startChainBed } from './ethereumSupport/chainBed.ts'

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const mutations = isLongForm ? 10_000 : 300
const longest = isLongForm ? 3_600_000 : 120_000
const id: Hex = `0x${'ab'.repeat(32)}`
const recipient: Hex = `0x${'61'.repeat(20)}`
const native = `0x${'00'.repeat(20)}`

type Liar = { readonly url: string; readonly process: ChildProcess }

let bed: ChainBed
let liars: readonly Liar[]
let proxies: readonly FaultProxy[]
let deposit: Hex
let direct: Hex
let payment: Hex

beforeAll(async () => {
  bed = await startChainBed()
  const [user] = bed.network.keys.users
  if (user === undefined) throw new Error('no user')
  const { depository, tokens } = bed.deployment
  deposit = (await bed.send(user, depository, encodeDepositNative(recipient, id), 7n)).transactionId
  direct = (await bed.send(user, tokens.USDC, concatHex([encodeTransfer(depository, 9n), id]))).transactionId
  payment = (await bed.send(user, recipient, id, 5n)).transactionId
  await bed.mine(4)
  liars = await Promise.all([startLiar(bed.url), startLiar(bed.url)])
  const targets = [bed.url, bed.url, ...liars.map(({ url }) => url)]
  proxies = await Promise.all(targets.map((targetUrl) => startFaultProxy({ targetUrl })))
})
afterAll(async () => {
  await Promise.all((proxies ?? []).map((proxy) => proxy.stop()))
  for (const liar of liars ?? []) liar.process.kill('SIGTERM')
  await bed?.stop()
})

async function startLiar(targetUrl: string): Promise<Liar> {
  const script = fileURLToPath(new URL('../rpc/lyingEndpointProcess.ts', import.meta.url))
  const child = spawn(process.execPath, [script, targetUrl], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (data: Buffer) => resolve(data.toString().trim()))
    child.once('exit', () => reject(new Error('the lying endpoint ended')))
  })
  return { url: `http://127.0.0.1:${port}`, process: child }
}

async function tellLie(liar: Liar | undefined, seed: number): Promise<void> {
  await fetch(`${liar?.url}/lie/${seed}`, { method: 'POST' })
}

type Reader = ReturnType<typeof openReader>['reader']

const questions: readonly (readonly [string, (reader: Reader) => Promise<unknown>])[] = [
  ['a deposit event', (reader) => reader.readDeposits({ transactionId: deposit }, aSignal())],
  ['a transfer with an appended id', (reader) => reader.readDeposits({ transactionId: direct }, aSignal())],
  [
    'a payment',
    (reader) =>
      reader.readPayment(
        {
          transactionId: payment,
          orderId: id,
          extraData: encodeFillExtraData(recipient),
          payments: [{ recipient, currency: native }],
        },
        aSignal(),
      ),
  ],
  [
    'a withdrawal',
    (reader) => {
      const call = { to: recipient, data: '0x', value: 1n, allowFailure: false } as const
      const withdrawal = encodeEvmWithdrawal({ calls: [call], nonce: 1n, expiration: 4_000_000_000n })
      return reader.readWithdrawal({ withdrawal, transactionId: deposit }, aSignal())
    },
  ],
]

/** Readers that remember nothing, so that each mutation is met anew; breakers must not hide the liar. */
function freshReader(positions: readonly number[]) {
  return openReader(bed, {
    urls: positions.map((position) => proxies[position]?.url ?? ''),
    limits: { finalEntriesMax: 0 },
    quorumLimits: { patienceMs: 5_000, readingTimeoutMs: 20_000, requestTimeoutMs: 10_000 },
  })
}

const facts = (answer: unknown) => ({
  ...Object(answer),
  evidence: { ...Object(Object(answer).evidence), agreeingEndpoints: [] },
})

describe.each(questions)('%s', (_name, ask) => {
  test('is the same whatever one of three endpoints says', { timeout: longest }, async () => {
    const honest = freshReader([0, 1])
    const truth = facts(await ask(honest.reader))
    await honest.quorum.close()
    let reader = freshReader([2, 0, 1])
    for (let seed = 0; seed < mutations; seed += 1) {
      if (seed % 4 === 0) {
        await reader.quorum.close()
        reader = freshReader([2, 0, 1])
      }
      await tellLie(liars[0], seed)
      expect(facts(await ask(reader.reader)), `mutation ${seed}`).toEqual(truth)
    }
    await reader.quorum.close()
  })

  test('is the same or refused when two of three lie, each in its own way', {
    timeout: longest,
  }, async () => {
    const honest = freshReader([0, 1])
    const truth = facts(await ask(honest.reader))
    await honest.quorum.close()
    let refused = 0
    for (let seed = 0; seed < mutations / 4; seed += 1) {
      const { reader, quorum } = freshReader([2, 3, 0])
      await Promise.all([tellLie(liars[0], 2 * seed), tellLie(liars[1], 1_000_000 + 3 * seed)])
      const answer = await ask(reader).catch((error: unknown) => error)
      await quorum.close()
      if (answer instanceof Error) {
        expect(answer).toMatchObject({
          kind: expect.stringMatching(/^(upstream_|not_final|invalid_request)/),
        })
        refused += 1
      } else {
        expect(facts(answer), `mutation ${seed}`).toEqual(truth)
      }
    }
    expect(refused).toBeGreaterThan(0)
  })
})
