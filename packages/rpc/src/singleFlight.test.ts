import { describe, expect, test } from 'vitest'
import { SingleFlight } from './sharedWork.ts'

describe('SingleFlight', () => {
  const never = new AbortController().signal

  test('runs equal work once while it is under way, and again afterwards', async () => {
    const flights = new SingleFlight<number>()
    let runs = 0
    const work = async () => {
      runs += 1
      return runs
    }
    expect(await Promise.all([flights.run('a', never, work), flights.run('a', never, work)])).toEqual([1, 1])
    expect(await flights.run('a', never, work)).toBe(2)
  })

  test('does not remember a failure', async () => {
    const flights = new SingleFlight<number>()
    await expect(flights.run('a', never, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await flights.run('a', never, async () => 1)).toBe(1)
  })

  test('is aborted when the last caller has left, and not joined any more', async () => {
    const flights = new SingleFlight<number>()
    const [one, other] = [new AbortController(), new AbortController()]
    let shared: AbortSignal | undefined
    const hang = (signal: AbortSignal) => {
      shared = signal
      return new Promise<number>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      )
    }
    const both = [flights.run('a', one.signal, hang), flights.run('a', other.signal, hang)]
    one.abort()
    await expect(both[0]).rejects.toThrow()
    expect(shared?.aborted).toBe(false)
    other.abort()
    await expect(both[1]).rejects.toThrow()
    expect(shared?.aborted).toBe(true)
    expect(await flights.run('a', never, async () => 3)).toBe(3)
  })

  test('refuses a caller that has already left', async () => {
    const flights = new SingleFlight<number>()
    await expect(flights.run('a', AbortSignal.abort(), async () => 1)).rejects.toThrow()
  })
})
