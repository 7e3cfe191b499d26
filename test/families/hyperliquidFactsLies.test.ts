// Goal: whatever an endpoint of the exchange answers, the reader answers with the true facts or a typed refusal.
// Method: each kind of rubbish for each question, on the only endpoint (refused) and on one of three (outvoted);
// then random changes of true answers on either. CAUSEWAY_FAULTS=1 runs 10,000 for each question.

import { DomainError } from '@causeway/core'
import { encodeHyperliquidWithdrawal } from '@causeway/families/rules'
import type { HttpFault } from '@causeway/localnet/standIns/http'
import { hyperliquidBodies } from '@causeway/localnet/standIns/hyperliquid'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { mutateAnswers } from '../../packages/chains/test/fixtures/mutateAnswers.ts'
import {
  aSignal,
  depository,
  type HyperliquidBed,
  hype,
  openReader,
  orderId,
  recipient,
  sendAsset,
  sender,
  startHyperliquidBed,
  timeMs,
} from './hyperliquidSupport/hyperliquidBed.ts'

const { refusals } = hyperliquidBodies

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const mutations = isLongForm ? 10_000 : 300
const longest = isLongForm ? 3_600_000 : 300_000
const withdrawal = encodeHyperliquidWithdrawal(sendAsset({ destination: recipient, nonce: 9n }))

let bed: HyperliquidBed
let deposit: string
let payment: string
beforeAll(async () => {
  bed = await startHyperliquidBed()
})
afterAll(() => bed?.stop())
beforeEach(() => {
  bed.reset()
  bed.map({})
  deposit = bed.list(sendAsset({ token: `HYPE:${hype}` }))
  payment = bed.list(sendAsset({ destination: recipient }))
  bed.list(sendAsset({ destination: recipient, nonce: 9n }), { user: depository })
})

type Reader = ReturnType<typeof openReader>['reader']
type Ask = (reader: Reader) => Promise<unknown>

const askDeposit: Ask = (reader) => reader.readDeposits({ transactionId: deposit }, aSignal())
const askWithdrawal: Ask = (reader) => reader.readWithdrawal({ withdrawal }, aSignal())
const paid = {
  orderId,
  extraData: '0x',
  payments: [{ recipient, currency: sendAsset().token.slice(5) }],
} as const
const hints = { 'hyperliquid-vm': { user: sender, timestamp: timeMs } }
const askHinted: Ask = (reader) => reader.readPayment({ ...paid, transactionId: payment, hints }, aSignal())
const questions: readonly (readonly [string, Ask])[] = [
  ['a deposit', askDeposit],
  ['a withdrawal', askWithdrawal],
  ['a payment', (reader) => reader.readPayment({ ...paid, transactionId: payment }, aSignal())],
  ['a hinted payment', askHinted],
]

/** Facts without the names of the endpoints that gave them, or the refusal. */
async function withFault(fault: HttpFault, count: 1 | 3, ask: Ask, timeoutMs = 20_000): Promise<unknown> {
  bed.exchanges[0].set(fault)
  const { reader, quorum } = openReader(bed, { count, quorumLimits: { requestTimeoutMs: timeoutMs } })
  try {
    const { evidence, ...facts } = Object(await ask(reader))
    return { ...facts, blockNumber: evidence.blockNumber }
  } catch (error) {
    return error
  } finally {
    await quorum.close()
  }
}

