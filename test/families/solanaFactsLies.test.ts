// Goal: whatever a Solana endpoint answers, the reader answers with the true facts or a typed refusal. Method:
// each kind of rubbish for each call, on the only endpoint (refused) and on one of three (outvoted); then
// random changes of true answers on either. CAUSEWAY_FAULTS=1 runs 10,000 for each question.
import { DomainError, type Hex } from '@causeway/core'
import { encodeSolanaWithdrawal } from '@causeway/families/rules'
import { type FaultMode, type FaultProxy, startFaultProxy } from '@causeway/localnet'
import {
  depositNative,
  forwardInstruction,
  memo,
  solanaBodies,
  tokenAccount,
  transfer,
} from '@causeway/localnet/standIns/solana'
import { PublicKey, SystemProgram } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mutateAnswers } from '../../packages/chains/test/fixtures/mutateAnswers.ts'
import { aSignal, openReader, type SolanaBed, startSolanaBed } from './solanaSupport/solanaBed.ts'

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const mutations = isLongForm ? 10_000 : 300
const longest = isLongForm ? 3_600_000 : 300_000
const id: Hex = `0x${'ab'.repeat(32)}`
/** Far above what an honest answer takes on a loaded machine. */
const timeouts = { requestTimeoutMs: 10_000, readingTimeoutMs: 20_000, patienceMs: 5_000 }

let bed: SolanaBed
let proxies: readonly FaultProxy[]
let deposit: string
let direct: string
let payment: string

beforeAll(async () => {
  bed = await startSolanaBed()
  const sender = bed.user.publicKey
  const inner = depositNative(bed.depository, { sender, amount: 7n, id })
  deposit = await bed.send([forwardInstruction(bed.forwarder, inner), inner])
  const vault = new PublicKey(bed.depository.addresses.vault)
  const [from, to, paidTo] = [sender, vault, bed.recipient].map((owner) => tokenAccount(owner, bed.mint))
  if (from === undefined || to === undefined || paidTo === undefined) throw new Error('no token accounts')
  const sending = { from, authority: sender, mint: bed.mint }
  direct = await bed.send([transfer({ ...sending, to, amount: 9n })])
  const paying = SystemProgram.transfer({ fromPubkey: sender, toPubkey: bed.recipient, lamports: 5 })
  payment = await bed.send([paying, transfer({ ...sending, to: paidTo, amount: 6n }), memo(id)])
  proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl: bed.url })))
})
afterAll(async () => {
  await Promise.all((proxies ?? []).map((proxy) => proxy.stop()))
  await bed?.stop()
})

type Reader = ReturnType<typeof openReader>['reader']
type Ask = (reader: Reader) => Promise<unknown>

const askDeposit: Ask = (reader) => reader.readDeposits({ transactionId: deposit }, aSignal())
const askDirect: Ask = (reader) => reader.readDeposits({ transactionId: direct }, aSignal())
const askPayment: Ask = (reader) => {
  const recipient = bed.recipient.toBase58()
  const payments = ['1'.repeat(32), bed.mint.toBase58()].map((currency) => ({ recipient, currency }))
  return reader.readPayment({ transactionId: payment, orderId: id, extraData: '0x', payments }, aSignal())
}
const askWithdrawal: Ask = (reader) => {
  const withdrawal = encodeSolanaWithdrawal({
    domain: `0x${'01'.repeat(32)}`,
    recipient: bed.recipient.toBase58(),
    token: undefined,
    amount: 1n,
    nonce: 1n,
    expiration: 2n ** 40n,
    vaultAddress: bed.depository.addresses.vault,
  })
  return reader.readWithdrawal({ withdrawal, transactionId: deposit }, aSignal())
}
const questions: readonly (readonly [string, Ask])[] = [
  ['deposit instructions', askDeposit],
  ['a plain transfer', askDirect],
  ['a payment', askPayment],
  ['a withdrawal', askWithdrawal],
]

/** A reader that remembers nothing, so that each fault is met anew. */
async function withMode(mode: FaultMode, endpoints: number, ask: Ask, limits = timeouts) {
  const [first] = proxies
  await first?.set(mode)
  const { reader, quorum } = openReader(bed, {
    urls: proxies.slice(0, endpoints).map(({ url }) => url),
    limits: { finalEntriesMax: 0 },
    quorumLimits: limits,
  })
  try {
    return await ask(reader).catch((error: unknown) => error)
  } finally {
    await quorum.close()
    await first?.set({ kind: 'pass' })
  }
}

const facts = (answer: unknown) => ({
  ...Object(answer),
  evidence: { ...Object(Object(answer).evidence), agreeingEndpoints: [] },
})

