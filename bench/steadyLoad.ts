import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** A `POST` where it has a body, else a `GET`. */
export type SteadyRequest = { readonly path: string; readonly body?: string }

export type SteadyResult = {
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failed: number
}

/**
 * Requests at even distances whatever the answers do, each timed from the moment at which it was due: a
 * stall counts for every request that it delays. (autocannon sends a second's share at once and counts
 * a slow answer many times over.)
 */
export async function steadyLoad(args: {
  url: string
  /** Sent in turn, over and over. */
  requests: readonly SteadyRequest[]
  headers?: Readonly<Record<string, string>>
  /** Requests per second of all connections together. */
  rate: number
  seconds: number
  connections: number
}): Promise<SteadyResult> {
  const { url, requests, headers = {}, rate, seconds, connections } = args
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const count = rate * seconds
  const startMs = performance.now()
  const answers: Promise<number>[] = []
  for (let index = 0; index < count; index += 1) {
    const dueMs = startMs + (index * 1000) / rate
    const waitMs = dueMs - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    const { path = '/', body } = requests[index % requests.length] ?? {}
    answers.push(
      send({ url: new URL(path, url), agent, headers, body }).then((isAnswered) =>
        isAnswered ? performance.now() - dueMs : Number.NaN,
      ),
    )
  }
  const latencies = await Promise.all(answers)
  agent.destroy()
  const answered = latencies.filter((latencyMs) => !Number.isNaN(latencyMs)).sort((a, b) => a - b)
  return {
    requestsPerSecond: answered.length / ((performance.now() - startMs) / 1000),
    p50Ms: percentile(answered, 0.5),
    p99Ms: percentile(answered, 0.99),
    failed: latencies.length - answered.length,
  }
}

/** Sends one request. @returns true for a success */
function send(args: {
  url: URL
  agent: Agent
  headers: Readonly<Record<string, string>>
  body: string | undefined
}): Promise<boolean> {
  const { url, agent, body } = args
  const headers = {
    ...args.headers,
    ...(body !== undefined && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }),
  }
  const method = body === undefined ? 'GET' : 'POST'
  return new Promise((resolve) => {
    const sent = request(url, { method, agent, headers }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode === 200))
    })
    sent.once('error', () => resolve(false))
    sent.end(body)
  })
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}
