// Goal: what was signed for a chain whose transactions expire is sent until it lands or can land no more, is signed
// anew only while there is time and the chain has its id open, and is never taken for lost before it is. Method: every
// combination that a record and a chain can be in.
import { expect, test } from 'vitest'
import { type ExpiringFacts, nextExpiringMove } from './nextExpiringMove.ts'
import type { ExpiringRecord } from './signedRecord.ts'

const one = { raw: '0x01', hash: 'first', lastValidHeight: 100n, fee: 7n, signedAtMs: 0 } as const
const record: ExpiringRecord = {
  id: 'item',
  attempt: 0,
  kind: 'fill',
  chainId: 9,
  wallet: 'w',
  nonce: 0,
  deadline: 1_000,
  terms: { id: `0x${'0d'.repeat(32)}`, mark: 'paid', payments: [] },
  units: 1n,
  rent: 1n,
  transactions: [one],
  toldHash: 'first',
  payments: [],
  deposits: [],
  release: 'given',
  outcome: 'open',
  failureReported: false,
}
const alive: ExpiringFacts = {
  landing: { kind: 'none', finalHeight: 100n },
  state: undefined,
  chainTime: 900,
  landsWithinSeconds: 90,
}
const expired: ExpiringFacts = { ...alive, landing: { kind: 'none', finalHeight: 101n }, state: 'open' }
const landed = (change: object = {}): ExpiringFacts => ({
  ...alive,
  landing: { kind: 'landed', hash: 'first', succeeded: true, isFinal: true, ...change },
})
const move = (change: Partial<ExpiringRecord>, facts: ExpiringFacts) =>
  nextExpiringMove({ ...record, ...change }, facts)
const lost = { kind: 'settle', outcome: 'lost', cost: 0n }

test.each<[string, Partial<ExpiringRecord>, ExpiringFacts, object]>([
  ['is sent while its block is known', {}, alive, { kind: 'broadcast', what: 'transaction' }],
  ['waits for what the service says', { release: 'asked' }, alive, { kind: 'wait' }],
  ['is not sent when the service refused', { release: 'refused' }, alive, { kind: 'wait' }],
  ['is not sent too late to land in time', {}, { ...alive, chainTime: 911 }, { kind: 'wait' }],
  [
    'has no end of time without a deadline',
    { deadline: undefined },
    { ...alive, chainTime: 9_999 },
    { kind: 'broadcast', what: 'transaction' },
  ],
  ['waits while endpoints differ', {}, { ...expired, landing: { kind: 'unknown' } }, { kind: 'wait' }],
  ['waits until what landed is final', {}, landed({ isFinal: false }), { kind: 'wait' }],
  ['is done at the end', {}, landed(), { kind: 'settle', outcome: 'done', cost: undefined }],
  [
    'costs its fee where it failed',
    {},
    landed({ succeeded: false }),
    { kind: 'settle', outcome: 'reverted', cost: 7n },
  ],
  ['is told which one landed first', { toldHash: 'other' }, landed(), { kind: 'wait' }],
  ['is told before it is at its end', { tellingHash: 'first' }, landed(), { kind: 'wait' }],
  [
    'that nobody is told of is not',
    { kind: 'close', toldHash: undefined },
    landed(),
    { kind: 'settle', outcome: 'done', cost: undefined },
  ],
  ['is signed anew', {}, expired, { kind: 'sign', what: 'transaction' }],
  ['is not while an answer is missing', { tellingHash: 'first' }, expired, { kind: 'wait' }],
  ['is not before the service has answered', { release: 'asked' }, expired, { kind: 'wait' }],
  ['is not where its state is not known', {}, { ...expired, state: undefined }, { kind: 'wait' }],
  ['is lost where another one has paid', {}, { ...expired, state: 'paid' }, lost],
  ['is lost where it was closed', {}, { ...expired, state: 'closed' }, lost],
  ['is lost once there is no time', {}, { ...expired, chainTime: 911 }, lost],
  ['is lost though nobody was asked in time', { release: 'asked' }, { ...expired, chainTime: 911 }, lost],
  [
    'is cancelled where the service refused',
    { release: 'refused' },
    expired,
    { kind: 'settle', outcome: 'cancelled', cost: 0n },
  ],
  [
    'is not at its end while one of several lives',
    { transactions: [one, { ...one, hash: 'second', lastValidHeight: 200n }], toldHash: 'second' },
    expired,
    { kind: 'broadcast', what: 'transaction' },
  ],
  ['stays at its end', { outcome: 'done' }, expired, { kind: 'wait' }],
])('a payment %s', (_what, change, facts, expected) => {
  expect(move(change, facts)).toEqual(expected)
})
