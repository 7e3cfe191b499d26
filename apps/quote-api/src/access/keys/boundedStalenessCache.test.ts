import { UpstreamUnavailableError } from '@causeway/core'
import { expect, test } from 'vitest'
import { createBoundedStalenessCache } from './boundedStalenessCache.ts'

/** A store that changes, breaks and hangs on demand, under a clock moved by hand. */
function scene() {
  const state = {
    nowMs: 0,
    reads: 0,
    value: 'first' as string | undefined,
    fails: false,
    held: undefined as Promise<void> | undefined,
  }
  const reads = createBoundedStalenessCache<string>({
    now: () => state.nowMs,
    async read() {
      state.reads += 1
      const { value, fails } = state
      await state.held
      if (fails) throw new UpstreamUnavailableError('down')
      return value
    },
  })
  return { state, reads, get: () => reads.get('key') }
}

test('answers from memory for two seconds, then asks again', async () => {
  const { state, get } = scene()
  expect(await get()).toBe('first')
  state.value = 'second'
  state.nowMs = 1_999
  expect(await get()).toBe('first')
  state.nowMs = 2_000
  expect(await get()).toBe('second')
  expect(state.reads).toBe(2)
})

test('callers at the same time share one question', async () => {
  const { state, get } = scene()
  expect(await Promise.all([get(), get(), get()])).toEqual(['first', 'first', 'first'])
  expect(state.reads).toBe(1)
})

test('"nothing" is remembered for a second only', async () => {
  const { state, get } = scene()
  state.value = undefined
  expect([await get(), await get(), state.reads]).toEqual([undefined, undefined, 1])
  state.value = 'new'
  state.nowMs = 1_000
  expect(await get()).toBe('new')
})

test('L-87: a store that is down is bridged, but no answer is ever older than four and a half seconds', async () => {
  const { state, get } = scene()
  await get()
  state.fails = true
  state.nowMs = 4_500
  expect(await get()).toBe('first')
  state.nowMs = 4_501
  await expect(get()).rejects.toThrow(UpstreamUnavailableError)
  state.fails = false
  state.value = undefined
  expect(await get()).toBeUndefined()
})

test('an answer that took too long to come is refused: it may be from before a revocation', async () => {
  const { state, get } = scene()
  let release: () => void = () => {}
  state.held = new Promise((resolve) => {
    release = resolve
  })
  const late = get()
  state.nowMs = 4_501
  release()
  await expect(late).rejects.toThrow(UpstreamUnavailableError)
})

test('what was forgotten while being asked for is asked for again', async () => {
  const { state, reads, get } = scene()
  let release: () => void = () => {}
  state.held = new Promise((resolve) => {
    release = resolve
  })
  const before = get()
  state.value = 'changed'
  reads.forget('key')
  state.held = undefined
  const after = get()
  release()
  expect([await before, await after, await get()]).toEqual(['first', 'changed', 'changed'])
})

test('a bug of the store is not bridged', async () => {
  let fails = false
  const reads = createBoundedStalenessCache<string>({
    now: () => (fails ? 3_000 : 0),
    read: async () => {
      if (fails) throw new TypeError('bug')
      return 'value'
    },
  })
  await reads.get('key')
  fails = true
  await expect(reads.get('key')).rejects.toThrow(TypeError)
})
