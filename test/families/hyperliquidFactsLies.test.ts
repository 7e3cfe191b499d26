// Goal: whatever an endpoint of the exchange answers, the reader answers with the true facts or a typed refusal.
// Method: the contract of all families, and each kind of rubbish for each question, on the only endpoint (refused) and on
// one of three (outvoted). CAUSEWAY_FAULTS=1 runs 10,000 random changes for each question.
import { hyperliquidBodies } from '@causeway/localnet/standIns/hyperliquid'
import { describeLies } from '../readerSupport/describeLies.ts'
import { type Change, everyAnswer, set } from '../readerSupport/factsCase.ts'
import { startHyperliquidFacts } from './hyperliquidSupport/facts.ts'

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

const { unknownQuestion } = hyperliquidBodies.refusals.body
describeLies('hyperliquid-vm', startHyperliquidFacts, {
  refusals: [
    ['an error with status 200', everyAnswer({ status: 200, text: JSON.stringify(unknownQuestion) })],
  ],
  malformed: [
    {
      of: 'txDetails',
      question: 'deposit',
      isIt: (_path, body) => Object(body).type === 'txDetails',
      changes: ofTransactions,
    },
    {
      of: 'spotMeta',
      question: 'deposit',
      isIt: (_path, body) => 'tokens' in Object(body),
      changes: ofTokens,
    },
    {
      of: 'userDetails',
      question: 'withdrawal',
      isIt: (_path, body) => Object(body).type === 'userDetails',
      changes: ofRecent,
    },
    {
      of: 'userNonFundingLedgerUpdates',
      question: 'hinted payment',
      isIt: (_path, body) => Array.isArray(body),
      changes: ofLedger,
    },
  ],
})
