// Goal: whatever a Tron endpoint answers, the reader answers with the true facts or a typed refusal. Method: the contract of
// all families, and each kind of rubbish for each call, on the only endpoint (refused) and on one of three (outvoted).
// CAUSEWAY_FAULTS=1 runs 10,000 random changes for each question.
import { DomainError } from '@causeway/core'
import { httpBodies } from '@causeway/localnet/standIns/http'
import { expect, test } from 'vitest'
import { describeLies, type Malformed } from '../readerSupport/describeLies.ts'
import { behave, type Change, changing, everyAnswer, openFacts, set } from '../readerSupport/factsCase.ts'
import { startTronFacts } from './tronSupport/facts.ts'

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

const malformed: readonly Malformed[] = [
  {
    of: '/walletsolidity/gettransactioninfobyid',
    question: 'direct',
    changes: [
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
    ],
  },
  {
    of: '/walletsolidity/getblock',
    question: 'direct',
    changes: [
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
  },
  {
    of: '/walletsolidity/gettransactioninfobyblocknum',
    question: 'direct',
    changes: [
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
  },
  {
    of: '/walletsolidity/gettransactionbyid',
    question: 'direct',
    changes: [
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
  },
  {
    of: '/walletsolidity/triggerconstantcontract',
    question: 'withdrawal',
    changes: [
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
  },
]

describeLies('tron-vm', startTronFacts, {
  malformed,
  refusals: [
    // Proven by constructed bodies alone: it never means missing.
    [
      'an error with status 200',
      everyAnswer({ status: 200, text: JSON.stringify(httpBodies.nodeError.body) }),
    ],
  ],
})

const open = openFacts(startTronFacts)

test('F-126: another answer from the only endpoint cannot change what a transaction asked for', async () => {
  const facts = open()
  behave(
    facts,
    changing((path) => path.includes('gettransactionbyid'), set('raw_data_hex', '0a02')),
  )
  expect(await facts.read(facts.questions['payment'], { count: 1 })).toBeInstanceOf(DomainError)
})
