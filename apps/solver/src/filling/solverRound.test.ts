// Goal: what the service is told of items that wait. Method: rounds by a clock of the test, over an item that no chain needs.
import { expect, test } from 'vitest'
import type { KeptRecord } from '../wallet/signedRecord.ts'
import type { Filling } from './filling.ts'
import { createRound } from './solverRound.ts'

/** Looks at one item every five seconds; `reasons` names why it waits at each look. */
async function toldOver(reasons: readonly ('it is under way' | 'it is of another kind')[]) {
  const told: [seconds: number, reason: string][] = []
  let look = 0
  const filling = {
    chains: [],
    isDryRun: false,
    records: {
      untold: async () => [],
      // CAST: of a record, only that it has not failed is read.
      latest: async () =>
        reasons[look] === 'it is under way' ? ({ outcome: 'open' } as KeptRecord) : undefined,
    },
  }
  const round = createRound({
    // CAST: such an item reads nothing else.
    filling: filling as unknown as Filling,
    work: {
      open: async () => [{ id: '1', kind: 'other', payload: {} }],
      report: async () => 'accepted',
      failed: async () => {},
      waits: async (_id, reason) => void told.push([5 * look, reason]),
    },
    isStopped: async () => false,
    observe: {
      began: () => {},
      handled: () => {},
      failed: (subject, error) => expect.fail(`${subject}: ${error}`),
    },
    nowMs: () => 5_000 * look,
  })
  for (; look < reasons.length; look += 1) await round()
  return told
}

const [sent, other] = ['it is under way', 'it is of another kind'] as const

test('Q-75: a reason to wait is told once, ten seconds after the first look', async () => {
  expect(await toldOver([other, other, other, other])).toEqual([[10, other]])
})

test('Q-75: a reason that changes at each look is told ten seconds after the first, and at each change', async () => {
  expect(await toldOver([other, sent, other, sent, sent])).toEqual([
    [10, other],
    [15, sent],
  ])
})
