import { expect, test } from 'vitest'
import { createSeenHead } from './seenHead.ts'

function seenHead() {
  let nowMs = 0
  const newer: bigint[] = []
  const seen = createSeenHead(() => nowMs)
  seen.listen(() => newer.push(seen.within(0) ?? -1n))
  return {
    seen,
    newer,
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

test('a head counts for as long as its reader says, and none before the first', () => {
  const { seen, pass } = seenHead()
  expect(seen.within(1_000)).toBeUndefined()
  seen.note(7n)
  pass(1_000)
  expect(seen.within(1_000)).toBe(7n)
  pass(1)
  expect(seen.within(1_000)).toBeUndefined()
})

test('each higher head is told, and no head twice', () => {
  const { seen, newer } = seenHead()
  for (const head of [7n, 7n, 9n, 8n, 9n, 10n]) seen.note(head)
  expect(newer).toEqual([7n, 9n, 10n])
})

test('the head that was seen last counts, though a reorganization made the chain shorter', () => {
  const { seen } = seenHead()
  seen.note(9n)
  seen.note(8n)
  expect(seen.within(0)).toBe(8n)
})
