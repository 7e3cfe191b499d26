import { describe, expect, test } from 'vitest'
import { hedgedRequest } from './hedgedRequest.ts'

const never = (signal: AbortSignal) =>
  new Promise<string>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')))
  })
const fails = (name: string) => async () => {
  throw new Error(name)
}

describe('hedgedRequest', () => {
  test('starts the next attempt at once when one fails', async () => {
    const answer = await hedgedRequest([fails('a'), async () => 'b'], { staggerMs: 60_000 })
    expect(answer).toBe('b')
  })

  test('starts the next attempt beside a silent one, and aborts the silent one when it wins', async () => {
    let aborted = false
    const silent = (signal: AbortSignal) =>
      never(signal).catch((error: unknown) => {
        aborted = true
        throw error
      })
    expect(await hedgedRequest([silent, async () => 'b'], { staggerMs: 5 })).toBe('b')
    await new Promise(setImmediate)
    expect(aborted).toBe(true)
  })

  test('starts no second attempt when the first answers in time', async () => {
    let started = 0
    const attempts = ['a', 'b'].map((name) => async () => {
      started += 1
      return name
    })
    expect(await hedgedRequest(attempts, { staggerMs: 5 })).toBe('a')
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(started).toBe(1)
  })

  test('takes the answer of a slow first attempt after the second has failed', async () => {
    const slow = () => new Promise<string>((resolve) => setTimeout(() => resolve('a'), 40))
    expect(await hedgedRequest([slow, fails('b')], { staggerMs: 5 })).toBe('a')
  })

  test('rejects with every failure, in the order of the attempts', async () => {
    const failed = hedgedRequest([fails('a'), fails('b'), fails('c')], { staggerMs: 5 })
    await expect(failed).rejects.toMatchObject({
      errors: [{ message: 'a' }, { message: 'b' }, { message: 'c' }],
    })
  })

  test('starts nothing new once the caller gave up', async () => {
    const caller = new AbortController()
    let started = 0
    const second = async () => {
      started += 1
      return 'b'
    }
    const failed = hedgedRequest([never, second], { staggerMs: 20, signal: caller.signal })
    caller.abort()
    await expect(failed).rejects.toBeInstanceOf(AggregateError)
    await new Promise((resolve) => setTimeout(resolve, 40))
    expect(started).toBe(0)
  })

  test('rejects when there is nothing to try', async () => {
    await expect(hedgedRequest([], { staggerMs: 5 })).rejects.toBeInstanceOf(AggregateError)
  })
})
