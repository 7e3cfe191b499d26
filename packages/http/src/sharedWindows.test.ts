import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ClaimUnits, SharedWindows, type UnitClaim } from './sharedWindows.ts'

const windowMs = 60_000

/** Counts as replicas agree to count, in this process. */
function countTogether(): { readonly claim: ClaimUnits; readonly calls: UnitClaim[][] } {
  const taken = new Map<string, number>()
  const calls: UnitClaim[][] = []
  return {
    calls,
    async claim(claims) {
      calls.push([...claims])
      return claims.map(({ bucket, caller, max, wanted }) => {
        const before = taken.get(`${bucket} ${caller}`) ?? 0
        const granted = Math.min(wanted, max - before)
        taken.set(`${bucket} ${caller}`, before + granted)
        return { granted, taken: before + granted, endsInMs: windowMs }
      })
    },
  }
}

function replica(claim: ClaimUnits, onAlone: (error: unknown) => void = () => {}) {
  const bucket = new SharedWindows({ claim, onAlone }).child({ bucket: 'read' })
  return (caller: string, max: number) =>
    new Promise<boolean>((resolve) => {
      bucket.incr(caller, (_error, { current }) => resolve(current <= max), windowMs, max)
    })
}

const granted = (answers: readonly boolean[]) => answers.filter(Boolean).length

// Goal of an attacker: exceed the limit by spreading requests over replicas.
test('O-172: never more than the limit goes through, and only what others have claimed is missing', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.array(fc.nat({ max: 3 }), { maxLength: 120 }), { minLength: 1, maxLength: 8 }),
      async (max, count, bursts) => {
        const { claim } = countTogether()
        const replicas = Array.from({ length: count }, () => replica(claim))
        let through = 0
        let asked = 0
        for (const burst of bursts) {
          const places = burst.map((place) => replicas[place % count])
          asked += places.length
          through += granted(await Promise.all(places.map((ask) => ask?.('one', max) ?? false)))
        }
        const step = Math.max(1, Math.floor(max / 50))
        expect(through).toBeLessThanOrEqual(Math.min(max, asked))
        expect(through).toBeGreaterThanOrEqual(Math.min(asked, max - (count - 1) * (step - 1)))
      },
    ),
    { numRuns: 200 },
  )
})

test('700 requests of one caller at once cost one claim, and none once the window is full', async () => {
  const { claim, calls } = countTogether()
  const ask = replica(claim)
  const answers = await Promise.all(Array.from({ length: 700 }, () => ask('one', 50)))
  expect([granted(answers), calls.length]).toEqual([50, 1])
  await Promise.all(Array.from({ length: 700 }, () => ask('one', 50)))
  expect(calls.length).toBe(1)
})

test('callers that come together are claimed for together, each once', async () => {
  const { claim, calls } = countTogether()
  const ask = replica(claim)
  const callers = Array.from({ length: 300 }, (_, index) => `caller ${index % 100}`)
  expect(granted(await Promise.all(callers.map((caller) => ask(caller, 10))))).toBe(300)
  expect(calls.map((claims) => claims.length)).toEqual([100])
})

describe('where nobody counts', () => {
  const failing: readonly [string, ClaimUnits][] = [
    ['a database that refuses', () => Promise.reject(new Error('away'))],
    ['a database that never answers', () => new Promise(() => {})],
    ['an answer that leaves callers out', async () => []],
  ]
  test.each(failing)('%s refuses nobody below the limit, and lets nobody above it', async (_what, claim) => {
    const told: unknown[] = []
    const ask = replica(claim, (error) => told.push(error))
    const startedAtMs = performance.now()
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask('one', 20)))
    expect(granted(answers)).toBe(20)
    expect(performance.now() - startedAtMs).toBeLessThan(5_000)
    expect(granted(await Promise.all(Array.from({ length: 30 }, () => ask('two', 20))))).toBe(20)
  })

  test('it is told once, nobody is asked for five seconds, and then again', async () => {
    const told: unknown[] = []
    let calls = 0
    const { claim } = countTogether()
    const ask = replica(
      async (claims) => {
        calls += 1
        if (calls === 1) throw new Error('away')
        return claim(claims)
      },
      (error) => told.push(error),
    )
    await Promise.all([ask('one', 5), ask('two', 5)])
    await ask('one', 5)
    expect([calls, told.length]).toEqual([1, 1])
    await expect.poll(async () => [await ask('three', 1_000), calls > 1]).toEqual([true, true])
    expect(told.length).toBe(1)
  })
})

test('a limiter that names no bucket would count with all others: it is refused', () => {
  const windows = new SharedWindows({ claim: countTogether().claim, onAlone: () => {} })
  expect(() => windows.child({ max: 10 })).toThrow(/names its bucket/)
  expect(() => windows.incr()).toThrow(/outside of a bucket/)
  expect(windows.child({ bucket: 'a' })).toBe(windows.child({ bucket: 'a' }))
  expect(windows.child({ bucket: 'a' })).not.toBe(windows.child({ bucket: 'b' }))
})