const transport: readonly (readonly [string, FaultMode])[] = [
  ['a page with status 200', { kind: 'html200' }],
  ['half an answer', { kind: 'halfJson' }],
  ['status 500', { kind: 'http', status: 500 }],
  ['status 204 without a body', { kind: 'http', status: 204 }],
  ['status 429', { kind: 'http', status: 429 }],
  ['bytes that are not HTTP', { kind: 'garbage' }],
  ['another id', { kind: 'wrongId' }],
  ['a body of 65 MiB', { kind: 'oversize', bytes: 65 * 1024 * 1024 }],
  ['a redirect', { kind: 'redirect', location: 'http://127.0.0.1:9/' }],
  ['a cut connection', { kind: 'reset' }],
  ['silence', { kind: 'hang' }],
  ['an error of the node', { kind: 'nodeError', ...solanaBodies.nodeErrors.body.slotSkippedInStorage }],
]

describe('an endpoint that answers with', () => {
  test.each(transport)('%s is an endpoint that did not answer', async (_name, mode) => {
    const hasty = { requestTimeoutMs: 1_500, readingTimeoutMs: 4_000, patienceMs: 10 }
    expect(await withMode(mode, 1, askDeposit, hasty)).toMatchObject({ kind: 'upstream_unavailable' })
    expect(await withMode(mode, 3, askDeposit, hasty)).toMatchObject({
      deposits: [{ amount: 7n }, { amount: 7n }],
    })
  })
})

type Change = (result: unknown) => unknown
const set =
  (member: string, value: unknown): Change =>
  (result) => ({ ...Object(result), [member]: value })
const inMeta =
  (member: string, change: Change): Change =>
  (result) => {
    const { meta } = Object(result)
    return { ...Object(result), meta: { ...meta, [member]: change(Object(meta)[member]) } }
  }
const inFirst =
  (change: Change): Change =>
  (list) =>
    Array.from(Object(list), (one, at) => (at === 0 ? change(one) : one))
const inInner = (change: Change) =>
  inMeta(
    'innerInstructions',
    inFirst((group) => ({ ...Object(group), instructions: inFirst(change)(Object(group).instructions) })),
  )
const inBalance = (member: string, value: unknown) => inMeta('postTokenBalances', inFirst(set(member, value)))

const everywhere: readonly (readonly [string, Change])[] = [
  ['a number', () => 7],
  ['a text', () => 'text'],
  ['an empty list', () => []],
  ['an empty object', () => ({})],
  ['true', () => true],
]
const ofMethod: readonly (readonly [string, Ask, readonly (readonly [string, Change])[]])[] = [
  [
    'getTransaction',
    askDeposit,
    [
      ...everywhere,
      ['without a run', set('meta', null)],
      ['with a slot of text', set('slot', '12')],
      ['with a negative slot', set('slot', -1)],
      ['with half a slot', set('slot', 1.5)],
      ['with a time of text', set('blockTime', '1700000000')],
      ['in another encoding', set('transaction', ['abc', 'base58'])],
      ['in base64 with a foreign character', set('transaction', ['AA*=', 'base64'])],
      ['as JSON', set('transaction', { signatures: [], message: {} })],
      ['without an outcome', inMeta('err', () => undefined)],
      ['with an outcome of true', inMeta('err', () => true)],
      [
        'without inner instructions recorded',
        inMeta('innerInstructions', () => solanaBodies.withoutInnerInstructions.body),
      ],
      ['with inner instructions of no instruction', inMeta('innerInstructions', inFirst(set('index', 9)))],
      [
        'with inner instructions twice',
        inMeta('innerInstructions', (list) => [...Object(list), ...Object(list)]),
      ],
      [
        'with inner instructions in another order',
        inMeta('innerInstructions', (list) => [...Object(list), { index: 0, instructions: [] }]),
      ],
      ['with an inner program that is not there', inInner(set('programIdIndex', 200))],
      ['with an inner account that is not there', inInner(set('accounts', [200]))],
      ['with inner data that is no base58', inInner(set('data', '0OIl'))],
      ['with inner data of another type', inInner(set('data', ['aa', 'base64']))],
      ['with a balance missing', inMeta('preBalances', (list) => Array.from(Object(list)).slice(1))],
      ['with a balance too many', inMeta('postBalances', (list) => [...Object(list), 1])],
      [
        'with a negative balance',
        inMeta(
          'postBalances',
          inFirst(() => -1),
        ),
      ],
      [
        'with a balance of text',
        inMeta(
          'postBalances',
          inFirst(() => '1'),
        ),
      ],
      ['without token balances', inMeta('postTokenBalances', () => null)],
      [
        'with addresses of no lookup table',
        inMeta('loadedAddresses', () => ({ writable: ['1'.repeat(32)], readonly: [] })),
      ],
      ['with lookups of text', inMeta('loadedAddresses', () => 'none')],
    ],
  ],
  [
    'getTransaction',
    askPayment,
    [
      ['with a token amount of a number', inBalance('uiTokenAmount', { amount: 6 })],
      ['with a token amount of a decimal', inBalance('uiTokenAmount', { amount: '6.0' })],
      ['with a negative token amount', inBalance('uiTokenAmount', { amount: '-6' })],
      ['with a token amount of 30 digits', inBalance('uiTokenAmount', { amount: '6'.repeat(30) })],
      ['with a token account that is not there', inBalance('accountIndex', 200)],
      ['with a mint that is no key', inBalance('mint', 'mint')],
      ['with an owner that is no key', inBalance('owner', 7)],
      [
        'with one token account twice',
        inMeta('postTokenBalances', (list) => [...Object(list), ...Object(list)]),
      ],
    ],
  ],
  [
    'getBlock',
    askDeposit,
    [
      ...everywhere,
      ['null', () => null],
      ['without a hash', set('blockhash', undefined)],
      ['with another time', set('blockTime', 5)],
    ],
  ],
  [
    'getSlot',
    askWithdrawal,
    [...everywhere.slice(1), ['null', () => null], ['a slot above any integer', () => 1e300]],
  ],
  ['getAccountInfo', askWithdrawal, [...everywhere, ['null', () => null]]],
]

