// Goal: who waits for work hears of what it has not been given, of nothing else, and misses nothing. Attackers: an item that
// cannot be done and would end every wait; one that is offered while the table is read; so many offers, or callers, that the
// table is read without pause; a table that cannot be read.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { OpenLanes } from '../src/requests/work/openWork.ts'
import type { WorkItem } from '../src/requests/work/workItem.ts'
import { createWorkOffers, knownOf, knownPattern } from '../src/requests/work/workOffers.ts'

function item(id: string, changed: Partial<WorkItem> = {}): WorkItem {
  return {
    id,
    kind: 'fill',
    requestId: undefined,
    subject: '',
    chainId: 1,
    payload: {},
    state: 'open',
    txHash: undefined,
    validUntilSeconds: undefined,
    reason: undefined,
    attempts: 0,
    isWithheld: false,
    isIncluded: false,
    createdAtMs: 1,
    updatedAtMs: 1,
    ...changed,
  }
}

/** A table of fills, whose looks a test can count, stop and break. */
function table(...fills: WorkItem[]) {
  const state = { fills, looks: 0, limits: [] as number[], gate: Promise.resolve() }
  const offers = createWorkOffers({
    async read(limit): Promise<OpenLanes> {
      state.looks += 1
      state.limits.push(limit)
      const found = [...state.fills]
      await state.gate
      return [found]
    },
  })
  const ask = (known: string, { waitMs = 10_000, limit = 50 } = {}) => {
    const signal = AbortSignal.timeout(waitMs)
    return offers.untilNew({ known, limit }, signal).then(() => (signal.aborted ? 'over' : 'news'))
  }
  return { state, offers, ask }
}

test('whoever knows nothing hears at once of what is open, and whoever knows it all waits', async () => {
  const { state, offers, ask } = table(item('a'), item('b'))
  expect(await ask('')).toBe('news')
  const known = knownOf(state.fills)
  expect(known).toMatch(knownPattern)
  expect(await ask(known, { waitMs: 300 })).toBe('over')
  const waiting = ask(known)
  state.fills.push(item('c'))
  offers.changed()
  expect(await waiting).toBe('news')
})

test('an item that leaves is no news, nor is the order of the others', async () => {
  const { state, offers, ask } = table(item('a'), item('b'), item('c'))
  const waiting = ask(knownOf(state.fills), { waitMs: 300 })
  state.fills.splice(0, 3, item('c'), item('a'))
  offers.changed()
  expect(await waiting).toBe('over')
})

test('an item that is offered anew is news: after it was given up, reported or withheld', async () => {
  for (const changed of [{ attempts: 1 }, { updatedAtMs: 2 }]) {
    const { state, offers, ask } = table(item('a'))
    const waiting = ask(knownOf(state.fills))
    await pause(100)
    state.fills[0] = item('a', changed)
    offers.changed()
    expect(await waiting).toBe('news')
  }
})

test('what is offered while the table is read is read for', async () => {
  const { state, offers, ask } = table(item('a'))
  let open = () => {}
  state.gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const waiting = ask(knownOf(state.fills))
  await expect.poll(() => state.looks).toBe(1)
  // Too late for the look that is on its way.
  state.fills.push(item('b'))
  offers.changed()
  const askedMs = performance.now()
  open()
  expect(await waiting).toBe('news')
  // Well before the clock.
  expect(performance.now() - askedMs).toBeLessThan(500)
})

test('what nobody told of is found by the clock', async () => {
  const { state, ask } = table()
  const waiting = ask('')
  await expect.poll(() => state.looks).toBe(1)
  state.fills.push(item('a'))
  expect(await waiting).toBe('news')
})

test('an item behind the end of a page is no news for that page', async () => {
  const { state, ask } = table(item('a'), item('b'))
  const known = knownOf(state.fills.slice(0, 1))
  const [short, long] = await Promise.all([
    ask(known, { limit: 1, waitMs: 500 }),
    ask(known, { limit: 2, waitMs: 500 }),
  ])
  expect([short, long]).toEqual(['over', 'news'])
  expect(state.limits[0]).toBe(2)
})

test('however many wait and however much is offered, there is one look at a time and a pause behind it', async () => {
  const { state, offers, ask } = table(item('a'))
  const known = knownOf(state.fills)
  const waiting = Array.from({ length: 700 }, () => ask(known, { waitMs: 1_000 }))
  const untilMs = performance.now() + 900
  while (performance.now() < untilMs) {
    for (let each = 0; each < 100; each += 1) offers.changed()
    await pause(1)
  }
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['over']))
  expect(state.looks).toBeLessThanOrEqual(21)
  const after = state.looks
  offers.changed()
  await pause(1_200)
  // Nobody waits: nobody looks.
  expect(state.looks).toBe(after)
})

test('a look that fails ends the wait of whoever waited for it, and of nobody else', async () => {
  const { state, ask } = table()
  state.gate = Promise.reject(new Error('the database is away'))
  state.gate.catch(() => {})
  await expect(ask('')).rejects.toThrow('the database is away')
  state.gate = Promise.resolve()
  state.fills.push(item('a'))
  expect(await ask('')).toBe('news')
})
