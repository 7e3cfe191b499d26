import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Worker } from 'node:worker_threads'
import { type Hex, Secret } from '@causeway/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createRawKeySigner } from './rawKeySigner.ts'
import { createThreadedSigner } from './threadedSigner.ts'

const privateKey = new Secret(`0x${'1234567890'.repeat(7).slice(0, 64)}`)

function signer() {
  const threaded = createThreadedSigner({ privateKey })
  onTestFinished(() => threaded.close())
  return threaded
}

/** Threads that start from now on. */
function startedThreads(): readonly Worker[] {
  const threads: Worker[] = []
  const onThread = (message: unknown) => threads.push((message as { worker: Worker }).worker)
  subscribe('worker_threads', onThread)
  onTestFinished(() => void unsubscribe('worker_threads', onThread))
  return threads
}

const order = (index: number) => ({
  purpose: 'order' as const,
  orderId: `0x${index.toString(16).padStart(64, '0')}` as Hex,
})

describe('threaded signer', () => {
  test('equals the signer that works in place, for many at once and one after another', async () => {
    const threaded = signer()
    const inPlace = createRawKeySigner({ privateKey })
    expect(threaded.address).toBe(inPlace.address)
    const together = await Promise.all(Array.from({ length: 600 }, (_, index) => threaded.sign(order(index))))
    for (const [index, signature] of together.entries())
      expect(signature).toBe(await inPlace.sign(order(index)))
    for (const index of [1, 2, 3]) expect(await threaded.sign(order(index))).toBe(together[index])
  })

  test('fails what is asked after it was closed', async () => {
    const threaded = signer()
    await threaded.sign(order(1))
    await threaded.close()
    await expect(threaded.sign(order(2))).rejects.toMatchObject({ code: 'SIGNER_FAILED' })
  })

  test('answers what was asked before it was closed', async () => {
    const threaded = signer()
    const asked = Promise.all(Array.from({ length: 100 }, (_, index) => threaded.sign(order(index))))
    await threaded.close()
    expect(await asked).toHaveLength(100)
  })

  test('O-168: leaves no thread behind where it is closed in the turn of its first request', async () => {
    const threads = startedThreads()
    const threaded = signer()
    const asked = threaded.sign(order(1))
    await threaded.close()
    expect(await asked).toMatch(/^0x/)
    // A thread that has ended has the id -1.
    expect(threads.map(({ threadId }) => threadId)).toEqual([-1])
  })

  test('fails what was asked when its thread dies, and goes on with another', async () => {
    const threads = startedThreads()
    const threaded = signer()
    await threaded.sign(order(1))
    const asked = Promise.allSettled(Array.from({ length: 500 }, (_, index) => threaded.sign(order(index))))
    // No digests: the thread fails. Ending it from outside while it signs would end the process.
    threads[0]?.postMessage(null)
    const outcomes = await asked
    expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true)
    expect(await threaded.sign(order(1))).toMatch(/^0x/)
    expect(threads).toHaveLength(2)
  })
})