describe.each(ofMethod)('an answer to %s that is', (method, ask, changes) => {
  test.each(changes)('%s makes its endpoint one that did not answer', async (_name, change) => {
    const mode: FaultMode = {
      kind: 'lie',
      rewrite: (seen, result) => (seen.method === method ? change(result) : result),
    }
    expect(await withMode(mode, 1, ask)).toMatchObject({
      kind: 'upstream_unavailable',
      code: 'RPC_HTTP_ERROR',
    })
    const truth = await withMode({ kind: 'pass' }, 3, ask)
    expect(facts(await withMode(mode, 3, ask))).toEqual(facts(truth))
  })
})

describe('inner instructions', () => {
  test('longer than one attestation reads are refused by name', async () => {
    const mode: FaultMode = {
      kind: 'lie',
      rewrite: ({ method }, result) =>
        method === 'getTransaction' ? inInner(set('data', '2'.repeat(1_025)))(result) : result,
    }
    expect(await withMode(mode, 1, askDeposit)).toMatchObject({ code: 'TRANSACTION_TOO_LARGE' })
  })

  test('of programs that no rule reads may be of any length', async () => {
    const long: Change = (instruction) => ({
      ...Object(instruction),
      programIdIndex: systemAt(),
      data: '2'.repeat(20_000),
    })
    const mode: FaultMode = {
      kind: 'lie',
      rewrite: ({ method }, result) => (method === 'getTransaction' ? inInner(long)(result) : result),
    }
    // The depository's own call is now another program's; the top-level deposit stays.
    expect(await withMode(mode, 1, askDeposit)).toMatchObject({ deposits: [{ onchainIndex: '1' }] })
  })
})

/** Position of the System program in the deposit's accounts. */
function systemAt(): number {
  const bytes = Buffer.from(bed.node.transaction(deposit)?.bytes ?? [])
  const keysAt = 1 + 64 + 1 + 3 + 1
  const system = Buffer.alloc(32)
  for (let at = 0; keysAt + 32 * at < bytes.length; at += 1) {
    if (bytes.subarray(keysAt + 32 * at, keysAt + 32 * (at + 1)).equals(system)) return at
  }
  throw new Error('the System program is not there')
}

/** One true answer with one to three things changed. */
const mutation = (seed: number): FaultMode => ({
  kind: 'lie',
  rewrite(_call, result) {
    const mutated: unknown = JSON.parse(mutateAnswers(JSON.stringify({ result }), seed))
    return Object(mutated).result
  },
})

describe.each(questions)('%s', (_name, ask) => {
  test('is the same whatever one of three endpoints says', { timeout: longest }, async () => {
    const truth = facts(await withMode({ kind: 'pass' }, 3, ask))
    for (let seed = 0; seed < mutations; seed += 1) {
      expect(facts(await withMode(mutation(seed), 3, ask)), `mutation ${seed}`).toEqual(truth)
    }
  })

  test('is read or refused by name whatever the only endpoint says', { timeout: longest }, async () => {
    let refused = 0
    for (let seed = 0; seed < mutations; seed += 1) {
      const answer = await withMode(mutation(1_000_000 + seed), 1, ask)
      if (!(answer instanceof Error)) continue
      expect(answer, `mutation ${seed}`).toBeInstanceOf(DomainError)
      refused += 1
    }
    expect(refused).toBeGreaterThan(0)
  })
})
