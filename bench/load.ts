import autocannon from 'autocannon'

export type LoadResult = {
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failed: number
}

/**
 * Sends the bodies over and over for `seconds`. Every connection starts at its own place in the list:
 * in lockstep, equal requests would meet and merge.
 */
export async function load(args: {
  url: string
  path: string
  bodies: readonly string[]
  connections: number
  seconds: number
}): Promise<LoadResult> {
  const { url, path, bodies, connections, seconds } = args
  const requests = bodies.map((body) => ({
    method: 'POST' as const,
    path,
    headers: { 'content-type': 'application/json' },
    body,
  }))
  let started = 0
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    requests,
    setupClient(client) {
      const offset = Math.floor((started * requests.length) / connections)
      started += 1
      client.setRequests([...requests.slice(offset), ...requests.slice(0, offset)])
    },
  })
  return {
    requestsPerSecond: result['2xx'] / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    failed: result.non2xx + result.errors + result.timeouts,
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
