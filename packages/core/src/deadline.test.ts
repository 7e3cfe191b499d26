import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { keepCollectingGarbage } from '../test/fixtures/collectGarbage.ts'
import { startDeadline } from './deadline.ts'

const never = () => new AbortController().signal
const aborted = (signal: AbortSignal) =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason), { once: true }))

describe('startDeadline', () => {
  test('aborts by itself', async () => {
    const deadline = startDeadline(never(), 5)
    expect(await aborted(deadline.signal)).toMatchObject({ code: 'REQUEST_TIMED_OUT' })
    expect(deadline.hasPassed()).toBe(true)
  })

  test('aborts although garbage is collected meanwhile', async () => {
    keepCollectingGarbage()
    expect(await aborted(startDeadline(never(), 200).signal)).toBeInstanceOf(Error)
  })

  test("aborts with its parent, for the parent's reason", async () => {
    const parent = new AbortController()
    const deadline = startDeadline(parent.signal, 60_000)
    const reason = aborted(deadline.signal)
    parent.abort('closing')
    expect(await reason).toBe('closing')
    expect(deadline.hasPassed()).toBe(false)
    expect(startDeadline(parent.signal, 60_000).signal.aborted).toBe(true)
  })

  test('fails in the words of its owner, and lasts without a time until it is ended', async () => {
    const late = new Error('too late')
    expect(await aborted(startDeadline(undefined, 5, () => late).signal)).toBe(late)
    const waited = startDeadline(undefined)
    await sleep(10)
    expect(waited.signal.aborted).toBe(false)
    waited.end()
    expect([waited.signal.aborted, waited.hasPassed()]).toEqual([true, false])
  })

  test('does nothing more once it is released', async () => {
    const parent = new AbortController()
    const deadline = startDeadline(parent.signal, 1)
    deadline.release()
    parent.abort()
    await sleep(10)
    expect(deadline.signal.aborted).toBe(false)
  })
})
