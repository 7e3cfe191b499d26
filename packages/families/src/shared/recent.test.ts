// Goal: what an account has is asked once by all who quote for it at once, and never believed for longer than stated.
// Adversary: a sender whose allowance is long spent, and an endpoint that answered nothing and would be believed.
import { expect, test } from 'vitest'
import { createRecent, recentMs } from './recent.ts'

function counted(options?: Parameters<typeof createRecent<number>>[1]) {
  const clock = { nowMs: 0 }
  const state = { asked: 0, says: async (): Promise<number | undefined> => 5 }
  const recent = createRecent<number>(() => clock.nowMs, options)
  const ask = (key = 'one') =>
    recent(key, () => {
      state.asked += 1
      return state.says()
    })
  return { clock, state, ask }
}

test.each([
  ['what changes', undefined, recentMs.changing],
  ['what is steady', { forMs: () => recentMs.steady }, recentMs.steady],
])('%s counts for its time and is then asked again', async (_what, options, forMs) => {
  const { clock, state, ask } = counted(options)
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([5, 5, 5])
  clock.nowMs = forMs - 1
  state.says = async () => 6
  expect([await ask(), state.asked]).toEqual([5, 1])
  clock.nowMs = forMs
  expect([await ask(), state.asked]).toEqual([6, 2])
})

test('nothing of it outlives a quote', () => {
  // As every shipped quote file has it.
  const quoteLifetimeMs = 60_000
  for (const forMs of Object.values(recentMs)) expect(forMs).toBeLessThan(quoteLifetimeMs)
})

test('what lasts is not asked again, and what does not is', async () => {
  const { clock, state, ask } = counted({
    forMs: (found) => (found === 6 ? Number.POSITIVE_INFINITY : recentMs.changing),
  })
  await ask()
  clock.nowMs = recentMs.changing
  state.says = async () => 6
  expect([await ask(), state.asked]).toEqual([6, 2])
  clock.nowMs = 10 ** 9
  expect([await ask(), state.asked]).toEqual([6, 2])
})

test('what nobody answered is asked again at once', async () => {
  const { state, ask } = counted()
  state.says = async () => undefined
  expect(await ask()).toBeUndefined()
  state.says = async () => 5
  expect([await ask(), state.asked]).toEqual([5, 2])
})

test('one account says nothing of another', async () => {
  const { state, ask } = counted()
  await Promise.all([ask(), ask('other')])
  expect(state.asked).toBe(2)
})

test('F-96: what weighs much counts as many of those that are kept', async () => {
  const { state, ask } = counted({ weightOf: (found) => found })
  state.says = async () => 4_000
  for (const key of ['one', 'two', 'three']) await ask(key)
  expect([await ask('three'), await ask('two'), state.asked]).toEqual([4_000, 4_000, 3])
  expect([await ask('one'), state.asked]).toEqual([4_000, 4])
})