describe('an endpoint that answers with', () => {
  test.each<[string, HttpFault]>([
    ['a page with status 200', { kind: 'html' }],
    ['half an answer', { kind: 'half' }],
    ['an error with status 200', { kind: 'lie', rewrite: () => refusals.body.unknownQuestion }],
    ['status 500', { kind: 'http', status: 500 }],
    ['status 204 without a body', { kind: 'http', status: 204 }],
    ['status 429', { kind: 'http', status: 429, retryAfter: '1' }],
    ['a body of 65 MiB', { kind: 'oversize', bytes: 65 * 1024 * 1024 }],
    ['a redirect', { kind: 'redirect', location: 'http://127.0.0.1:9/' }],
    ['a cut connection', { kind: 'reset' }],
    ['silence', { kind: 'hang' }],
  ])('%s is one that did not answer', async (_name, fault) => {
    const timeoutMs = fault.kind === 'hang' ? 1_500 : 10_000
    const alone = await withFault(fault, 1, askDeposit, timeoutMs)
    expect(alone).toMatchObject({ kind: 'upstream_unavailable', retryable: true })
    expect(await withFault(fault, 3, askDeposit, timeoutMs)).toMatchObject({ deposits: [{ amount: 1_250n }] })
  })

  test('a delay is read all the same', async () => {
    const fault: HttpFault = { kind: 'delay', delayMs: 50 }
    expect(await withFault(fault, 1, askDeposit)).toMatchObject({ deposits: [{ amount: 1_250n }] })
  })
})

type Change = (body: unknown) => unknown
const set =
  (member: string, value: unknown): Change =>
  (body) => ({ ...Object(body), [member]: value })
const inMember =
  (member: string, change: Change): Change =>
  (body) => ({ ...Object(body), [member]: change(Object(body)[member]) })
const inEach =
  (change: Change): Change =>
  (body) =>
    Object(body).map(change)
const inTx = (change: Change) => inMember('tx', change)
const inAction = (change: Change) => inTx(inMember('action', change))
const everywhere: readonly (readonly [string, Change])[] = [
  ['a number', () => 7],
  ['a text', () => 'text'],
  ['true', () => true],
  ['of another kind', () => ({ type: 'other' })],
]

const ofTransactions: readonly (readonly [string, Change])[] = [
  ...everywhere,
  ['a list', () => []],
  ['without a transaction', set('tx', undefined)],
  ['of another transaction', inTx(set('hash', `0x${'aa'.repeat(32)}`))],
  ['with a hash without 0x', inTx(set('hash', 'aa'.repeat(32)))],
  ['without a sender', inTx(set('user', undefined))],
  ['with a sender of 19 bytes', inTx(set('user', `0x${'aa'.repeat(19)}`))],
  ['with a time that is a text', inTx(set('time', '5'))],
  ['with a time and a half', inTx(set('time', 1.5))],
  ['with a negative time', inTx(set('time', -1))],
  ['with a block above any integer', inTx(set('block', 1e300))],
  ['without a block', inTx(set('block', undefined))],
  ['that does not say whether it failed', inTx(set('error', undefined))],
  ['with an error that is true', inTx(set('error', true))],
  ['without an action', inTx(set('action', null))],
  ['with an action without a type', inAction(set('type', undefined))],
  ['without an amount', inAction(set('amount', undefined))],
  ['with an amount that is a number', inAction(set('amount', 12.5))],
  ['with a negative amount', inAction(set('amount', '-12.5'))],
  ['with an amount with an exponent', inAction(set('amount', '1e8'))],
  ['with an amount that is not finite', inAction(set('amount', 'Infinity'))],
  ['without a destination', inAction(set('destination', undefined))],
  ['with a destination that is no account', inAction(set('destination', '0x12'))],
  ['without a dex', inAction(set('destinationDex', undefined))],
  ['with a dex of 5,000 letters', inAction(set('destinationDex', 'x'.repeat(5_000)))],
  ['with a nonce that is a text', inAction(set('nonce', '9'))],
  ['with a nonce above any exact number', inAction(set('nonce', 2 ** 60))],
]
const ofTokens: readonly (readonly [string, Change])[] = [
  ...everywhere,
  ['null', () => null],
  ['without tokens', set('tokens', undefined)],
  ['with tokens that are none', set('tokens', [5])],
  ['with a token twice', inMember('tokens', (tokens) => [...Object(tokens), ...Object(tokens)])],
  ['with short ids', inMember('tokens', inEach(set('tokenId', '0x12')))],
  ['without decimals', inMember('tokens', inEach(set('szDecimals', undefined)))],
  ['with decimals that are a text', inMember('tokens', inEach(set('szDecimals', '2')))],
  ['with a thousand decimals', inMember('tokens', inEach(set('szDecimals', 1_000)))],
  ['with half a decimal', inMember('tokens', inEach(set('szDecimals', 0.5)))],
]
const ofRecent: readonly (readonly [string, Change])[] = [
  ...everywhere,
  ['null', () => null],
  ['without transactions', set('txs', undefined)],
  ['with transactions that are none', set('txs', [5])],
  ['with one without a sender', inMember('txs', inEach(set('user', undefined)))],
  ['with one that does not say whether it failed', inMember('txs', inEach(set('error', undefined)))],
  ['with one without a hash', inMember('txs', inEach(set('hash', null)))],
]
const ofLedger: readonly (readonly [string, Change])[] = [
  ...everywhere,
  ['null', () => null],
  ['a transfer twice', (body) => [...Object(body), ...Object(body)]],
  ['without a change', inEach(set('delta', null))],
  ['without a hash', inEach(set('hash', undefined))],
  ['with an unknown symbol', inEach(inMember('delta', set('token', 'NOPE')))],
  ['without a sender', inEach(inMember('delta', set('user', undefined)))],
  ['without a nonce', inEach(inMember('delta', set('nonce', undefined)))],
]

