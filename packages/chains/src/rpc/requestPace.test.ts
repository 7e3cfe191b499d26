// Goal: an endpoint that limits its rate is asked no faster than it takes, so that questions of several requests come to
// their end. Attacks: a limit in each second, a refusal of each request of a burst, a limit that is lifted.
import { createServer } from 'node:http'
import { Secret } from '@causeway/core'
import { expect, onTestFinished, test } from 'vitest'
import { createJsonRpcClient } from './client.ts'
import { RequestPace } from './requestPace.ts'

const far = { deadlineMs: Number.MAX_SAFE_INTEGER }

/** Refused after so many requests of one second. */
function refusedAfter(requests: number): RequestPace {
  const pace = new RequestPace()
  for (let sent = 0; sent < requests; sent += 1) pace.sent(1_000)
  for (let refusal = 0; refusal < 5; refusal += 1) pace.refused(1_000)
  return pace
}

test('F-63: nothing waits before a first refusal, and refusals of one second are one', async () => {
  expect(new RequestPace().isLimited).toBe(false)
  const pace = refusedAfter(100)
  // Eighty a second, so that the second one is due 12.5 ms after the first.
  expect(await pace.turn(1_000, { deadlineMs: 1_001 })).toBe(true)
  expect(await pace.turn(1_000, { deadlineMs: 1_012 })).toBe(false)
  expect(await pace.turn(1_000, { deadlineMs: 1_013 })).toBe(true)
})

test('F-63: a lower rate is learned by each refusal, and no longer kept after quiet minutes', async () => {
  const pace = refusedAfter(10)
  pace.sent(5_000)
  pace.refused(5_000)
  await pace.turn(5_000, far)
  expect(await pace.turn(5_000, { deadlineMs: 5_333 })).toBe(false)
  await pace.turn(5_000 + 20 * 20_000, far)
  expect(pace.isLimited).toBe(false)
})

test('F-63: who gives up while he waits holds nobody up', async () => {
  const pace = refusedAfter(1)
  await pace.turn(1_000, far)
  const signal = AbortSignal.abort()
  expect(await pace.turn(1_000, { ...far, signal })).toBe(true)
})

test('F-63: questions of several requests end at an endpoint that takes 20 requests a second', async () => {
  const answered: number[] = []
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const now = Date.now()
      const isMore = answered.filter((ms) => now - ms < 1_000).length >= 20
      if (!isMore) answered.push(now)
      response.writeHead(isMore ? 429 : 200)
      response.end(isMore ? '' : JSON.stringify({ jsonrpc: '2.0', id: null, result: '0x1' }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const client = createJsonRpcClient({
    ...{ chainId: 'base', endpoints: [{ url: new Secret(`http://127.0.0.1:${port}/`) }], now: Date.now },
    ...{ timeoutMs: 20_000, wire: 'paths' },
  })
  onTestFinished(() => client.close())
  const ask = () => client.request({ method: '/', params: [] })
  /** Asked again from its beginning, as a watcher's look is. */
  const look = async (): Promise<void> => {
    for (;;) {
      try {
        for (let request = 0; request < 6; request += 1) await ask()
        return
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  }
  await Promise.all(Array.from({ length: 16 }, look))
}, 60_000)
