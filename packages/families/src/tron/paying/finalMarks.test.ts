// Goal: a payment has the state that enough voices report, at no later moment than enough of them have reached.
// Adversary: a node that runs ahead, to have an order closed or abandoned too early.

import type { RpcAnswer } from '@causeway/rpc'
import { expect, test } from 'vitest'
import { decideLanding, decideMark, decideRun } from './finalMarks.ts'

const voters = ['a', 'b', 'c'].map((voice) => ({ alias: voice, voice }))
const electorate = { voters, threshold: 2 }

const blockAt = (seconds: number): RpcAnswer => ({
  ok: true,
  result: {
    blockID: `${'0'.repeat(15)}7${'ee'.repeat(24)}`,
    block_header: { raw_data: { number: 7, timestamp: seconds * 1_000 } },
  },
})
const ran = (word: number, energy = 1): RpcAnswer => ({
  ok: true,
  result: {
    result: { result: true },
    energy_used: energy,
    constant_result: [word.toString(16).padStart(64, '0')],
  },
})
const votes = (...said: readonly (readonly RpcAnswer[])[]) =>
  said.map((value, index) => ({ alias: `${index}`, voice: `${index}`, value }))

test.each([
  ['one of them runs ahead', [100, 101, 9_999], 101],
  ['one of them stands still', [1, 100, 101], 100],
])('a mark is as late as enough voices have seen it, where %s', (_what, seconds, expected) => {
  const said = votes(...seconds.map((one) => [blockAt(one), ran(1)]))
  expect(decideMark(said, electorate)).toEqual({ state: 'paid', timestampSeconds: expected })
})

test('a mark that voices contradict each other about is none, and a state that is unknown is no voice', () => {
  expect(decideMark(votes([blockAt(1), ran(0)], [blockAt(1), ran(1)]), electorate)).toBeUndefined()
  expect(decideMark(votes([blockAt(1), ran(0)], [blockAt(1), ran(7)]), electorate)).toBeUndefined()
})

test('a call takes what enough voices have reached, and fails where enough of them say so', () => {
  const failed: RpcAnswer = { ok: true, result: { result: { result: true, message: 'REVERT' } } }
  expect(decideRun(votes([ran(0, 5)], [ran(0, 1)], [ran(0, 4)]), electorate)).toBe(4n)
  expect(decideRun(votes([failed], [ran(0, 9)], [failed]), electorate)).toBe('fails')
  expect(decideRun(votes([failed], [ran(0, 9)]), electorate)).toBeUndefined()
})

const hash = 'ab'.repeat(32)
const info = (contractResult: string): RpcAnswer => ({
  ok: true,
  result: { id: hash, blockNumber: 7, blockTimeStamp: 1_000, receipt: { result: contractResult } },
})
const nothing: RpcAnswer = { ok: true, result: {} }

test.each([
  ['SUCCESS', 'solid', info('SUCCESS'), true, true],
  ['REVERT', 'solid', info('REVERT'), false, true],
  ['OUT_OF_ENERGY', 'solid', info('OUT_OF_ENERGY'), false, true],
  ['REVERT', 'new', nothing, false, false],
  ['SUCCESS', 'new', nothing, true, false],
])(
  'L-71: a transaction that ended with %s in a %s block is told so',
  (result, _where, solid, succeeded, isFinal) => {
    const answers = [blockAt(1), solid, info(result)]
    expect(decideLanding(votes(answers, answers), [hash], electorate)).toEqual({
      kind: 'landed',
      hash,
      succeeded,
      isFinal,
    })
  },
)
