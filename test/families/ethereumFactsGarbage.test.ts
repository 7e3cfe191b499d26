// Goal: whatever an endpoint answers, the reader answers with facts or a typed refusal, in time. Method: each
// kind of rubbish in each round and for each method, on the only endpoint of a chain (refused) and on one of
// three (facts, unchanged). @source ledger-and-safety.md 5.3, R1

import type { Hex } from '@causeway/core'
import { encodeDepositNative, encodeEvmWithdrawal, encodeTransfer } from '@causeway/families/rules'
import { type FaultMode, type FaultProxy, startFaultProxy } from '@causeway/localnet'
import { concatHex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aSignal, type ChainBed, openReader, startChainBed } from './ethereumSupport/chainBed.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
const recipient: Hex = `0x${'61'.repeat(20)}`
/** Far above what an honest answer takes on a loaded machine. */
const timeouts = { requestTimeoutMs: 1_500, readingTimeoutMs: 4_000, patienceMs: 10 }

let bed: ChainBed
let proxies: readonly FaultProxy[]
let direct: Hex
let payment: Hex

beforeAll(async () => {
  bed = await startChainBed()
  const [user] = bed.network.keys.users
  if (user === undefined) throw new Error('no user')
  const { depository, tokens } = bed.deployment
  await bed.send(user, depository, encodeDepositNative(recipient, id), 7n)
  direct = (await bed.send(user, tokens.USDC, concatHex([encodeTransfer(depository, 9n), id]))).transactionId
  payment = (await bed.send(user, recipient, id, 5n)).transactionId
  await bed.mine(4)
  proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl: bed.url })))
})
afterAll(async () => {
  await Promise.all((proxies ?? []).map((proxy) => proxy.stop()))
  await bed?.stop()
})

type Reader = ReturnType<typeof openReader>['reader']

const call = { to: recipient, data: '0x', value: 1n, allowFailure: false } as const
const withdrawal = encodeEvmWithdrawal({ calls: [call], nonce: 1n, expiration: 4_000_000_000n })
const native = `0x${'00'.repeat(20)}`
const askDeposit = (reader: Reader) => reader.readDeposits({ transactionId: direct }, aSignal())
const askWithdrawal = (reader: Reader) => reader.readWithdrawal({ withdrawal }, aSignal())
const askPayment = (reader: Reader) =>
  reader.readPayment(
    {
      transactionId: payment,
      orderId: id,
      extraData: '0x',
      payments: [{ recipient, currency: native }],
    },
    aSignal(),
  )

async function withMode(mode: FaultMode, endpoints: number, ask: (reader: Reader) => Promise<unknown>) {
  const [first] = proxies
  await first?.set(mode)
  const { reader, quorum } = openReader(bed, {
    urls: proxies.slice(0, endpoints).map(({ url }) => url),
    limits: { finalEntriesMax: 0 },
    quorumLimits: timeouts,
  })
  try {
    return await ask(reader).catch((error: unknown) => error)
  } finally {
    await quorum.close()
    await first?.set({ kind: 'pass' })
  }
}

const transport: readonly (readonly [string, FaultMode])[] = [
  ['a page with status 200', { kind: 'html200' }],
  ['half an answer', { kind: 'halfJson' }],
  ['status 500', { kind: 'http', status: 500 }],
  ['status 204 without a body', { kind: 'http', status: 204 }],
  ['status 429', { kind: 'http', status: 429 }],
  ['status 429 with retry-after', { kind: 'http', status: 429, retryAfter: '1' }],
  ['bytes that are not HTTP', { kind: 'garbage' }],
  ['another id', { kind: 'wrongId' }],
  ['a body of 65 MiB', { kind: 'oversize', bytes: 65 * 1024 * 1024 }],
  ['a byte a second', { kind: 'slowDrip', intervalMs: 1_000 }],
  ['a redirect', { kind: 'redirect', location: 'http://127.0.0.1:9/' }],
  ['a cut connection', { kind: 'reset' }],
  ['silence', { kind: 'hang' }],
  ['an error of the node', { kind: 'nodeError', code: -32_000, message: 'header not found' }],
]

describe('an endpoint that answers with', () => {
  test.each(transport)('%s is an endpoint that did not answer', async (_name, mode) => {
    const alone = await withMode(mode, 1, askDeposit)
    expect(alone).toMatchObject({ kind: 'upstream_unavailable', retryable: true })
    const outvoted = await withMode(mode, 3, askDeposit)
    expect(outvoted).toMatchObject({ deposits: [{ amount: 9n, depositId: id }] })
  })

  // Questions that fail together are asked in halves, down to one, which no batch can spoil.
  test.each([
    ['in another order', 'reversedBatch'],
    ['with a member twice', 'repeatedAnswer'],
  ] as const)('a batch %s is read all the same', async (_name, kind) => {
    expect(await withMode({ kind }, 1, askDeposit)).toMatchObject({ deposits: [{ amount: 9n }] })
  })
})

