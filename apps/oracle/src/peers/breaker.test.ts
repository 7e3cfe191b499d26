import { expect, test } from 'vitest'
import {
  afterFailure,
  afterGivenUp,
  afterSend,
  type BreakerState,
  closedBreaker,
  maySend,
} from './peerBreaker.ts'

function failed(times: number, nowMs: number): BreakerState {
  let state = closedBreaker
  for (let count = 0; count < times; count += 1) state = afterFailure(state, nowMs)
  return state
}

test('five failures in a row open it for five seconds', () => {
  expect(maySend(failed(4, 1_000), 1_000)).toBe(true)
  expect(maySend(afterSend(afterSend(failed(4, 1_000))), 1_000)).toBe(true)
  const open = failed(5, 1_000)
  expect([maySend(open, 1_000), maySend(open, 5_999), maySend(open, 6_000)]).toEqual([false, false, true])
})

test('then one request finds out, and decides', () => {
  const probing = afterSend(failed(5, 1_000))
  expect(maySend(probing, 6_000)).toBe(false)
  expect(maySend(afterFailure(probing, 6_000), 6_001)).toBe(false)
  expect(maySend(afterFailure(probing, 6_000), 11_000)).toBe(true)
  expect(maySend(afterGivenUp(probing), 6_001)).toBe(true)
  expect(maySend(closedBreaker, 6_001)).toBe(true)
})
