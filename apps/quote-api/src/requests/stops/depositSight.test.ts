// Goal: a chain whose blocks are read counts as seen. Adversary: a host's clock that is minutes ahead and is set right.
import { expect, test } from 'vitest'
import { createSightNotes } from './depositSight.ts'

test('O-63: a clock that is set back ends no notes', async () => {
  let nowMs = 240_000
  let noteCount = 0
  const database = {
    query: async () => {
      noteCount += 1
      return []
    },
  }
  const note = createSightNotes(database, { chainId: 1, patienceMs: 5_000 }, () => nowMs)
  await note(undefined)
  nowMs = 240_999
  await note(undefined)
  expect(noteCount).toBe(1)
  nowMs = 0
  await note(undefined)
  expect(noteCount).toBe(2)
})
