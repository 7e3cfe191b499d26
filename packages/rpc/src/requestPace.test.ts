// Goal: an endpoint that limits its rate is asked no faster than it takes, so that questions of several requests come to
// their end, and the service's own work before what others ask. Attacks: a limit in each second, a refusal of each request
// of a burst, a limit that is lifted, a flood of quotes that keeps a deposit from being seen.
import { createServer } from 'node:http'
import { Secret } from '@causeway/core'
import { expect, onTestFinished, test } from 'vitest'
import { createJsonRpcClient, waitingIn } from './client.ts'
import { type Line, RequestPace } from './requestPace.ts'

const far = { deadlineMs: Number.MAX_SAFE_INTEGER }

/** Refused after so many requests of one second, at a moment that stands until its test moves it. */
function refusedAfter(requests: number) {
  const clock = { nowMs: 1_000 }
  const pace = new RequestPace(() => clock.nowMs)
  for (let sent = 0; sent < requests; sent += 1) pace.sent()
  for (let refusal = 0; refusal < 5; refusal += 1) pace.refused()
  return { pace, clock }
}

test('F-63: nothing waits before a first refusal, and refusals of one second are one', async () => {
  expect(new RequestPace(Date.now).isLimited).toBe(false)
  const { pace } = refusedAfter(100)
  // Eighty a second, so that the second one is due 12.5 ms after the first.
  expect(await pace.turn({ deadlineMs: 1_001 })).toBe(true)
  expect(await pace.turn({ deadlineMs: 1_012 })).toBe(false)
  expect(await pace.turn({ deadlineMs: 1_013 })).toBe(true)
})

test('F-63: a lower rate is learned by each refusal, and no longer kept after quiet minutes', async () => {
  const { pace, clock } = refusedAfter(10)
  clock.nowMs = 5_000
  pace.sent()
  pace.refused()
  await pace.turn(far)
  expect(await pace.turn({ deadlineMs: 5_333 })).toBe(false)
  clock.nowMs += 20 * 20_000
  await pace.turn(far)
  expect(pace.isLimited).toBe(false)
})

test('F-63: a refusal of the first request at a rate that grew lowers it again', async () => {
  const { pace, clock } = refusedAfter(100)
  clock.nowMs += 20_000
  // Grown from eighty to a hundred and twenty a second.
  await pace.turn(far)
  pace.sent()
  pace.refused()
  await pace.turn(far)
  expect(await pace.turn({ deadlineMs: clock.nowMs + 300 })).toBe(false)
})

test('F-63: who gives up while he waits holds nobody up', async () => {
  const { pace } = refusedAfter(1)
  await pace.turn(far)
  const givingUp = new AbortController()
  const gone = Array.from({ length: 20 }, () => pace.turn({ ...far, signal: givingUp.signal }))
  givingUp.abort()
  expect(await Promise.all(gone)).toEqual(Array(20).fill(true))
  expect(await pace.turn({ ...far, signal: givingUp.signal })).toBe(true)
  // Three a second: the next one is due a third of a second after the first.
  expect(await pace.turn({ deadlineMs: 1_334 })).toBe(true)
})

test('F-65: a turn goes to work, then to prices, then to questions, whoever came first', async () => {
  const { pace } = refusedAfter(30)
  await pace.turn(far)
  const served: string[] = []
  const wait = async (line: Line, name: string) => {
    await pace.turn({ ...far, line })
    served.push(name)
  }
  const waits = [wait('questions', 'q1'), wait('questions', 'q2'), wait('prices', 'p1'), wait('work', 'w1')]
  await Promise.all([...waits, wait('prices', 'p2'), wait('work', 'w2')])
  expect(served).toEqual(['w1', 'w2', 'p1', 'p2', 'q1', 'q2'])
})

test('F-65: a question that work overtakes is refused as soon as it would be late', async () => {
  const { pace } = refusedAfter(1)
  await pace.turn(far)
  const question = pace.turn({ deadlineMs: 1_500, line: 'questions' })
  const work = pace.turn({ ...far, line: 'work' })
  expect(await Promise.race([question, work.then(() => 'work was served first')])).toBe(false)
  expect(await work).toBe(true)
})

test('F-63: questions of several requests end at an endpoint that takes 20 requests a second', async () => {
  const { client } = await startSlowEndpoint(20)
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

test('F-65: a flood of quotes keeps no request of a watcher waiting for more than those before it', async () => {
  const { client, answered } = await startSlowEndpoint(4)
  const questions = waitingIn('questions', client)
  const isFlooding = { current: true }
  /** Asks again while the endpoint has a pause. */
  async function patiently(asked: typeof client, method: string): Promise<void> {
    while (isFlooding.current) {
      const isDone = await asked.request({ method, params: [] }).then(
        () => true,
        () => false,
      )
      if (isDone) return
      await new Promise(setImmediate)
    }
  }
  const flood = async () => {
    while (isFlooding.current) await patiently(questions, '/quote')
  }
  const floods = Promise.all(Array.from({ length: 20 }, flood))
  // The limit is known, and quotes wait.
  while (answered.length < 6) await new Promise(setImmediate)
  const between: number[] = []
  for (let request = 0; request < 4; request += 1) {
    const before = answered.length
    await patiently(client, '/watch')
    between.push(answered.slice(before).filter((path) => path === '/quote').length)
  }
  isFlooding.current = false
  await client.close()
  await floods
  // Without the lines each of them waited behind nineteen.
  expect(Math.max(...between)).toBeLessThanOrEqual(3)
}, 60_000)

/** Paths that it answered, never more of one second; what is above is refused. */
async function startSlowEndpoint(perSecond: number) {
  const answered: string[] = []
  const times: number[] = []
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const now = Date.now()
      const isMore = times.filter((ms) => now - ms < 1_000).length >= perSecond
      if (!isMore) {
        times.push(now)
        answered.push(request.url ?? '')
      }
      response.writeHead(isMore ? 429 : 200)
      response.end(isMore ? '' : JSON.stringify({ jsonrpc: '2.0', id: null, result: '0x1' }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const client = createJsonRpcClient({
    chainId: 'base',
    endpoints: [{ url: new Secret(`http://127.0.0.1:${port}/`) }],
    timeoutMs: 20_000,
    wire: 'paths',
  })
  onTestFinished(() => client.close())
  return { client, answered }
}
