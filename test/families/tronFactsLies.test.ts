// Goal: whatever a Tron endpoint answers, the reader answers with the true facts or a typed refusal. Method:
// each kind of rubbish for each call, on the only endpoint (refused) and on one of three (outvoted); then
// random changes of true answers on either. CAUSEWAY_FAULTS=1 runs 10,000 for each question.
import { DomainError, type Hex } from '@causeway/core'
import { encodeDepositNative, encodeEvmWithdrawal, encodeTransfer } from '@causeway/families/rules'
import type { FaultyService, HttpFault } from '@causeway/localnet/standIns/http'
import { concatHex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { mutateAnswers } from '../../packages/chains/test/fixtures/mutateAnswers.ts'
import { accountOf, aSignal, openReader, startTronBed, type TronBed, trx } from './tronSupport/tronBed.ts'

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const mutations = isLongForm ? 10_000 : 300
const longest = isLongForm ? 3_600_000 : 300_000
const id: Hex = `0x${'ab'.repeat(32)}`
const recipient = accountOf('61')
const call = { to: recipient.bytes, data: '0x', value: 1n, allowFailure: false } as const
const withdrawal = encodeEvmWithdrawal({ calls: [call], nonce: 1n, expiration: 4_000_000_000n })

let bed: TronBed
let facades: readonly FaultyService[]
let deposit: string
let direct: string
let payment: string

beforeAll(async () => {
  bed = await startTronBed()
  const { depository, tokens } = bed.evm.deployment
  const native = encodeDepositNative(recipient.bytes, id)
  const trigger = { kind: 'trigger' } as const
  deposit = (await bed.ledger.submit(bed.user, { ...trigger, to: depository, data: native, callValue: 7n }))
    .transactionId
  const transfer = concatHex([encodeTransfer(depository, 9n), id])
  direct = (await bed.ledger.submit(bed.user, { ...trigger, to: tokens.USDC, data: transfer })).transactionId
  payment = (await bed.ledger.submit(bed.user, { kind: 'transfer', to: recipient.bytes, amount: 5n }, id))
    .transactionId
  await bed.evm.mine(4)
  const still = { isStill: true }
  facades = await Promise.all([1, 2, 3].map(() => bed.startFacade(still)))
})
afterAll(async () => {
  await Promise.all((facades ?? []).map((facade) => facade.stop()))
  await bed?.stop()
})
beforeEach(() => facades[0]?.set({ kind: 'none' }))

type Reader = ReturnType<typeof openReader>['reader']
type Ask = (reader: Reader) => Promise<unknown>

const askDirect: Ask = (reader) => reader.readDeposits({ transactionId: direct }, aSignal())
const askWithdrawal: Ask = (reader) =>
  reader.readWithdrawal({ withdrawal, transactionId: deposit }, aSignal())
const questions: readonly (readonly [string, Ask])[] = [
  ['a deposit event', (reader) => reader.readDeposits({ transactionId: deposit }, aSignal())],
  ['a transfer with an id', askDirect],
  [
    'a payment',
    (reader) =>
      reader.readPayment(
        {
          transactionId: payment,
          orderId: id,
          extraData: '0x',
          payments: [{ recipient: recipient.base58, currency: trx }],
        },
        aSignal(),
      ),
  ],
  ['a withdrawal', askWithdrawal],
]

/** A reader that remembers nothing, so that each fault is met anew. */
async function withFault(fault: HttpFault, endpoints: number, ask: Ask, requestTimeoutMs = 10_000) {
  facades[0]?.set(fault)
  const { reader, quorum } = openReader(bed, {
    urls: facades.slice(0, endpoints).map(({ url }) => url),
    limits: { finalEntriesMax: 0 },
    quorumLimits: { requestTimeoutMs, readingTimeoutMs: 20_000, patienceMs: 10 },
  })
  try {
    return await ask(reader).catch((error: unknown) => error)
  } finally {
    await quorum.close()
    facades[0]?.set({ kind: 'none' })
  }
}

/** Facts without the names of the endpoints. */
const facts = (answer: unknown) => ({
  ...Object(answer),
  evidence: { ...Object(Object(answer).evidence), agreeingEndpoints: [] },
})

describe('an endpoint that answers with', () => {
  test.each<[string, HttpFault]>([
    ['a page with status 200', { kind: 'html' }],
    ['half an answer', { kind: 'half' }],
    ['an error with status 200', { kind: 'nodeError' }],
    ['status 500', { kind: 'http', status: 500 }],
    ['status 204 without a body', { kind: 'http', status: 204 }],
    ['status 429', { kind: 'http', status: 429, retryAfter: '1' }],
    ['a body of 65 MiB', { kind: 'oversize', bytes: 65 * 1024 * 1024 }],
    ['a redirect', { kind: 'redirect', location: 'http://127.0.0.1:9/' }],
    ['a cut connection', { kind: 'reset' }],
    ['silence', { kind: 'hang' }],
  ])('%s is an endpoint that did not answer', async (_name, fault) => {
    const timeoutMs = fault.kind === 'hang' ? 1_500 : 10_000
    const alone = await withFault(fault, 1, askDirect, timeoutMs)
    expect(alone).toMatchObject({ kind: 'upstream_unavailable', retryable: true })
    expect(await withFault(fault, 3, askDirect, timeoutMs)).toMatchObject({
      deposits: [{ amount: 9n, depositId: id }],
    })
  })

  test('a delay is read all the same', async () => {
    expect(await withFault({ kind: 'delay', delayMs: 50 }, 1, askDirect)).toMatchObject({
      deposits: [{ amount: 9n }],
    })
  })
})

type Change = (body: unknown) => unknown
const set =
  (member: string, value: unknown): Change =>
  (body) => ({ ...Object(body), [member]: value })
const drop =
  (member: string): Change =>
  (body) =>
    Object.fromEntries(Object.entries(Object(body)).filter(([name]) => name !== member))
const inRaw =
  (change: Change): Change =>
  (body) => {
    const { block_header: header } = Object(body)
    return { ...Object(body), block_header: { ...header, raw_data: change(header.raw_data) } }
  }
const inLog =
  (change: Change): Change =>
  (body) => ({ ...Object(body), log: Object(body).log.map(change) })
const anyHash = 'aa'.repeat(32)
const everywhere: readonly (readonly [string, Change])[] = [
  ['a number', () => 7],
  ['a text', () => 'text'],
  ['true', () => true],
  ['null', () => null],
  ['an object of another kind', () => ({ foo: 1 })],
]

const ofCall: readonly (readonly [string, Ask, readonly (readonly [string, Change])[]])[] = [
  [
    'walletsolidity/gettransactioninfobyid',
    askDirect,
    [
      ...everywhere,
      ['a list', () => []],
      ['of another transaction', set('id', anyHash)],
      ['without an id', drop('id')],
      ['with a prefixed id', (body) => ({ ...Object(body), id: `0x${Object(body).id}` })],
      ['without a block', drop('blockNumber')],
      ['of a block that is a text', set('blockNumber', '5')],
      ['of a block above any integer', set('blockNumber', 1e300)],
      ['of a block and a half', set('blockNumber', 1.5)],
      ['with the time of another block', set('blockTimeStamp', 1_000)],
      ['without a time', drop('blockTimeStamp')],
      ['with a result that is no text', set('result', 1)],
      ['with a receipt that is none', set('receipt', 'SUCCESS')],
      ['with logs that are none', set('log', 'text')],
      ['with another log than the block shows', inLog(set('data', '00'.repeat(32)))],
      ['with logs of odd hex', inLog(set('data', 'abc'))],
      ['with short topics', inLog(set('topics', ['01']))],
      [
        'with five topics',
        inLog(
          set(
            'topics',
            Array.from({ length: 5 }, () => anyHash),
          ),
        ),
      ],
      [
        'with an address that has the prefix',
        inLog((log) => ({ ...Object(log), address: `41${Object(log).address}` })),
      ],
      ['with inner calls that are none', set('internal_transactions', [5])],
      [
        'with an inner call of an unsafe value',
        set('internal_transactions', [{ callValueInfo: [{ callValue: 2 ** 60 }] }]),
      ],
      ['with an inner call to nobody', set('internal_transactions', [{ callValueInfo: [{ callValue: 5 }] }])],
    ],
  ],
  [
    'walletsolidity/getblock',
    askDirect,
    [
      ...everywhere,
      ['nothing', () => ({})],
      ['without an id', drop('blockID')],
      ['with the id of another height', set('blockID', `${'0'.repeat(15)}1${'a'.repeat(48)}`)],
      ['with a short id', set('blockID', 'aa')],
      ['without a header', drop('block_header')],
      ['of another number', inRaw(set('number', 3))],
      ['with a number that is a text', inRaw(set('number', '3'))],
      ['with a negative time', inRaw(set('timestamp', -1))],
      ['with a time above any integer', inRaw(set('timestamp', 1e308))],
    ],
  ],
  [
    'walletsolidity/gettransactioninfobyblocknum',
    askDirect,
    [
      ...everywhere,
      ['nothing', () => ({})],
      ['an empty list', () => []],
      ['the transaction twice', (body) => [...Object(body), ...Object(body)]],
      ['infos of another block', (body) => Object(body).map(set('blockNumber', 1))],
      ['infos without an id', (body) => Object(body).map(drop('id'))],
      ['other logs', (body) => Object(body).map(inLog(set('data', '00'.repeat(32))))],
      [
        'a log more in the transaction',
        (body) =>
          Object(body).map((info: unknown) => set('log', [...Object(info).log, ...Object(info).log])(info)),
      ],
    ],
  ],
  [
    'walletsolidity/gettransactionbyid',
    askDirect,
    [
      ...everywhere,
      ['nothing', () => ({})],
      ['without its bytes', drop('raw_data_hex')],
      ['with bytes of odd length', (body) => set('raw_data_hex', `${Object(body).raw_data_hex}0`)(body)],
      [
        'with one digit changed',
        (body) => set('raw_data_hex', `${Object(body).raw_data_hex.slice(0, -1)}e`)(body),
      ],
      ['with bytes cut off', (body) => set('raw_data_hex', Object(body).raw_data_hex.slice(0, -2))(body)],
      ['with no bytes', set('raw_data_hex', '')],
      ['with a mebibyte', set('raw_data_hex', '00'.repeat(1024 * 1024))],
    ],
  ],
  [
    'walletsolidity/triggerconstantcontract',
    askWithdrawal,
    [
      ...everywhere,
      ['nothing', () => ({})],
      ['a call that reverted', set('result', { result: true, message: 'REVERT opcode executed' })],
      ['a call that failed', set('result', { code: 'OTHER_ERROR', message: 'x' })],
      ['no word', set('constant_result', [])],
      ['an empty word', set('constant_result', [''])],
      ['two words', set('constant_result', [anyHash, anyHash])],
      ['a word of two', set('constant_result', ['2'.padStart(64, '0')])],
      ['no result', drop('constant_result')],
    ],
  ],
]

describe.each(ofCall)('an answer to /%s that is', (path, ask, changes) => {
  test.each(changes)('%s makes its endpoint one that did not answer', async (_name, change) => {
    const rewrite = (seen: string, body: unknown) => (seen === `/${path}` ? change(body) : body)
    const alone = await withFault({ kind: 'lie', rewrite }, 1, ask)
    expect(alone).toMatchObject({ kind: 'upstream_unavailable', code: 'RPC_HTTP_ERROR' })
    const truth = await withFault({ kind: 'none' }, 3, ask)
    expect(facts(await withFault({ kind: 'lie', rewrite }, 3, ask))).toEqual(facts(truth))
  })
})

test('proven by constructed bodies alone: an error told with status 200 never means missing', async () => {
  const refusal = await withFault({ kind: 'nodeError' }, 1, askDirect)
  expect(refusal).toMatchObject({ kind: 'upstream_unavailable' })
})

test('F-126: another answer from the only endpoint cannot change what a transaction asked for', async () => {
  const [, , [, askPayment] = ['', askDirect]] = questions
  const forged = '0a02'
  const rewrite = (path: string, body: unknown) =>
    path.includes('gettransactionbyid') ? set('raw_data_hex', forged)(body) : body
  expect(await withFault({ kind: 'lie', rewrite }, 1, askPayment)).toBeInstanceOf(DomainError)
})

/** The body with one to three things changed somewhere. */
function mutated(body: unknown, seed: number): unknown {
  return JSON.parse(mutateAnswers(JSON.stringify({ result: body }), seed)).result
}

describe.each(questions)('%s', (_name, ask) => {
  test('is facts or a typed refusal whatever the only endpoint says', { timeout: longest }, async () => {
    const truth = facts(await withFault({ kind: 'none' }, 1, ask))
    let refused = 0
    for (let seed = 0; seed < mutations; seed += 1) {
      let told = 0
      // One answer of each question is changed: another one each time.
      const rewrite = (_path: string, body: unknown) => {
        told += 1
        return told === 1 + (seed % 6) ? mutated(body, seed) : body
      }
      const answer = await withFault({ kind: 'lie', rewrite }, 1, ask)
      if (answer instanceof Error) {
        expect(answer, `mutation ${seed}`).toBeInstanceOf(DomainError)
        refused += 1
      } else {
        expect(facts(answer).kind, `mutation ${seed}`).toBe(truth.kind)
      }
    }
    expect(refused).toBeGreaterThan(mutations / 10)
  })

  test('is the same whatever one of three endpoints says', { timeout: longest }, async () => {
    const truth = facts(await withFault({ kind: 'none' }, 3, ask))
    for (let seed = 0; seed < mutations / 3; seed += 1) {
      const rewrite = (_path: string, body: unknown) => mutated(body, seed)
      expect(facts(await withFault({ kind: 'lie', rewrite }, 3, ask)), `mutation ${seed}`).toEqual(truth)
    }
  })
})