type Change = (result: unknown) => unknown
const drop =
  (...members: readonly string[]): Change =>
  (result) => {
    const copy: Record<string, unknown> = { ...Object(result) }
    for (const member of members) delete copy[member]
    return copy
  }
const set =
  (member: string, value: unknown): Change =>
  (result) => ({ ...Object(result), [member]: value })
const inLog =
  (change: Change): Change =>
  (result) => ({ ...Object(result), logs: Object(result).logs.map(change) })
const everywhere: readonly (readonly [string, Change])[] = [
  ['a number', () => 7],
  ['a text', () => 'text'],
  ['odd hex', () => '0xabc'],
  ['an empty list', () => []],
  ['an empty object', () => ({})],
  ['true', () => true],
]
const anyHash = `0x${'aa'.repeat(32)}`
const ofMethod: readonly (readonly [
  string,
  (reader: Reader) => Promise<unknown>,
  readonly (readonly [string, Change])[],
])[] = [
  [
    'eth_getTransactionReceipt',
    askDeposit,
    [
      ...everywhere,
      ['without status', drop('status')],
      ['without logs', drop('logs')],
      ['without block', drop('blockHash', 'blockNumber')],
      ['of another transaction', set('transactionHash', anyHash)],
      ['with another block hash', set('blockHash', anyHash)],
      ['with a block number as a number', set('blockNumber', 5)],
      ['with a block number of odd text', set('blockNumber', '0x')],
      ['with a status of two', set('status', '0x2')],
      ['with logs of another transaction', inLog(set('transactionHash', anyHash))],
      ['with removed logs', inLog(set('removed', true))],
      ['with logs of odd hex', inLog(set('data', '0xabc'))],
      ['with logs without an index', inLog(drop('logIndex'))],
      ['with short topics', inLog(set('topics', ['0x01']))],
      [
        'with five topics',
        inLog(
          set(
            'topics',
            Array.from({ length: 5 }, () => anyHash),
          ),
        ),
      ],
      ['with a long address', inLog(set('address', anyHash))],
      [
        'with each log twice',
        (result) => ({ ...Object(result), logs: [...Object(result).logs, ...Object(result).logs] }),
      ],
    ],
  ],
  [
    'eth_getBlockByNumber',
    askDeposit,
    [
      ...everywhere,
      ['null', () => null],
      ['without hash', drop('hash')],
      ['with a time above any integer', set('timestamp', 1e308)],
      ['with the hash of another block', set('hash', anyHash)],
      ['with a short hash', set('hash', '0xaa')],
    ],
  ],
  [
    'eth_getTransactionByHash',
    askDeposit,
    [
      ...everywhere,
      ['null', () => null],
      ['without input', drop('input')],
      ['of another block', set('blockHash', anyHash)],
      ['of another transaction', set('hash', anyHash)],
      ['with odd input', set('input', '0xabc')],
      ['with a value as a number', set('value', 5)],
    ],
  ],
  [
    'eth_call',
    askWithdrawal,
    [
      ...everywhere,
      ['null', () => null],
      ['nothing', () => '0x'],
      ['a word of two', () => `0x${'2'.padStart(64, '0')}`],
      ['two words', () => `0x${'0'.repeat(128)}`],
    ],
  ],
  ['eth_getCode', askPayment, [...everywhere, ['null', () => null]]],
]

describe.each(ofMethod)('an answer to %s that is', (method, ask, changes) => {
  test.each(changes)('%s makes its endpoint one that did not answer', async (_name, change) => {
    const mode: FaultMode = {
      kind: 'lie',
      rewrite: (seen, result) => (seen.method === method ? change(result) : result),
    }
    const alone = await withMode(mode, 1, ask)
    expect(alone).toMatchObject({ kind: 'upstream_unavailable', code: 'RPC_HTTP_ERROR' })
    const truth = await withMode({ kind: 'pass' }, 3, ask)
    const outvoted = await withMode(mode, 3, ask)
    const evidence = { agreeingEndpoints: expect.any(Array) }
    expect(outvoted).toEqual({
      ...Object(truth),
      evidence: { ...Object(Object(truth).evidence), ...evidence },
    })
  })
})
