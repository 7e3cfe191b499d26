import type { SeenCall } from './faultMode.ts'

export type FaultCounters = {
  /** HTTP requests. */
  readonly requests: number
  /** Requests that held more than one call. */
  readonly batches: number
  readonly calls: number
  readonly callsByMethod: Readonly<Record<string, number>>
}

/** Counts what reaches the proxy, whatever the proxy then does with it. */
export function createCounting() {
  let requests = 0
  let batches = 0
  const byMethod = new Map<string, number>()
  return {
    count(calls: readonly SeenCall[]): void {
      requests += 1
      if (calls.length > 1) batches += 1
      for (const { method } of calls) byMethod.set(method, (byMethod.get(method) ?? 0) + 1)
    },
    read(): FaultCounters {
      const calls = [...byMethod.values()].reduce((sum, count) => sum + count, 0)
      return { requests, batches, calls, callsByMethod: Object.fromEntries(byMethod) }
    },
    reset(): void {
      requests = 0
      batches = 0
      byMethod.clear()
    },
  }
}