describe.each<[string, Ask, readonly (readonly [string, Change])[], (body: unknown) => boolean]>([
  ['txDetails', askDeposit, ofTransactions, (body) => Object(body).type === 'txDetails'],
  ['spotMeta', askDeposit, ofTokens, (body) => 'tokens' in Object(body)],
  ['userDetails', askWithdrawal, ofRecent, (body) => Object(body).type === 'userDetails'],
  ['userNonFundingLedgerUpdates', askHinted, ofLedger, (body) => Array.isArray(body)],
])('an answer to %s that is', (_type, ask, changes, isIt) => {
  test.each(changes)('%s makes its endpoint one that did not answer', async (_name, change) => {
    const rewrite = (_path: string, body: unknown) => (isIt(body) ? change(body) : body)
    const alone = await withFault({ kind: 'lie', rewrite }, 1, ask)
    expect(alone).toMatchObject({ kind: 'upstream_unavailable', code: 'RPC_HTTP_ERROR' })
    const truth = await withFault({ kind: 'none' }, 3, ask)
    expect(await withFault({ kind: 'lie', rewrite }, 3, ask)).toEqual(truth)
  })
})

/** The body with one to three things changed somewhere. */
function mutated(body: unknown, seed: number): unknown {
  return JSON.parse(mutateAnswers(JSON.stringify({ result: body }), seed)).result
}

describe.each(questions)('%s', (_name, ask) => {
  test('is facts or a typed refusal whatever the only endpoint says', { timeout: longest }, async () => {
    const truth = Object(await withFault({ kind: 'none' }, 1, ask))
    let refused = 0
    for (let seed = 0; seed < mutations; seed += 1) {
      const rewrite = (_path: string, body: unknown) => mutated(body, seed)
      const answer = await withFault({ kind: 'lie', rewrite }, 1, ask)
      if (answer instanceof Error) {
        expect(answer, `mutation ${seed}`).toBeInstanceOf(DomainError)
        refused += 1
      } else {
        expect(Object(answer).kind, `mutation ${seed}`).toBe(truth.kind)
      }
    }
    expect(refused).toBeGreaterThan(mutations / 10)
  })

  test('is the same whatever one of three endpoints says', { timeout: longest }, async () => {
    const truth = await withFault({ kind: 'none' }, 3, ask)
    for (let seed = 0; seed < mutations / 3; seed += 1) {
      const rewrite = (_path: string, body: unknown) => mutated(body, seed)
      expect(await withFault({ kind: 'lie', rewrite }, 3, ask), `mutation ${seed}`).toEqual(truth)
    }
  })
})
