// Goal: the solver hears of work from a service that holds its question, and asks by the clock everywhere else. Attackers:
// a service that answers at once whatever it is asked, with something new each time or nothing; one of an older release;
// one that is away, cuts its answers or gives what cannot be sent back. The service speaks real HTTP.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Secret } from '@causeway/core'
import { expect, onTestFinished, test } from 'vitest'
import { createWorkClient } from './workClient.ts'
import { watchWork } from './workWatch.ts'

type Asked = { readonly waitMs: string | null; readonly known: string | null }

/** @param answer of a held question; a plain one is answered with what is open */
async function service(
  answer: (asked: Asked, count: number, response: ServerResponse) => object | undefined,
) {
  const state = { open: [] as string[], held: [] as Asked[], plain: 0 }
  const listed = () => ({ items: state.open.map((id) => ({ id, kind: 'fill', payload: {} })) })
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://service')
    const asked = { waitMs: searchParams.get('waitMs'), known: searchParams.get('known') }
    if (asked.waitMs === null) {
      state.plain += 1
      response.end(JSON.stringify(listed()))
      return
    }
    state.held.push(asked)
    const body = answer(asked, state.held.length, response)
    if (body !== undefined) response.end(JSON.stringify({ ...listed(), ...body }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // CAST: a server that listens on a port has an address of this shape.
  const { port } = server.address() as AddressInfo
  const told = { count: 0 }
  const watch = watchWork({
    work: createWorkClient(`http://127.0.0.1:${port}`, new Secret('solver-key-of-a-test')),
    onTold: () => {
      told.count += 1
    },
    nowMs: () => performance.now(),
  })
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await watch.close()
  })
  return { state, told, watch, server }
}

const idsOf = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id)

test('an answer is told of and given out once, and what is known is sent with the next question', async () => {
  let answerHeld = () => {}
  const { state, told, watch } = await service((_asked, count, response) => {
    if (count === 1) return { known: 'first' }
    answerHeld = () =>
      response.end(JSON.stringify({ items: [{ id: 'a', kind: 'fill', payload: {} }], known: 'a' }))
    return undefined
  })
  await expect.poll(() => state.held.length).toBe(2)
  expect(state.held[1]).toEqual({ waitMs: '20000', known: 'first' })
  expect(watch.isTold()).toBe(true)
  await watch.open()
  const before = told.count
  answerHeld()
  await expect.poll(() => told.count).toBe(before + 1)
  const asked = state.plain
  expect(idsOf(await watch.open())).toEqual(['a'])
  expect(state.plain).toBe(asked)
  // After the held answer is used up, items are listed anew.
  state.open = ['b']
  expect(idsOf(await watch.open())).toEqual(['b'])
  expect(state.plain).toBe(asked + 1)
})

test('while a question is held and nothing is open, nobody asks by the clock', async () => {
  const { state, watch } = await service((_asked, count) => (count === 1 ? { known: '' } : undefined))
  await expect.poll(() => state.held.length).toBe(2)
  for (let round = 0; round < 20; round += 1) expect(await watch.open()).toEqual([])
  expect(state.plain).toBe(0)
})

test('an item that nobody can do now is asked for by the clock, and by no further question', async () => {
  const { state, watch } = await service((_asked, count) => {
    state.open = ['a']
    return count === 1 ? { known: 'a' } : undefined
  })
  await expect.poll(() => state.held.length).toBe(2)
  await pause(1_100)
  for (let round = 0; round < 5; round += 1) expect(idsOf(await watch.open())).toEqual(['a'])
  expect(state.plain).toBe(5)
  expect(state.held).toHaveLength(2)
})

test('a service of an older release is asked by the clock, and about holding once a minute', async () => {
  const { state, told, watch } = await service(() => ({}))
  await expect.poll(() => state.held.length).toBe(1)
  state.open = ['a']
  expect(idsOf(await watch.open())).toEqual(['a'])
  expect(watch.isTold()).toBe(false)
  await pause(1_500)
  expect(state.held).toHaveLength(1)
  expect(told.count).toBe(0)
})

test('one that refuses to hold is asked ever later', async () => {
  const { state, watch } = await service((_asked, _count, response) => {
    response.statusCode = 400
    return {}
  })
  await pause(3_500)
  expect(state.held.length).toBeLessThanOrEqual(3)
  state.open = ['a']
  expect(idsOf(await watch.open())).toEqual(['a'])
  expect(watch.isTold()).toBe(false)
})

test('one that answers at once with nothing new is asked ever later, and meanwhile by the clock', async () => {
  const { state, told, watch } = await service(() => ({ known: 'same' }))
  await pause(3_500)
  expect(state.held.length).toBeLessThanOrEqual(5)
  expect(told.count).toBe(1)
  expect(watch.isTold()).toBe(false)
})

test('one that has something new each time is asked once per pause', async () => {
  const { state } = await service((_asked, count) => ({ known: `new-${count}` }))
  await pause(2_000)
  expect(state.held.length).toBeGreaterThan(2)
  expect(state.held.length).toBeLessThanOrEqual(20)
})

test('what cannot be sent back is not, and an answer that is cut or broken is none', async () => {
  for (const broken of [
    { known: 'x'.repeat(5_000) },
    { known: '\r\nx-api-key: y' },
    { items: 'all' },
    undefined,
  ]) {
    const { state, watch } = await service((_asked, _count, response) => {
      if (broken === undefined) response.destroy()
      return broken
    })
    await expect.poll(() => state.held.length).toBeGreaterThan(0)
    await pause(200)
    expect(watch.isTold()).toBe(false)
    expect(state.held.every(({ known }) => known === null)).toBe(true)
    await watch.open()
    expect(state.plain).toBe(1)
  }
})

test('a service that stops and comes back is heard again, and the watch ends when it is told to', async () => {
  let isAway = true
  const { state, watch } = await service((_asked, count, response) => {
    if (isAway) {
      response.destroy()
      return undefined
    }
    return count > 2 ? undefined : { known: 'a' }
  })
  await expect.poll(() => state.held.length).toBe(1)
  isAway = false
  await expect.poll(() => watch.isTold(), { timeout: 5_000 }).toBe(true)
  const closedMs = performance.now()
  await watch.close()
  expect(performance.now() - closedMs).toBeLessThan(5_000)
})
