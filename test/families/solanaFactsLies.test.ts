// Goal: whatever a Solana endpoint answers, the reader answers with the true facts or a typed refusal. Method: the contract
// of all families, and each kind of rubbish for each call, on the only endpoint (refused) and on one of three (outvoted).
// CAUSEWAY_FAULTS=1 runs 10,000 random changes for each question.
import { solanaBodies } from '@causeway/localnet/standIns/solana'
import { describe, expect, test } from 'vitest'
import { describeLies, type Malformed } from '../readerSupport/describeLies.ts'
import { behave, type Change, changing, openFacts, set } from '../readerSupport/factsCase.ts'
import { otherId, refusing } from '../readerSupport/jsonRpcLies.ts'
import { startSolanaFacts } from './solanaSupport/facts.ts'

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
const malformed: readonly Malformed[] = [
  {
    of: 'getTransaction',
    question: 'deposit',
    changes: [
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
  },
  {
    of: 'getTransaction',
    question: 'payment',
    changes: [
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
  },
  {
    of: 'getBlock',
    question: 'deposit',
    changes: [
      ...everywhere,
      ['null', () => null],
      ['without a hash', set('blockhash', undefined)],
      ['with another time', set('blockTime', 5)],
    ],
  },
  {
    of: 'getSlot',
    question: 'withdrawal',
    changes: [...everywhere.slice(1), ['null', () => null], ['a slot above any integer', () => 1e300]],
  },
  { of: 'getAccountInfo', question: 'withdrawal', changes: [...everywhere, ['null', () => null]] },
]

describeLies('solana-vm', startSolanaFacts, {
  malformed,
  answeredByNothing: ['withdrawal'],
  refusals: [
    ['another id', otherId],
    ['an error of the node', refusing(solanaBodies.nodeErrors.body.slotSkippedInStorage)],
  ],
})

describe('inner instructions', () => {
  const open = openFacts(startSolanaFacts)
  const read = (change: Change) => {
    const facts = open()
    behave(
      facts,
      changing((method) => method === 'getTransaction', change),
    )
    return facts.read(facts.questions.deposit, { count: 1 })
  }

  test('longer than one attestation reads are refused by name', async () => {
    expect(await read(inInner(set('data', '2'.repeat(1_025))))).toMatchObject({
      code: 'TRANSACTION_TOO_LARGE',
    })
  })

  test('of programs that no rule reads may be of any length', async () => {
    const long: Change = (result) =>
      inInner((instruction) => ({
        ...Object(instruction),
        programIdIndex: systemAt(result),
        data: '2'.repeat(20_000),
      }))(result)
    // The depository's own call is now another program's; the top-level deposit stays.
    expect(await read(long)).toMatchObject({ deposits: [{ onchainIndex: '1' }] })
  })
})

/** Position of the System program in a transaction's accounts. */
function systemAt(result: unknown): number {
  const bytes = Buffer.from(Object(result).transaction[0], 'base64')
  const keysAt = 1 + 64 + 1 + 3 + 1
  const system = Buffer.alloc(32)
  for (let at = 0; keysAt + 32 * at < bytes.length; at += 1) {
    if (bytes.subarray(keysAt + 32 * at, keysAt + 32 * (at + 1)).equals(system)) return at
  }
  throw new Error('the System program is not there')
}
