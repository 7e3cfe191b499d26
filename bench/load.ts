import autocannon from 'autocannon'
import { cpuMs, machineCpuMs } from './processFigures.ts'
import { separateProcessors } from './processorShares.ts'

export type LoadResult = {
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failed: number
  /** Answer to the first refused request. */
  readonly refusal: string | undefined
  /** Processor time of the process under load, all threads; `NaN` when it was not watched. */
  readonly cpuMsPerRequest: number
  /** Processor time of the whole machine, the load generator and the database included. */
  readonly machineCpuMsPerRequest: number
}

/** A body with headers of its own. */
export type LoadBody = { readonly body: string; readonly headers: Readonly<Record<string, string>> }

/**
 * Sends the bodies over and over for `seconds`. Every connection has its own part of the list, or starts at its own place
 * of a short one: in lockstep, equal requests would meet and merge. All of a long list for each connection took the load
 * generator seconds to prepare, in which the first connections heard nothing.
 */
export async function load(args: {
  url: string
  path: string
  bodies: readonly (string | LoadBody)[]
  connections: number
  /** One of the two: how long, or how many requests. */
  seconds?: number
  requests?: number
  headers?: Readonly<Record<string, string>>
  /** The process whose time is taken. */
  pid?: number | undefined
}): Promise<LoadResult> {
  const { url, path, bodies, connections, seconds, headers = {}, pid } = args
  const sent = bodies.map((one) => {
    const { body, headers: own = {} } = typeof one === 'string' ? { body: one } : one
    return {
      method: 'POST' as const,
      path,
      headers: { 'content-type': 'application/json', ...headers, ...own },
      body,
    }
  })
  let started = 0
  let refusal: string | undefined
  const machineBefore = machineCpuMs()
  const cpuBefore = pid === undefined ? Number.NaN : cpuMs(pid)
  const attack = async () =>
    autocannon({
      url,
      connections,
      ...(seconds !== undefined && { duration: seconds }),
      ...(args.requests !== undefined && { amount: args.requests }),
      requests: sent.slice(0, 1),
      setupClient(client) {
        const from = Math.floor((started * sent.length) / connections)
        started += 1
        const to = Math.floor((started * sent.length) / connections)
        client.setRequests(
          sent.length < connections ? [...sent.slice(from), ...sent.slice(0, from)] : sent.slice(from, to),
        )
        let text = ''
        client.on('body', (body) => {
          text = body.toString()
        })
        client.on('response', (status) => {
          if (status >= 300) refusal ??= `${status} ${text}`
        })
      },
    })
  const together = separateProcessors(pid)
  const result = await attack().finally(together)
  const machineSpent = machineCpuMs() - machineBefore
  const cpuSpent = pid === undefined ? Number.NaN : cpuMs(pid) - cpuBefore
  return {
    requestsPerSecond: result['2xx'] / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    failed: result.non2xx + result.errors + result.timeouts,
    refusal,
    cpuMsPerRequest: cpuSpent / result.requests.total,
    machineCpuMsPerRequest: machineSpent / result.requests.total,
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
