// Goal: whatever an endpoint answers, the reader answers with facts or a typed refusal, in time. Method: the contract of all
// families, and each kind of rubbish in each round and for each method, on the only endpoint of a chain (refused) and on one
// of three (facts, unchanged). CAUSEWAY_FAULTS=1 runs 10,000 random changes for each question.
// @source rule P-107
import { expect, test } from 'vitest'
import { describeLies, type Malformed } from '../readerSupport/describeLies.ts'
import { behave, type Change, everyAnswer, openFacts, set } from '../readerSupport/factsCase.ts'
import { otherId, refusing } from '../readerSupport/jsonRpcLies.ts'
import { startEthereumFacts } from './ethereumSupport/facts.ts'

const drop =
  (...members: readonly string[]): Change =>
  (result) => {
    const copy: Record<string, unknown> = { ...Object(result) }
    for (const member of members) delete copy[member]
    return copy
  }
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
const malformed: readonly Malformed[] = [
  {
    of: 'eth_getTransactionReceipt',
    question: 'direct',
    changes: [
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
  },
  {
    of: 'eth_getBlockByNumber',
    question: 'direct',
    changes: [
      ...everywhere,
      ['null', () => null],
      ['without hash', drop('hash')],
      ['with a time above any integer', set('timestamp', 1e308)],
      ['with the hash of another block', set('hash', anyHash)],
      ['with a short hash', set('hash', '0xaa')],
    ],
  },
  {
    of: 'eth_getTransactionByHash',
    question: 'direct',
    changes: [
      ...everywhere,
      ['null', () => null],
      ['without input', drop('input')],
      ['of another block', set('blockHash', anyHash)],
      ['of another transaction', set('hash', anyHash)],
      ['with odd input', set('input', '0xabc')],
      ['with a value as a number', set('value', 5)],
    ],
  },
  {
    of: 'eth_call',
    question: 'withdrawal',
    changes: [
      ...everywhere,
      ['null', () => null],
      ['nothing', () => '0x'],
      ['a word of two', () => `0x${'2'.padStart(64, '0')}`],
      ['two words', () => `0x${'0'.repeat(128)}`],
    ],
  },
  { of: 'eth_getCode', question: 'payment', changes: [...everywhere, ['null', () => null]] },
]

describeLies('ethereum-vm', startEthereumFacts, {
  malformed,
  refusals: [
    ['another id', otherId],
    ['an error of the node', refusing({ code: -32_000, message: 'header not found' })],
  ],
})

const open = openFacts(startEthereumFacts)
const inBatch = (change: (answers: readonly unknown[]) => readonly unknown[]) =>
  everyAnswer({
    change(text) {
      const answer: unknown = JSON.parse(text)
      return Array.isArray(answer) ? JSON.stringify(change(answer)) : text
    },
  })

// Questions that fail together are asked in halves, down to one, which no batch can spoil.
test.each([
  ['in another order', inBatch((answers) => answers.toReversed())],
  ['with a member twice', inBatch((answers) => [...answers.slice(0, -1), answers[0]])],
])('a batch %s is read all the same', async (_name, fault) => {
  const facts = open()
  behave(facts, fault)
  const { direct } = facts.questions
  expect(await facts.read(direct, { count: 1 })).toMatchObject({ deposits: [{ amount: 9n }] })
})
