// Goal: an operator sees for as long as it costs something that an oracle began without counts. Attack: somebody empties
// the folder before a restart, so that the caps of the hour may be signed once more, and nobody looks at the start's log.
import { expect, test } from 'vitest'
import { stateCheck } from './stateCheck.ts'

test('O-128: a start without counts is told for the hour that it gives away, after what is not kept', async () => {
  let now = 5_000
  let isKept = true
  const told = (check: ReturnType<typeof stateCheck>) =>
    check.check(AbortSignal.timeout(1_000)).then(
      () => 'ok',
      (error: unknown) => Object(error).code,
    )
  const [empty, filled] = [true, false].map((beganEmpty) =>
    stateCheck({ isKept: () => isKept, beganEmpty, nowMs: () => now }),
  )
  if (empty === undefined || filled === undefined) throw new Error('no check')
  expect([empty.isShownOnly, await told(empty), await told(filled)]).toEqual([true, 'STATE_EMPTY', 'ok'])
  isKept = false
  expect([await told(empty), await told(filled)]).toEqual(['STATE_NOT_KEPT', 'STATE_NOT_KEPT'])
  isKept = true
  now += 3_600_000 - 1
  expect(await told(empty)).toBe('STATE_EMPTY')
  now += 1
  expect(await told(empty)).toBe('ok')
})
