// Goal: what transactions take is known from a chain's first reading on, and again soon after it changed. Attacks:
// endpoints that fall silent so that dear transactions look cheap again; one that is slow, which would make every price
// late; an answer that cannot be read.
import type { ShapeUnits } from '@causeway/families/rules'
import { expect, test } from 'vitest'
import { createUnitsMeter } from './unitsMeter.ts'

const approve = (units: bigint): ShapeUnits => ({ shape: 'approve', units, countedUnits: 65_000n })
const send = (units: bigint): ShapeUnits => ({ shape: 'send-native', units, countedUnits: 30_000n })

function bed() {
  const failures: unknown[] = []
  const state = {
    nowMs: 1_000,
    asked: 0,
    say: async (): Promise<readonly ShapeUnits[]> => [approve(46_000n)],
  }
  const meter = createUnitsMeter({
    measure() {
      state.asked += 1
      return state.say()
    },
    now: () => state.nowMs,
    onFailure: (error) => failures.push(error),
  })
  /** Result of the meter after its outstanding measurement has finished. */
  const settled = async () => {
    await meter()
    await new Promise((resolve) => setImmediate(resolve))
    return meter()
  }
  return { state, failures, meter, settled }
}

test('F-115: the first reading waits for it, and until it is due again nobody is asked', async () => {
  const { state, meter } = bed()
  expect(await meter()).toEqual([approve(46_000n)])
  state.nowMs += 39_999
  await meter()
  expect(state.asked).toBe(1)
})

test('F-115: a reading after one that failed waits for the same first look', async () => {
  const { state, meter } = bed()
  let answer: (said: readonly ShapeUnits[]) => void = () => {}
  state.say = () =>
    new Promise((resolve) => {
      answer = resolve
    })
  const both = [meter(), meter()]
  answer([approve(122_020n)])
  expect(await Promise.all(both)).toEqual([[approve(122_020n)], [approve(122_020n)]])
  expect(state.asked).toBe(1)
})

test('F-115: a change is known within a minute, upwards and downwards', async () => {
  const { state, meter, settled } = bed()
  await meter()
  for (const units of [122_020n, 46_000n]) {
    state.say = async () => [approve(units)]
    state.nowMs += 40_000
    expect(await settled()).toEqual([approve(units)])
  }
  expect(state.asked).toBe(3)
})

test('F-115: what is not said any more is as it was, each shape for itself', async () => {
  const { state, meter, settled } = bed()
  state.say = async () => [approve(122_020n), send(204_600n)]
  await meter()
  for (const said of [[], [approve(122_021n)]]) {
    state.say = async () => said
    state.nowMs += 40_000
    await settled()
  }
  expect(await meter()).toEqual([approve(122_021n), send(204_600n)])
})

test('F-115: a later look that hangs keeps no reading waiting', async () => {
  const { state, meter } = bed()
  await meter()
  state.say = () => new Promise(() => {})
  state.nowMs += 40_000
  expect(await meter()).toEqual([approve(46_000n)])
})

test('F-115: a look that fails is told and ends nothing, at the start and later', async () => {
  const { state, failures, settled } = bed()
  const broken = new Error('broken')
  state.say = () => Promise.reject(broken)
  expect(await settled()).toEqual([])
  state.nowMs += 40_000
  expect(await settled()).toEqual([])
  expect(failures).toEqual([broken, broken])
})
