// Goal: the waits of a request are counted once, and end together. Method: a clock that a test moves, and questions that
// nobody answers.
import { UpstreamUnavailableError } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { RequestWaits } from './requestWaits.ts'

const silence = () => new Promise<never>(() => {})

describe('waits', () => {
  test('at once count once, one after another add up, and a failure counts', async () => {
    let nowMs = 0
    const waits = new RequestWaits({ nowMs: () => nowMs })
    const ends: (() => void)[] = []
    const wait = () => waits.during('chain', () => new Promise<void>((resolve) => ends.push(resolve)))
    const both = [wait(), wait()]
    nowMs = 3
    ends[0]?.()
    await both[0]
    nowMs = 5
    ends[1]?.()
    await both[1]
    nowMs = 7
    const failed = waits.during('chain', async () => {
      nowMs = 8
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    await waits.during('store', async () => {
      nowMs = 10
    })
    expect(waits.spent()).toEqual({
      parts: [
        { part: 'chain', milliseconds: 6 },
        { part: 'store', milliseconds: 2 },
      ],
      totalMs: 10,
    })
  })

  test('end together, and ask nothing once the budget is spent', async () => {
    const waits = new RequestWaits({ nowMs: () => performance.now(), budgetMs: 20 })
    const never = [waits.onChain(silence), waits.onChain(silence)]
    for (const each of never) await expect(each).rejects.toBeInstanceOf(UpstreamUnavailableError)
    let asked = 0
    const late = waits.onChain(async () => {
      asked += 1
    })
    await expect(late).rejects.toThrow('within 20 ms')
    expect(asked).toBe(0)
    waits.release()
  })
})
