// Goal: what was read is kept and shared, what failed is not. Method: readings that count how often they are made.
import { UpstreamUnavailableError } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { FinalReadingCache } from './sharedWork.ts'

type Value = { readonly text: string; readonly isWhole: boolean }

const { signal } = new AbortController()

function bench(limits = { finalEntriesMax: 2, finalWeightMax: 100 }) {
  const readings = new FinalReadingCache<Value>({
    chainId: 'base',
    limits,
    weightOf: ({ text }) => text.length,
  })
  let made = 0
  const read = (text: string, isWhole = false) =>
    readings.read(
      {
        key: text,
        variant: isWhole ? 'whole' : 'part',
        answers: (kept) => kept.isWhole || !isWhole,
      },
      signal,
      async () => {
        made += 1
        return { text, isWhole }
      },
    )
  return { readings, read, made: () => made }
}

describe('remembered readings', () => {
  test('are made once, by those who ask together and by those who ask later', async () => {
    const { read, made } = bench()
    await Promise.all([read('a'), read('a')])
    await read('a')
    expect(made()).toBe(1)
  })

  test('are made again where what is kept lacks what is wanted, beside a reading of less', async () => {
    const { read, made } = bench()
    const [part, whole] = await Promise.all([read('a'), read('a', true)])
    expect([part.isWhole, whole.isWhole, made()]).toEqual([false, true, 2])
    expect((await read('b')).isWhole).toBe(false)
    expect((await read('b', true)).isWhole).toBe(true)
    expect((await read('b')).isWhole).toBe(true)
    expect(made()).toBe(4)
  })

  test('are forgotten: the oldest beyond the limits, all on demand', async () => {
    const { readings, read, made } = bench()
    for (const text of ['a', 'b', 'c', 'c', 'a']) await read(text)
    expect(made()).toBe(4)
    const long = 'd'.repeat(101)
    await read(long)
    await read(long)
    expect(made()).toBe(6)
    // A reading larger than the limit on all readings evicts nothing.
    await read('a')
    expect(made()).toBe(6)
    readings.forget()
    await read('a')
    expect(made()).toBe(7)
  })

  test('are not remembered when they fail, and refuse a caller that gave up', async () => {
    const { readings, read, made } = bench()
    const failing = readings.read({ key: 'a' }, signal, () => Promise.reject(new Error('no answer')))
    await expect(failing).rejects.toThrow('no answer')
    await read('a')
    expect(made()).toBe(1)
    const caller = new AbortController()
    const waiting = readings.read({ key: 'b' }, caller.signal, () => new Promise(() => {}))
    caller.abort()
    await expect(waiting).rejects.toThrow(UpstreamUnavailableError)
    await expect(waiting).rejects.toMatchObject({ code: 'REQUEST_TIMED_OUT' })
  })
})
