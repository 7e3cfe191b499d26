// Criteria of a soak: response times before, during and after each fault, and memory. Pure.

/** One request of the load. Times in milliseconds since the soak began. */
export type Sample = {
  readonly kind: string
  /** When it was due, which is what its latency counts from: a stall is felt by every request that it delays. */
  readonly dueMs: number
  readonly latencyMs: number
  readonly isGood: boolean
}

export type FaultSpan = { readonly name: string; readonly beganMs: number; readonly endedMs: number }

export type MemorySample = {
  readonly process: string
  /** A service that was started again is another process. */
  readonly pid: number
  readonly atMs: number
  readonly residentMiB: number
}

export type KindFigures = {
  readonly kind: string
  readonly sent: number
  readonly failed: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export type Recovery = {
  readonly fault: string
  /** Duration of the fault itself, until the service was ready or the endpoint itself again, ms. */
  readonly lastedMs: number
  readonly failed: number
  /** From the end of the fault to the first of two good windows; `undefined`: not before the next fault. */
  readonly backAfterMs: number | undefined
}

export type MemoryFigures = {
  readonly process: string
  readonly earlyMiB: number
  readonly lateMiB: number
}

const windowMs = 5_000
/** A window is good without a failed request and with a p99 of at most so many times the usual one. */
const slowerThanUsual = 3
/** Two requests of a window of few; less than a caller feels. */
const unfeltMs = 100

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

export function kindFigures(samples: readonly Sample[]): readonly KindFigures[] {
  return [...new Set(samples.map(({ kind }) => kind))].map((kind) => {
    const own = samples.filter((sample) => sample.kind === kind)
    const latencies = own.filter(({ isGood }) => isGood).map(({ latencyMs }) => latencyMs)
    return {
      kind,
      sent: own.length,
      failed: own.length - latencies.length,
      p50Ms: percentile(latencies, 0.5),
      p99Ms: percentile(latencies, 0.99),
    }
  })
}

/** The p99 that windows have before the first fault: their median, so that one slow window is not the measure. */
export function usualP99Ms(samples: readonly Sample[], faults: readonly FaultSpan[]): number {
  const firstMs = Math.min(...faults.map(({ beganMs }) => beganMs))
  const windows = new Map<number, number[]>()
  for (const { dueMs, latencyMs, isGood } of samples) {
    if (dueMs >= firstMs || !isGood) continue
    const window = Math.floor(dueMs / windowMs)
    windows.set(window, [...(windows.get(window) ?? []), latencyMs])
  }
  const p99s = [...windows.values()].map((latencies) => percentile(latencies, 0.99))
  return percentile(p99s, 0.5)
}

/** Recovery from each fault, from its end to the next one's beginning. */
export function recoveries(samples: readonly Sample[], faults: readonly FaultSpan[]): readonly Recovery[] {
  const limitMs = Math.max(unfeltMs, slowerThanUsual * usualP99Ms(samples, faults))
  const lastMs = Math.max(...samples.map(({ dueMs }) => dueMs))
  return faults.map(({ name, beganMs, endedMs }, index) => {
    const untilMs = faults[index + 1]?.beganMs ?? lastMs
    const during = samples.filter(({ dueMs }) => dueMs >= beganMs && dueMs < untilMs)
    return {
      fault: name,
      lastedMs: endedMs - beganMs,
      failed: during.filter(({ isGood }) => !isGood).length,
      backAfterMs: backAfter(during, { endedMs, untilMs, limitMs }),
    }
  })
}

function backAfter(
  during: readonly Sample[],
  { endedMs, untilMs, limitMs }: { endedMs: number; untilMs: number; limitMs: number },
): number | undefined {
  const isGoodFrom = (fromMs: number) => {
    const own = during.filter(({ dueMs }) => dueMs >= fromMs && dueMs < fromMs + windowMs)
    const isSlow =
      percentile(
        own.map(({ latencyMs }) => latencyMs),
        0.99,
      ) > limitMs
    return own.length > 0 && !isSlow && own.every(({ isGood }) => isGood)
  }
  for (let fromMs = endedMs; fromMs + 2 * windowMs <= untilMs; fromMs += windowMs / 5) {
    if (isGoodFrom(fromMs) && isGoodFrom(fromMs + windowMs)) return fromMs - endedMs
  }
  return undefined
}

/** Memory of each process that lived to the end: medians of the first and last third of its life after `warmMs`. */
export function memoryFigures(samples: readonly MemorySample[], warmMs: number): readonly MemoryFigures[] {
  const lastMs = Math.max(...samples.map(({ atMs }) => atMs))
  return [...new Set(samples.map(({ process }) => process))].map((process) => {
    const own = samples.filter((sample) => sample.process === process)
    const pid = own.at(-1)?.pid
    const life = own.filter((sample) => sample.pid === pid)
    const fromMs = Math.min((life[0]?.atMs ?? 0) + warmMs, lastMs)
    const warm = life.filter(({ atMs }) => atMs >= fromMs).map(({ residentMiB }) => residentMiB)
    const third = Math.max(1, Math.floor(warm.length / 3))
    return {
      process,
      earlyMiB: percentile(warm.slice(0, third), 0.5),
      lateMiB: percentile(warm.slice(-third), 0.5),
    }
  })
}
